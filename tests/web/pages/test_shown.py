"""Pages as they leave the process: who sees what, and that nothing in them runs by itself."""

from __future__ import annotations

import re

import jinja2
import pytest

from referee.store.house import House
from referee.web.access import csrf_token
from referee.web.paging import TEMPLATES
from referee.web.words import FILTERS
from tests.web.contest import Contest
from tests.web.serving import Reply, Web, serving
from tests.web.test_shown import freeze

EVERYBODY = [
    "/",
    "/?variant=duel",
    "/?versions=all",
    "/?season=1",
    "/live",
    "/games",
    "/games?variant=duel&bot=red&against=blue",
    "/games?variant=&bot=&against=",
    "/games/1/1-1",
    "/head-to-head",
    "/head-to-head?variant=underdog",
    "/bots",
    "/bots/red",
    "/bots/red?variant=underdog",
    "/bots/blue?season=1",
    "/seasons",
    "/rules",
    "/rules/difference",
    "/rules/underdog",
    "/rules/duel",
    "/rules/target",
    "/rules/deck",
    "/play",
    "/login",
    "/tournaments",
]
Shared = tuple[Web, Contest]
FORM = "application/x-www-form-urlencoded"


def page(web: Web, path: str, token: str = "") -> str:
    reply = web.get(path, token)
    assert reply.status == 200, reply
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    return reply.body.decode()


def send(web: Web, path: str, fields: str, **headers: str) -> Reply:
    return web.post(path, fields.encode(), Content_Type=FORM, **headers)


@pytest.mark.parametrize("path", EVERYBODY)
def test_a_page_for_everybody(shared: Shared, path: str) -> None:
    web, contest = shared
    for token in ("", contest.reds, contest.organiser):
        text = page(web, path, token)
        assert text.startswith('<!doctype html>\n<html lang="en">')
        assert "<h1" in text
        runs_by_itself = re.findall(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=|javascript:", text)
        assert runs_by_itself == []
        assert not re.search(r"(src|href)=\"(https?:)?//", text)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/submit", 401),
        ("/organise", 401),
        ("/nowhere", 404),
        ("/bots/nobody", 404),
        ("/bots/%3Cscript%3Ealert(1)%3C%2Fscript%3E", 404),
        ("/games/1/999-1", 404),
        ("/games/1/x", 404),
        ("/rules/chess", 404),
        ("/?variant=chess", 404),
        ("/?season=never", 404),
        ("/?nonsense=1", 400),
        ("/games?bot=nobody", 404),
        ("/games?variant=CHESS", 400),
        ("/play/0123456789abcdef0123456789abcdef", 404),
        ("/play/../etc", 404),
    ],
)
def test_a_page_that_is_refused(shared: Shared, path: str, status: int) -> None:
    reply = shared[0].get(path)
    assert reply.status == status
    text = reply.body.decode()
    assert "<h1" in text
    assert "<script>alert" not in text
    assert "Traceback" not in text


def test_notes_and_stderr_are_for_the_team(shared: Shared) -> None:
    web, contest = shared
    games = re.findall(r'href="(/games/1/\d+-\d+)"', page(web, "/games?bot=red&against=blue"))
    assert "note of" not in page(web, games[0])
    assert "note of" not in page(web, games[0], contest.viewer)
    assert "stderr" not in page(web, games[0])
    theirs = page(web, games[0], contest.reds)
    assert "note of red" in theirs
    assert "note of blue" not in theirs
    assert "stderr of red" in theirs
    assert "stderr of blue" not in theirs
    assert "note of blue" in page(web, games[0], contest.organiser)


def test_a_bots_page_tells_its_team_more(shared: Shared) -> None:
    web, contest = shared
    for token in ("", contest.blues):
        told = page(web, "/bots/red", token)
        assert "the check of red" not in told
        assert "Pause it" not in told
    own = page(web, "/bots/red", contest.reds)
    assert "the check of red v2" in own
    assert "stderr of red" in own
    assert "Let v1 play" in own
    assert "Disqualify it" not in own
    assert "Disqualify it" in page(web, "/bots/blue", contest.organiser)


def test_movement_and_error_bars(shared: Shared) -> None:
    text = page(shared[0], "/?variant=underdog")
    assert text.count('class="dot"') == 2
    assert text.count('class="whisker"') >= 2
    assert "±" in text


def logged_in(token: str) -> dict[str, str]:
    return {"Cookie": f"referee_token={token}"}


