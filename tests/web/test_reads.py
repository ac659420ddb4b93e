"""What everybody may read, from a real season."""

from __future__ import annotations

import pytest

from referee.bots.confinement.levels import Level
from tests.web.contest import GAMES, PLAYERS, VARIANTS, Contest
from tests.web.serving import Web, query

Served = tuple[Web, Contest]


def test_standings_show_the_versions_that_play(shared: Served) -> None:
    web, _ = shared
    told = web.read("/standings")
    assert (told["season"], told["state"], told["frozen"]) == ("1", "open", False)
    assert [table["variant"] for table in told["tables"]] == [*VARIANTS, None]
    for table in told["tables"]:
        assert {row["name"] for row in table["rows"]} == {"red v2", "blue v1"}
        assert [row["rank"] for row in table["rows"]] in ([1, 2], [1, 1])
        assert all(row["active"] for row in table["rows"])
    assert told["played"] == 3 * GAMES * len(VARIANTS)
    assert told["level"] in list(Level)
    page = web.get("/").body.decode()
    assert ("bots run unconfined" if told["level"] == "none" else "bots confined at level") in page
    everybody = web.read("/standings" + query(versions="all", variant="duel"))
    (table,) = everybody["tables"]
    assert {row["name"] for row in table["rows"]} == set(PLAYERS)


def test_bots(shared: Served) -> None:
    web, contest = shared
    told = web.read("/bots")["bots"]
    assert [(bot["name"], bot["team"], bot["active"]) for bot in told] == [
        ("blue", "Blues", 1),
        ("red", "Reds", 2),
    ]
    page = web.read("/bots/red")
    assert [version["state"] for version in page["versions"]] == ["retired", "playing"]
    assert {version["told"] for version in page["versions"]} == {None}
    assert {placed["variant"] for placed in page["standings"]} == {*VARIANTS, None}
    owned = web.read("/bots/red", contest.reds)
    assert owned["yours"]
    assert owned["versions"][1]["told"] == "the check of red v2"
    assert not web.read("/bots/red", contest.blues)["yours"]
    (first, second) = web.read("/bots/red/ratings")["points"]
    assert (first["version"], first["elo"], second["version"]) == (1, 10.0, 2)
    assert web.read("/bots/RED/versions/2")["name"] == "red v2"


def test_games_are_leafed_through(shared: Served) -> None:
    web, _ = shared
    everything = web.read("/games" + query(limit="500"))
    assert len(everything["games"]) == 3 * GAMES * len(VARIANTS)
    assert everything["next"] is None
    started = [game["started"] for game in everything["games"]]
    assert started == sorted(started, reverse=True)
    names, before = [], None
    while True:
        asked = {"limit": "5"} if before is None else {"limit": "5", "before": before}
        page = web.read("/games" + query(**asked))
        names += [game["game"] for game in page["games"]]
        before = page["next"]
        if before is None:
            break
    assert names == [game["game"] for game in everything["games"]]


@pytest.mark.parametrize(
    ("asked", "games"),
    [
        ({"bot": "blue"}, 2 * GAMES * len(VARIANTS)),
        ({"bot": "blue", "variant": "duel"}, 2 * GAMES),
        ({"bot": "blue", "against": "red"}, 2 * GAMES * len(VARIANTS)),
        ({"bot": "red", "against": "red"}, GAMES * len(VARIANTS)),
        ({"bot": "blue", "against": "blue"}, 0),
        ({"variant": "deck"}, 0),
    ],
)
def test_games_of_some(shared: Served, asked: dict[str, str], games: int) -> None:
    web, _ = shared
    found = web.read("/games" + query(limit="500", **asked))["games"]
    assert len(found) == games


def test_a_record_has_the_notes_of_ones_own_bots(shared: Served) -> None:
    web, contest = shared
    games = web.read("/games" + query(bot="blue", against="red"))["games"]
    game = games[0]["game"]
    seat = 1 - games[0]["players"].index("blue v1")
    public = web.read(f"/games/{game}")
    assert public["record"]["notes"] == {}
    assert public["yours"] == []
    assert public["record"]["game"] == game.partition("/")[2]
    reds = web.read(f"/games/{game}", contest.reds)
    assert reds["yours"] == [seat]
    moves = reds["record"]["moves"]
    assert reds["record"]["notes"]
    assert {moves[int(place)][0] for place in reds["record"]["notes"]} == {seat}
    assert all(note.startswith("note of red") for note in reds["record"]["notes"].values())
    everything = web.read(f"/games/{game}", contest.organiser)["record"]["notes"]
    assert len(everything) == len(moves)
    assert web.read(f"/games/{game}", contest.viewer)["record"]["notes"] == {}


