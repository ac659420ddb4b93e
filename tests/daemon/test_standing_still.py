"""On a ladder a bot stands still while the other one thinks, whoever handed it in."""

from __future__ import annotations

from pathlib import Path

import msgspec

from referee.daemon.definition import definition_of
from referee.daemon.examining import unpacked
from referee.daemon.samples import packed
from referee.record import Record
from referee.store.house import House
from referee.store.house.rows import TeamRow
from tests.confinement.burning import SLOW_S, burner, slow, used_between_turns
from tests.confinement.offered import LEVELS, walls
from tests.daemon.serving import serving
from tests.daemon.test_submissions import QUIET, team


def enter(house: House, folder: Path, owner: TeamRow) -> None:
    """As if it had passed its check, which is long for a bot that sleeps over every move."""
    version = house.submissions.keep(folder.name, owner, packed(folder))
    house.submissions.claim()
    judged = unpacked(house.submissions.path(version), house.data, version.id).renamed(folder.name)
    house.submissions.accept(version.id, definition_of(judged, house.data))


@walls
def test_children_do_not_burn_on_a_ladder(tmp_path: Path) -> None:
    data = tmp_path / "data"
    burner(tmp_path / "burns")
    slow(tmp_path / "slow")
    with House.open(data) as house:
        enter(house, tmp_path / "burns", team(house, "Reds"))
        enter(house, tmp_path / "slow", team(house, "Blues"))
    confined = ("--sandbox", LEVELS[-1].value)
    with serving(data, *QUIET, *confined, "--time", "60s", "--finish", "0") as daemon:
        daemon.wait_for_games()
        assert daemon.stop() == 0, daemon.said
        records = [msgspec.msgpack.decode(body, type=Record) for body in daemon.games().values()]
    assert not any(record.fault for record in records)
    thought_s = sum(
        SLOW_S
        for record in records
        for mover, _ in record.moves
        if record.players[mover].startswith("slow")
    )
    assert used_between_turns(records, "burns v1") < thought_s / 2
