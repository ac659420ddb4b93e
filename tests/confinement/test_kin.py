"""The bot behind its walls is found, whether or not the kernel lists the children of a process."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from referee.bots.building import built
from referee.bots.confinement import Confinement
from referee.bots.confinement.levels import Level
from referee.bots.keeping import kin
from referee.bots.keeping.starting import inner
from referee.bots.starting import start_bot
from tests.arena.playing import keepers
from tests.confinement.offered import a_bot, walls


def test_both_ways_find_the_same() -> None:
    script = "sleep 600 & sleep 600 & echo up; wait"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE) as shell:
        assert shell.stdout is not None
        shell.stdout.readline()
        try:
            found = kin.children(shell.pid)
            assert len(found) == 2
            assert kin.by_parent()[shell.pid] == found
            assert sorted(kin.descendants(shell.pid)) == sorted(found)
            assert sorted(kin.family(shell.pid)) == sorted([shell.pid, *found])
        finally:
            for pid in kin.children(shell.pid):
                os.kill(pid, 9)
            shell.kill()


@walls
def test_the_bot_is_found_without_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    confined = Confinement(level=Level.STANDARD)
    bot = built(a_bot(tmp_path / "b", "return ''"), confined, cache=tmp_path / "cache")
    process = start_bot(bot, confined)
    try:
        process.await_start(10)
        (keeper,) = keepers()
        (outer,) = kin.children(keeper)
        assert inner(outer) == process.pid
        monkeypatch.setattr(kin, "are_listed", lambda: False)
        assert inner(outer) == process.pid
        assert process.pid in kin.family(outer)
    finally:
        process.close()
