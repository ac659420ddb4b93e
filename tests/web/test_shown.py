"""What is shown to whom: frozen scoreboards, made-up names, rulings, ladders with many cells."""

from __future__ import annotations

import re

import msgspec
import pytest

from referee.reports.standings import read_standings
from referee.store.database import Store
from referee.store.house import House
from referee.store.rows import GamesAt
from tests.waiting import wait_for
from tests.web.contest import GAMES, Contest, hand_in
from tests.web.serving import query, serving


def freeze(contest: Contest, at: str) -> None:
    """As if the season had been frozen then, after one game."""
    with House.open(contest.data) as house:
        folder = house.seasons.folder(house.seasons.named("1"))
        then = msgspec.structs.replace(read_standings(folder), played=1)
        with Store.read(folder) as store:
            records = [(*key, msgspec.msgpack.decode(body)) for *key, body in store.records()]
        games = GamesAt.of((p, n) for p, n, record in records if record["started"] <= at)
        house.seasons.freeze("1", msgspec.json.encode(then).decode(), games, by="tests")
        house._books.write("UPDATE season SET frozen_at = ?", (at,))


def test_a_frozen_season(own: Contest) -> None:
    with serving(own.data) as web:
        games = web.read("/games" + query(limit="500"))["games"]
        at = games[len(games) // 2]["started"]
        before = [game["game"] for game in games if game["started"] <= at]
        after = next(
            game for game in games if game["started"] > at and "blue v1" in game["players"]
        )
        freeze(own, at)
        for token in ("", own.viewer, own.reds):
            table = web.read("/standings", token)
            assert (table["frozen"], table["frozen_at"], table["played"]) == (True, at, 1)
            shown = web.read("/games" + query(limit="500"), token)["games"]
            assert [game["game"] for game in shown] == before
        table = web.read("/standings", own.organiser)
        assert (table["frozen"], table["played"]) == (False, len(games))
        assert len(web.read("/games" + query(limit="500"), own.organiser)["games"]) == len(games)
        hidden = f"/api/v1/games/{after['game']}"
        for way in ("", "/story"):
            reply = web.get(hidden + way)
            assert (reply.status, "is revealed" in reply.error) == (404, True)
        assert web.get(hidden, own.organiser).status == 200
        assert web.get(hidden, own.blues).status == 200
        assert web.get(f"/api/v1/games/{before[0]}").status == 200
        assert web.read("/bots/red/ratings")["points"] == []
        assert len(web.read("/bots/red/ratings", own.organiser)["points"]) == 2
        assert web.get("/metrics").body.count(b'referee_games_total{season="1"} 24') == 1
        with House.open(own.data) as house:
            house.seasons.reveal("1", by="tests")
        assert web.read("/standings")["frozen"] is False
        assert len(web.read("/games" + query(limit="500"))["games"]) == len(games)


def test_a_frozen_table_stays_as_it_was(own: Contest) -> None:
    freeze(own, "2100-01-01T00:00:00.000Z")
    with serving(own.data) as web:

        def tables(token: str = "") -> list[object]:
            asked = ("/standings", "/standings?versions=all", "/head-to-head?variant=duel")
            return [web.read(path, token) for path in asked] + [
                web.read("/bots/red", token)["standings"],
                [
                    re.findall(r"<tbody>.*?</tbody>", web.get(page).body.decode(), re.DOTALL)[0]
                    for page in ("/", "/head-to-head")
                ],
            ]

        public, organiser = tables(), tables(own.organiser)
        assert "red v2" in str(public)
        with House.open(own.data) as house:
            hand_in(house, "red")
            hand_in(house, "blue")
            house.versions.activate("blue", 1, by="tests")
            house.bots.pause("red", by="tests")
            house.bots.disqualify("blue", "plays by telephone", by="tests")
        wait_for(lambda: tables(own.organiser) != organiser, "what organisers see")
        assert tables() == public
        assert tables(own.viewer)[0] == public[0]
        assert "telephone" in str(web.read("/standings", own.organiser))
        with House.open(own.data) as house:
            house.seasons.reveal("1", by="tests")
        wait_for(lambda: "telephone" in str(web.read("/standings")), "the reveal")
        rows = web.read("/standings")["tables"][0]["rows"]
        assert [row["name"] for row in rows] == ["blue v1"]


def test_names_that_are_made_up(own: Contest) -> None:
    with serving(own.data, anonymous=True) as web:
        shown = {bot["name"]: bot["team"] for bot in web.read("/bots")["bots"]}
        assert len(shown) == 2
        assert set(shown.values()) == {None}
        assert all(name.startswith("anon-") for name in shown)
        reds = {bot["name"]: bot["team"] for bot in web.read("/bots", own.reds)["bots"]}
        assert reds["red"] == "Reds"
        (other,) = set(reds) - {"red"}
        assert other in shown
        everything = [
            web.read("/standings"),
            web.read("/games"),
            web.read("/head-to-head" + query(variant="duel")),
            web.read(f"/bots/{other}"),
            web.read("/live"),
        ]
        game = web.read("/games" + query(bot=other))["games"][0]["game"]
        everything += [web.read(f"/games/{game}"), web.read(f"/games/{game}/story")]
        told = str(everything)
        assert "blue" not in told
        assert "red v" not in told
        assert "Blues" not in told
        assert web.get("/api/v1/bots/blue").status == 404
        assert web.get("/api/v1/bots/blue", own.reds).status == 404
        record = web.read(f"/games/{game}", own.reds)["record"]
        assert "blue" not in str(record)
        seat = next(at for at, name in enumerate(record["players"]) if name.startswith("red"))
        assert record["bots"][1 - seat] == {"version": "", "hash": ""}
        assert web.get(f"/api/v1/bots/{other}/pause", own.reds).status == 405
        assert web.post(f"/api/v1/bots/{other}/pause", None, own.reds).status == 403
        assert {bot["name"] for bot in web.read("/bots", own.organiser)["bots"]} == {"red", "blue"}
    with serving(own.data, anonymous=True) as web:
        assert {bot["name"] for bot in web.read("/bots")["bots"]} == set(shown)


def test_a_ruling_is_in_the_tables_and_beside_the_record(own: Contest) -> None:
    with serving(own.data) as web:
        game = web.read("/games" + query(bot="blue", variant="duel"))["games"][0]["game"]
        ruling = {"what": "void", "reason": "the host was on fire"}
        assert web.post(f"/api/v1/games/{game}/ruling", ruling, own.organiser).status == 202
        with House.open(own.data) as house:
            season = house.seasons.named("1")
            with Store.open(house.seasons.folder(season)) as store:
                assert house.rulings.apply(season, store) == 1
        told = web.read(f"/games/{game}")
        assert told["ruling"]["what"] == "void"
        wait_for(lambda: bool(web.read("/standings")["notes"]), "the ruling in a table")
        (note,) = web.read("/standings")["notes"]
        assert f"game {game} " in note
        assert note.endswith("is void: the host was on fire")


@pytest.mark.parametrize("variant", ["duel", ""])
def test_a_ladder_whose_tables_have_no_cells(own: Contest, variant: str) -> None:
    asked = {"bot": "red", **({"variant": variant} if variant else {})}
    with serving(own.data) as web:
        in_table = web.read("/head-to-head" + query(**asked))["cells"]
        with House.open(own.data) as house:
            folder = house.seasons.folder(house.seasons.named("1"))
        found = read_standings(folder)
        tables = [msgspec.structs.replace(table, cells=[]) for table in found.tables]
        snapshot = msgspec.structs.replace(found, tables=tables)
        (folder / "standings.json").write_bytes(msgspec.json.encode(snapshot))
        wait_for(
            lambda: web.get("/api/v1/head-to-head?variant=duel").status == 400,
            "the snapshot to be read",
        )
        counted = web.read("/head-to-head" + query(**asked))["cells"]
    assert len(counted) == 4
    assert sum(cell["games"] for cell in counted) == 4 * GAMES * (1 if variant else 2)

    def key(cell: dict[str, str]) -> tuple[str, str]:
        return cell["first"], cell["second"]

    assert sorted(counted, key=key) == sorted(in_table, key=key)
