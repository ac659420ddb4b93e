"""What one bot leaves on a file that all of them see, and another one finds there."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.bots.building import built
from referee.bots.confinement import Confinement
from referee.bots.confinement.levels import Level
from tests.confinement.offered import LEVELS, a_bot, confined, walls
from tests.confinement.test_builds import to_build
from tests.confinement.test_walls import notes

pytestmark = walls
LEAVE = """
import fcntl, struct
tried = []
seen = os.open("/usr/bin/env", os.O_RDONLY)
own = os.open("/tmp/own", os.O_RDWR | os.O_CREAT)
everything = struct.pack("hhqqi", fcntl.F_RDLCK, 0, 0, 0, 0)
for attempt in (
    lambda: fcntl.flock(seen, fcntl.LOCK_EX | fcntl.LOCK_NB),
    lambda: fcntl.flock(seen, fcntl.LOCK_SH | fcntl.LOCK_NB),
    lambda: fcntl.lockf(seen, fcntl.LOCK_SH | fcntl.LOCK_NB),
    lambda: fcntl.fcntl(seen, 36 + 1, everything),
    lambda: fcntl.fcntl(own, fcntl.F_SETLEASE, fcntl.F_WRLCK),
    lambda: fcntl.fcntl(os.open("/usr/bin", os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS),
):
    try:
        attempt()
        tried.append("done")
    except OSError as error:
        tried.append(error.errno)
return str(tried)
"""
EPERM = 1


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("processes", [1, 2])
def test_no_lock_and_no_notice(tmp_path: Path, level: Level, processes: int) -> None:
    bot = a_bot(tmp_path / "b", LEAVE, processes=processes)
    assert set(notes(bot, Confinement(level=level))) == {str([EPERM] * 6)}


def test_a_build_may_lock(tmp_path: Path) -> None:
    bot = to_build(tmp_path / "b", "flock --exclusive --nonblock lock echo locked > bot")
    folder = built(bot, confined, cache=tmp_path / "cache").folder
    assert folder is not None
    assert (folder / "bot").read_text() == "locked\n"