def test_stderr_is_for_its_team(shared: Served) -> None:
    web, contest = shared
    game = web.read("/games" + query(bot="blue", against="red"))["games"][0]["game"]
    (log,) = web.read(f"/games/{game}/stderr", contest.blues)["logs"]
    assert log["text"].startswith("stderr of blue-v1")
    assert len(web.read(f"/games/{game}/stderr", contest.organiser)["logs"]) == 2
    assert web.get(f"/api/v1/games/{game}/stderr").status == 401
    assert web.get(f"/api/v1/games/{game}/stderr", contest.viewer).status == 403
    reds = web.read("/games" + query(bot="red", against="red"))["games"][0]["game"]
    assert web.get(f"/api/v1/games/{reds}/stderr", contest.blues).status == 403
    (log,) = web.read("/bots/red/stderr", contest.reds)["logs"]
    assert log["text"].startswith("stderr of red-v")
    assert web.get("/api/v1/bots/red/stderr", contest.blues).status == 403


def test_a_story_tells_the_game(shared: Served) -> None:
    web, _ = shared
    game = web.read("/games" + query(variant="duel"))["games"][0]["game"]
    told = web.read(f"/games/{game}/story")
    assert told["steps"]
    assert all(step["plays"] for step in told["steps"])
    assert any("red" in line or "blue" in line for step in told["steps"] for line in step["lines"])
    assert all(play["note"] is None for step in told["steps"] for play in step["plays"])


def test_head_to_head(shared: Served) -> None:
    web, _ = shared
    cells = web.read("/head-to-head" + query(variant="duel", bot="blue"))["cells"]
    assert {(cell["first"], cell["second"]) for cell in cells} == {
        ("blue v1", "red v1"),
        ("blue v1", "red v2"),
    }
    assert all(cell["games"] == GAMES for cell in cells)
    assert web.get("/api/v1/head-to-head?variant=deck").status == 404


def test_variants_and_seasons(shared: Served) -> None:
    web, _ = shared
    names = [variant["name"] for variant in web.read("/variants")["variants"]]
    assert {"difference", "underdog", "duel", "target", "deck"} <= set(names)
    assert "book" in web.read("/variants/deck")
    (season,) = web.read("/seasons")["seasons"]
    assert (season["name"], season["variants"], season["current"]) == ("1", list(VARIANTS), True)
    assert web.read("/status")["season"] == "1"
    assert web.read("/live")["games"] == []
    assert web.read("/tournaments") == {"tournaments": []}


def test_me(shared: Served) -> None:
    web, contest = shared
    told = web.read("/me", contest.reds)
    assert (told["role"], told["name"]) == ("team", "Reds")
    assert [bot["name"] for bot in told["bots"]] == ["red"]
    assert web.get("/api/v1/me").status == 401


def test_what_is_unchanged_is_not_sent_again(shared: Served) -> None:
    web, contest = shared
    for token in ("", contest.reds):
        first = web.get("/api/v1/standings", token)
        assert first.headers["vary"] == "Authorization, Cookie"
        again = web.get("/api/v1/standings", token, If_None_Match=first.headers["etag"])
        assert (again.status, again.body) == (304, b"")
        kind = "private" if token else "public"
        assert first.headers["cache-control"].startswith(kind)


def test_health_and_metrics(shared: Served) -> None:
    web, _ = shared
    told = web.get("/healthz").json
    assert (told["status"], told["season"]) == ("ok", "1")
    web.read("/bots")
    text = web.get("/metrics").body.decode()
    assert 'referee_http_requests_total{endpoint="bots",status="200"}' in text
    assert 'referee_games_total{season="1"} 24' in text
    for line in text.splitlines():
        assert line.startswith("#") or len(line.rsplit(" ", 1)) == 2


def test_the_front_page_has_the_ladder(shared: Served) -> None:
    web, _ = shared
    page = web.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert b">red</a>" in page.body
    assert page.body.count(b"<script") == page.body.count(b"<script src=")
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]
