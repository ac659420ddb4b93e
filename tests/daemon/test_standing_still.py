"""On a ladder a bot stands still while the other one thinks, and in tournaments of its daemon."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec.structs import replace

from referee.daemon.definition import definition_of
from referee.daemon.examining import unpacked
from referee.daemon.opening import settled, spec_of
from referee.daemon.samples import packed
from referee.record import Record
from referee.store.connect import FILE
from referee.store.database import Store
from referee.store.house import House
from referee.store.house.rows import TeamRow
from referee.tournament.begin import stored_spec
from referee.tournament.spec import Spec
from tests.cli.running import referee
from tests.confinement.burning import SLOW_S, burner, slow, used_between_turns
from tests.confinement.offered import LEVELS, walls
from tests.daemon.serving import serving
from tests.daemon.test_submissions import QUIET, team
from tests.daemon.test_tournaments import asked, over
from tests.waiting import wait_for

CUP = Spec(name="cup", variants=("difference",), bots=("burns", "slow"), games=4, time="60s")


def enter(house: House, folder: Path, owner: TeamRow) -> None:
    """As if it had passed its check, which is long for a bot that sleeps over every move."""
    version = house.submissions.keep(folder.name, owner, packed(folder))
    house.submissions.claim()
    judged = unpacked(house.submissions.path(version), house.data, version.id).renamed(folder.name)
    house.submissions.accept(version.id, definition_of(judged, house.data))


def records(folder: Path) -> list[Record]:
    if not (folder / FILE).exists():
        return []
    with Store.read(folder) as store:
        return [msgspec.msgpack.decode(body, type=Record) for _, _, body in store.records()]


def stood_still(played: list[Record], version: str) -> bool:
    """Whether the bot that burns used less than half of what the other one slept."""
    assert not any(record.fault for record in played)
    thought_s = sum(
        SLOW_S
        for record in played
        for mover, _ in record.moves
        if record.players[mover] == f"slow{version}"
    )
    return used_between_turns(played, f"burns{version}") < thought_s / 2


@walls
def test_children_do_not_burn_on_a_ladder_and_in_its_tournaments(tmp_path: Path) -> None:
    data = tmp_path / "data"
    burner(tmp_path / "burns")
    slow(tmp_path / "slow")
    with House.open(data) as house:
        enter(house, tmp_path / "burns", team(house, "Reds"))
        enter(house, tmp_path / "slow", team(house, "Blues"))
    words = (*QUIET, "--sandbox", LEVELS[-1].value, "--time", "60s", "--finish", "0")
    folder = data / "tournaments" / "1"
    with serving(data, *words) as daemon:
        daemon.wait_for_games()
        cup = asked(daemon, CUP)
        wait_for(lambda: records(folder), f"a game of the cup; {daemon.said}")
        assert daemon.stop() == 0, daemon.said
    with Store.open(folder) as store:
        spec = stored_spec(store)
        assert spec.freeze
        # A daemon that did not settle it left this.
        store.set_value("spec", msgspec.json.encode(replace(spec, freeze=None)).decode())
        store.commit()
    with serving(data, *words) as daemon:
        assert over(daemon, cup).state == "finished", daemon.said
        assert daemon.stop() == 0, daemon.said
    assert stood_still(records(daemon.season), " v1")
    assert len(records(folder)) == CUP.games
    assert stood_still(records(folder), "")
    # What is settled for a season is not asked for in the next one, which has no walls here.
    for ask in (("close",), ("start", "--sandbox", "none")):
        done = referee(tmp_path, "season", *ask, "--data", data)
        assert done.status == 0, done.err
    with House.open(data) as house:
        last = house.seasons.latest()
        assert last is not None
        assert settled(spec_of(last)).freeze is False
