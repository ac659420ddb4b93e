"""A bot of the house that does not come up, in a tournament with one that connects."""

from __future__ import annotations

from pathlib import Path

import msgspec

from referee.daemon.definition import definition_of
from referee.daemon.examining import unpacked
from referee.record import Record
from referee.reports.standings import read_standings
from referee.store.database import Store
from referee.store.house import House
from referee.tournament.spec import Spec
from referee.verifying import verify
from tests.daemon.serving import serving
from tests.daemon.test_guests import HALL, connected, endpoint
from tests.daemon.test_submissions import bot_folder
from tests.waiting import wait_for


def enter_unchecked(house: House, name: str, archive: bytes) -> None:
    """As if it had come up when it was checked."""
    version = house.submissions.keep(name, None, archive)
    house.submissions.claim()
    bot = unpacked(house.submissions.path(version), house.data, version.id).renamed(name)
    house.submissions.accept(version.id, definition_of(bot, house.data))


def test_its_games_are_lost_by_forfeit_and_the_tournament_is_played(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with House.open(data) as house:
        alpha = house.bots.new_token("alpha", by="a test")
        enter_unchecked(house, "shaky", bot_folder(tmp_path / "shaky", crash=True))
    spec = Spec(name="cup", variants=("underdog",), bots=("alpha", "shaky"), games=4)
    with serving(data, *HALL, "--pace", "0.001") as daemon:
        with connected("random", endpoint(daemon), "--name", "alpha", "--token", alpha):
            wait_for(lambda: "connected bot=" in daemon.said, f"alpha; {daemon.said}")
            with daemon.house() as house:
                row = house.tournaments.ask(msgspec.json.encode(spec).decode(), by="a test")

            def over() -> str | None:
                assert daemon.process.poll() is None, daemon.said
                with daemon.house() as house:
                    now = house.tournaments.get(row.id)
                return now.state if now.state in ("finished", "failed") else None

            assert wait_for(over, f"the end; {daemon.said}") == "finished", daemon.said
        assert daemon.stop() == 0
        assert "Traceback" not in daemon.said
    folder = data / "tournaments" / str(row.id)
    found = read_standings(folder)
    assert (found.played, found.elsewhere) == (4, ["alpha"])
    won = {each.name: (each.forfeits_won, each.unrated) for each in found.tables[0].rows}
    assert won == {"alpha": (4, 4), "shaky": (0, 4)}
    with Store.read(folder) as store:
        records = [msgspec.msgpack.decode(body, type=Record) for _, _, body in store.records()]
    assert {(record.ending, record.level) for record in records} == {("forfeit", "none")}
    assert verify(msgspec.json.encode(record) for record in records).mismatches == []
    assert "alpha connected from elsewhere" in (folder / "standings.md").read_text()
