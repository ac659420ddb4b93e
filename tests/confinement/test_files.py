"""How many files a confined bot may make: what no limit on bytes counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.bots.building import built
from referee.bots.confinement import Confinement
from referee.bots.confinement.levels import Level
from referee.bots.confinement.limits import Limits
from referee.bots.confinement.walls import View, writable
from referee.match import play_match
from referee.record import Record
from tests.confinement.offered import LEVELS, a_bot, confined, walls
from tests.confinement.test_builds import to_build
from tests.hostile.pace import PACE

pytestmark = walls
STREW = """
import time
if not hasattr(told, "done"):
    told.done = True
    for number in range({files}):
        os.close(os.open(f"{place}/{{number}}", os.O_CREAT))
    time.sleep({stay_s})
return str(len(os.listdir("{place}")))
"""
FAULT = ("crash", "the bot made more files than its limit on disk allows and was killed")


def played(
    folder: Path, files: int, place: str, confinement: Confinement, stay_s: float
) -> list[Record]:
    """With a bot that makes so many files, and then waits for its keeper's look at them."""
    bot = a_bot(folder, STREW.format(files=files, place=place, stay_s=stay_s))
    records: list[Record] = []
    play_match(
        bot, "highest", games=1, time="60s", confinement=confinement, on_record=records.append
    )
    return records


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("files", "place", "limits"),
    [
        (200_000, "/tmp", Limits()),
        (200_000, "/dev/shm", Limits()),
        (2_000, "/tmp", Limits(disk=64 << 10)),
    ],
)
def test_empty_files_are_bounded(
    tmp_path: Path, level: Level, files: int, place: str, limits: Limits
) -> None:
    confinement = Confinement(level=level, limits=limits)
    (record,) = played(tmp_path / "b", files, place, confinement, stay_s=50)
    assert record.fault is not None
    assert (record.fault.code, record.fault.detail) == FAULT


@pytest.mark.parametrize(("files", "place"), [(15_000, "/tmp"), (1_000, "/dev/shm")])
def test_as_many_as_could_hold_a_byte_are_nobodys_fault(
    tmp_path: Path, files: int, place: str
) -> None:
    (record,) = played(tmp_path / "b", files, place, confined, stay_s=0.3 * PACE)
    assert record.fault is None
    assert set(record.notes.values()) == {str(files)}


def test_a_build_has_files_enough(tmp_path: Path) -> None:
    bot = to_build(tmp_path / "b", "seq 20000 | xargs touch bot")
    folder = built(bot, confined, cache=tmp_path / "cache").folder
    assert folder is not None
    assert len(list(folder.iterdir())) > 20_000


def test_those_of_a_build_are_counted_where_it_works() -> None:
    scratch = View((), "/bot", scratch=True)
    assert writable(scratch) == ("/tmp", "/dev/shm", "/bot")
    assert writable(View((), "/bot")) == ("/tmp", "/dev/shm"), "the machine's own files are not"
