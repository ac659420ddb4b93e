"""A tournament that a daemon was asked for: its tables and its games, over the API and on pages."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import msgspec
import pytest

from referee.reports.standings import Standings, read_standings
from referee.store.house import House
from referee.tournament.begin import play_tournament
from referee.tournament.spec import Spec
from tests.cli.running import succeeds
from tests.web.contest import BOT, Contest
from tests.web.serving import serving

WHERE = "/api/v1/tournaments/1/standings"


def played(own: Contest) -> Standings:
    """A tournament of two bots of the ladder, as the daemon leaves it."""
    ways = {"red": "low", "blue": "high"}
    bots = tuple(
        f"{name}={shlex.join([sys.executable, '-S', str(BOT), name, way])}"
        for name, way in ways.items()
    )
    spec = Spec(
        name="cup", variants=("underdog",), games=2, jobs=1, sandbox="none", bots=bots, seed="x"
    )
    with House.open(own.data) as house:
        row = house.tournaments.claim()
        assert row is not None
        folder = house.tournaments.folder(row)
        play_tournament(spec, folder)
        house.tournaments.finish(row.id)
    return read_standings(folder)


def test_they_are_those_of_its_folder(own: Contest) -> None:
    with House.open(own.data) as house:
        house.tournaments.ask('{"name": "cup"}', by="tests")
    with serving(own.data) as web:
        assert "no games yet: it is queued" in web.get(WHERE).error
        assert web.get("/api/v1/tournaments/2/standings").status == 404
        there = played(own)
        found = web.read("/tournaments/1/standings")
        assert msgspec.convert(found["standings"], Standings) == there
        assert {time["name"] for time in found["times"]} == {"red", "blue"}


def test_where_names_are_hidden_they_are_for_organisers(own: Contest) -> None:
    with House.open(own.data) as house:
        house.tournaments.ask('{"name": "cup"}', by="tests")
    played(own)
    with serving(own.data, anonymous=True) as web:
        assert web.get(WHERE).status == 403
        assert web.get(WHERE, own.reds).status == 403
        assert web.get(WHERE, own.organiser).status == 200


@pytest.fixture
def cup(own: Contest) -> Contest:
    with House.open(own.data) as house:
        house.tournaments.ask('{"name": "cup", "variants": ["underdog"]}', by="tests")
    played(own)
    return own


def test_its_games_are_called_by_its_number(cup: Contest) -> None:
    with serving(cup.data) as web:
        games = web.read("/games?season=t1")["games"]
        assert sorted(game["game"] for game in games) == ["t1/1-1", "t1/1-2"]
        assert web.read("/games?season=t1&bot=red&against=blue")["games"] == games
        page = web.read("/games/t1/1-1")
        assert (page["game"], page["season"]) == ("t1/1-1", "t1")
        assert set(page["record"]["players"]) == {"red", "blue"}
        assert web.read("/games/t1/1-1/story")["ending"]
        (log,) = web.read("/games/t1/1-1/stderr", cup.reds)["logs"]
        assert (log["bot"], "stderr of red" in log["text"]) == ("red", True)
        assert web.get("/api/v1/games/t1/1-1/stderr", cup.viewer).status == 403
        notes = str(web.read("/games/t1/1-1", cup.reds)["record"])
        assert "note of red" in notes
        assert "note of blue" not in notes
        for path, status in (("t1/1-9", 404), ("t2/1-1", 404), ("t0/1-1", 404)):
            assert web.get(f"/api/v1/games/{path}").status == status
        ruling = {"what": "void", "reason": "none"}
        reply = web.post("/api/v1/games/t1/1-1/ruling", ruling, cup.organiser)
        assert (reply.status, "games of a season" in reply.error) == (409, True)


def test_its_record_is_fetched_by_the_command(cup: Contest, tmp_path: Path) -> None:
    with serving(cup.data) as web:
        told = succeeds(tmp_path, "get", "t1/1-1", "--from", web.url, "--json")
        assert set(json.loads(told)["players"]) == {"red", "blue"}


def test_its_pages(cup: Contest) -> None:
    with serving(cup.data) as web:
        text = web.get("/tournaments").body.decode()
        assert '<a href="/tournaments/1">cup</a>' in text
        text = web.get("/tournaments/1").body.decode()
        assert "2 of 2 games" in text
        assert text.count('class="rank"') == 3
        assert '<a href="/bots/red" class="name">red</a>' in text
        assert '<a href="/games/t1/1-2">t1/1-2</a>' in text
        assert 'href="/tournaments/1"' in web.get("/organise", cup.organiser).body.decode()
        text = web.get("/games/t1/1-1", cup.organiser).body.decode()
        assert 'id="replay"' in text
        assert "/ruling" not in text
        assert "stderr of red" in web.get("/games/t1/1-1", cup.reds).body.decode()
        assert web.get("/games?season=t1&bot=red").status == 200
        assert web.get("/tournaments/1?variant=duel").status == 404
        assert web.get("/tournaments/2").status == 404
    with serving(cup.data, public=False) as web:
        for path in ("/tournaments", "/tournaments/1", "/games/t1/1-1"):
            assert web.get(path).status == 401
            assert web.get(path, cup.viewer).status == 200


def test_a_tournament_that_waits_has_a_page(own: Contest) -> None:
    with serving(own.data) as web:
        assert "There is none yet" in web.get("/tournaments").body.decode()
        with House.open(own.data) as house:
            house.tournaments.ask('{"name": "cup", "variants": ["duel"]}', by="tests")
        assert "There are no games yet" in web.get("/tournaments/1").body.decode()
        assert web.read("/games?season=t1") == {"games": [], "next": None}


def test_names_are_hidden_in_its_games_and_tables(cup: Contest) -> None:
    with serving(cup.data, anonymous=True) as web:
        for path in ("/tournaments/1", "/games/t1/1-1", "/games?season=t1"):
            told = web.get(path, cup.reds).body.decode()
            assert "red" in told
            assert "anon-" in told
            assert re.search(r"\bblue\b", told) is None, path
            assert "blue" in web.get(path, cup.organiser).body.decode()
        told = str(web.read("/games/t1/1-1", cup.reds)) + str(web.read("/games?season=t1"))
        assert "blue" not in told
