"""The tables of a tournament that a daemon was asked for, over the API."""

from __future__ import annotations

import shlex
import sys

import msgspec

from referee.reports.standings import Standings, read_standings
from referee.store.house import House
from referee.tournament.begin import play_tournament
from referee.tournament.spec import Spec
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
