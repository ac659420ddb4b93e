"""Teams on a real ladder: bots of one team do not meet, and a team alone is told so."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec.structs import replace

from referee.ladder.teams import ONE_TEAM
from referee.record import Record
from referee.store.database import Store
from referee.store.house import House
from referee.tournament.spec import Spec
from tests.daemon.serving import serving
from tests.daemon.test_submissions import bot_folder, judged, team
from tests.daemon.test_tournaments import asked, over
from tests.facts import Naming
from tests.waiting import wait_for
from tests.web.serving import serving as pages

QUIET = ("--no-web", "--bots", "none", "--variant", "underdog", "--pace", "0")


def test_a_team_alone_is_told_why_and_plays_others(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with House.open(data) as house:
        reds = team(house)
        mates = [
            house.submissions.keep(name, reds, bot_folder(tmp_path / name, extra=f"# {name}\n"))
            for name in ("master", "puppet", "other-puppet")
        ]
    with serving(data, *QUIET) as daemon:
        assert {judged(daemon, mate).state for mate in mates} == {"playing"}, daemon.said
        wait_for(lambda: ONE_TEAM in daemon.said, "the reason")
        with pages(data) as web:
            assert ONE_TEAM in web.read("/standings")["notes"]
            assert web.get("/").body.decode() == Naming(ONE_TEAM)
        assert daemon.games() == {}
        with daemon.house() as house:
            blues = team(house, "Blues")
            house.submissions.keep("blue", blues, bot_folder(tmp_path / "blue"))
        daemon.wait_for_games(100)
        with pages(data) as web:
            assert ONE_TEAM not in web.read("/standings")["notes"]
        cup = Spec(name="cup", variants=("underdog",), games=2)
        rows = [asked(daemon, cup), asked(daemon, replace(cup, bots=("master", "puppet")))]
        states = [over(daemon, row) for row in rows]
        assert [row.state for row in states] == ["finished", "failed"], daemon.said
        assert states[1].told == Naming("underdog", "Reds")
        assert daemon.stop() == 0
        games = daemon.games().values()
    players = {msgspec.msgpack.decode(body, type=Record).players for body in games}
    assert {name for pair in players for name in pair} == {
        *("master v1", "puppet v1", "other-puppet v1", "blue v1")
    }
    assert all("blue v1" in pair for pair in players)
    with Store.read(data / "tournaments" / "1") as store:
        names = {row.id: row.name for row in store.bots()}
        met = [{names[row.first], names[row.second]} for row in store.pairings()]
    assert len(met) == 3
    assert all("blue" in pair for pair in met)
