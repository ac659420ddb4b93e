"""A stopped bot stays stopped: the kernel sends no SIGCONT that the bot has asked it for."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from referee.bots.building import built
from referee.bots.confinement import Confinement
from referee.bots.confinement.levels import Level
from referee.bots.keeping.kin import family
from referee.bots.manifest import Bot, read_bot
from referee.bots.starting import start_bot
from tests.confinement.offered import LEVELS, walls
from tests.hostile.compiling import compiled
from tests.once import shared_folder
from tests.waiting import PATIENCE_S, wait_for

WAYS = ("timer", "pipe", "child", "kill", "parent", "group")
A_WHILE_S = 0.3
"""Three times what a timer or a child of the program takes to send its signal."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("wake.c", shared_folder(tmp_path_factory) / "hostile-programs")


@pytest.mark.parametrize("way", WAYS)
def test_without_walls_it_is_woken(way: str, program: Path) -> None:
    """So that what is seen below is the filter's work, and not the program's failure."""
    process = subprocess.Popen(
        [str(program), way],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
    )
    with process:
        assert process.stdin is not None
        try:
            if way == "pipe":
                wait_for(lambda: stopped(process.pid), "the program to stop itself")
                process.stdin.write(b"\n")
            said, _ = process.communicate(timeout=PATIENCE_S)
            assert said == b"asked\nwoken\n"
        finally:
            process.kill()


@walls
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("way", WAYS)
def test_behind_walls_it_stays_stopped(
    way: str, level: Level, program: Path, tmp_path: Path
) -> None:
    confined = Confinement(level=level)
    bot = built(that_stops(tmp_path / "b", program, way), confined, cache=tmp_path / "cache")
    process = start_bot(bot, confined)
    try:
        process.await_start(PATIENCE_S)
        assert process.pid is not None
        (still,) = wait_for(lambda: stopped_in(process.pid), "a process to stop itself")
        os.write(process.stdin, b"\n")
        time.sleep(A_WHILE_S)
        assert os.read(process.stdout, 100) == b"refused\n"
        assert stopped_in(process.pid) == [still]
    finally:
        process.close()


def that_stops(folder: Path, program: Path, way: str) -> Bot:
    """With leave to have several processes: a child is one of the ways."""
    folder.mkdir()
    shutil.copy(program, folder / "wake")
    lines = ['name = "b"', f'command = ["./wake", "{way}"]', "processes = 4"]
    (folder / "bot.toml").write_text("\n".join(lines) + "\n", "utf-8")
    return read_bot(folder)


def stat(pid: int) -> list[bytes]:
    """What the kernel tells of a process after its name: its state, its parent …"""
    return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()


def stopped(pid: int) -> bool:
    try:
        return stat(pid)[0] == b"T"
    except OSError:
        return False


def stopped_in(bot: int | None) -> list[int]:
    """All that stand still behind these walls. An orphan is not the bot's child but the walls'."""
    assert bot is not None
    return [pid for pid in family(int(stat(bot)[1])) if stopped(pid)]