def test_a_form_proves_that_it_is_ours(own: Contest) -> None:
    with serving(own.data) as web:
        cookie = logged_in(own.reds)
        assert send(web, "/bots/red/pause", "", **cookie).status == 403
        assert send(web, "/bots/red/pause", "csrf=wrong", **cookie).status == 403
        ours = f"csrf={csrf_token(own.reds)}"
        assert send(web, "/bots/blue/pause", ours, **cookie).status == 403
        assert send(web, "/bots/red/pause", ours).status == 401
        done = send(web, "/bots/red/pause", ours, **cookie)
        assert done.status == 303
        assert done.headers["location"] == "/bots/red"
        assert ours.partition("=")[2] in web.get("/bots/red", **cookie).body.decode()
        assert "paused" in page(web, "/bots/red")
        assert send(web, "/bots/red/resume", ours, **cookie).status == 303
        assert send(web, "/bots/red/activate", f"{ours}&version=1", **cookie).status == 303
        assert send(web, "/bots/red/activate", f"{ours}&version=x", **cookie).status == 400
        assert send(web, "/bots/red/disqualify", f"{ours}&reason=x", **cookie).status == 403
    with House.open(own.data) as house:
        assert not house.bots.named("red").paused


def test_an_organiser_rules_on_a_game(own: Contest) -> None:
    with serving(own.data) as web:
        cookie = logged_in(own.organiser)
        ours = f"csrf={csrf_token(own.organiser)}"
        where = "/games/1/1-1/ruling"
        assert send(web, where, f"{ours}&what=award&seat=1&reason=", **cookie).status == 400
        assert send(web, where, f"{ours}&what=void&reason=a+slip", **cookie).status == 303
        blame = f"{ours}&reason=too+loud"
        assert send(web, "/bots/blue/disqualify", blame, **cookie).status == 303
        assert "too loud" in page(web, "/bots/blue")
        assert send(web, "/bots/blue/reinstate", ours, **cookie).status == 303
    with House.open(own.data) as house:
        assert [each.reason for each in house.rulings.pending()] == ["a slip"]


def test_a_frozen_season_shows_no_game_since(own: Contest) -> None:
    freeze(own, "2000-01-01T00:00:00.000Z")
    with serving(own.data) as web:
        assert "frozen" in page(web, "/")
        assert "frozen" in page(web, "/live")
        assert "/games/1/" not in page(web, "/live")
        assert "/games/1/" not in page(web, "/bots/red")
        assert web.get("/games/1/1-1").status == 404
        assert "frozen" not in page(web, "/live", own.organiser)
        assert "/games/1/" in page(web, "/live", own.organiser)


def test_where_reading_is_closed_nobody_plays(own: Contest) -> None:
    with serving(own.data, public=False) as web:
        assert web.get("/").status == 401
        assert web.get("/play").status == 401
        wish = "variant=duel&bot=red"
        assert send(web, "/play", wish).status == 401
        name = "0" * 32
        assert send(web, f"/play/{name}", "turn=1&move=1").status == 401
        assert page(web, "/play", own.viewer)


def test_other_sites_cannot_sit_anybody_down(shared: Shared) -> None:
    reply = send(shared[0], "/play", "variant=duel&bot=red", Origin="http://elsewhere.example")
    assert reply.status == 403


def test_a_page_says_who_won_and_ends_in_no_dot(own: Contest) -> None:
    with serving(own.data) as web:
        games = web.read("/games?limit=50")["games"]
        text = page(web, "/games")
        for game in games:
            if game["winner"] is not None:
                won = game["players"][game["winner"]]
                lines = text.partition(f'/games/{game["game"]}"')[2].partition("</tr>")[0]
                assert f", {won} won</span>" in lines
        assert any(game["winner"] is not None for game in games)
        footer = re.search(r"<footer>(.*?)</footer>", text, re.DOTALL)
        assert footer is not None
        assert re.sub("<.*?>", "", footer[1]).strip().endswith("times are UTC")


@pytest.mark.parametrize(
    ("scores", "seen"), [((3, 3), "soft"), ((2, 3), "soft"), ((4, 3), "unseen")]
)
def test_a_winner_is_seen_where_the_scores_do_not_tell(scores: tuple[int, int], seen: str) -> None:
    templates = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True)
    templates.filters.update(FILTERS)
    game = {"scores": scores, "winner": 0, "players": ("a", "b"), "ending": "rules", "ruling": None}
    told = str(templates.get_template("parts.html").module.outcome(game))  # type: ignore[attr-defined]
    assert f'<span class="{seen}">, a won</span>' in told
