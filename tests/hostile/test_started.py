"""Case 31, and whom a confined bot runs as."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.bots.confinement import Confinement
from referee.bots.confinement.levels import Level
from referee.bots.manifest import Bot, read_bot
from referee.bots.process import BotProcess
from referee.bots.starting import start_bot
from tests.hostile.running import put_honest
from tests.hostile.scene import Scene
from tests.waiting import PATIENCE_S, wait_for

START_S = PATIENCE_S
A_WHILE_S = 0.5


@pytest.fixture
def bot(tmp_path: Path, programs: Path) -> Iterator[Bot]:
    with Scene(tmp_path / "tournament").set() as scene:
        yield read_bot(Path(put_honest(scene, programs)[0]))
        assert scene.processes() == []


def hello(process: BotProcess) -> bytes:
    os.write(process.stdin, b'{"type":"hello","protocol":1,"referee":"0.1.0"}\n')
    os.set_blocking(process.stdout, True)
    return os.read(process.stdout, 1000)


def test_bot_that_was_started_by_a_thread_that_ends(bot: Bot, level: str) -> None:
    """A parent's death is that of the thread which started a process, as far as Linux cares."""
    shared: list[BotProcess] = []

    def start() -> None:
        shared.append(start_bot(bot, Confinement(level=Level(level))))
        shared[0].await_start(START_S)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    (process,) = shared
    try:
        time.sleep(A_WHILE_S)
        assert process.how_it_ended() is None
        assert b'"honest"' in hello(process)
    finally:
        process.close()


def test_no_confined_bot_runs_as_root(bot: Bot, level: str) -> None:
    """Not as the kernel sees it; what the bot is told about itself does not matter."""
    process = start_bot(bot, Confinement(level=Level(level)))
    try:
        process.await_start(START_S)
        assert b'"honest"' in hello(process)
        users = numbers(process, "Uid")
        if level == "none":
            assert users == {os.getuid()}
        else:
            assert 0 not in users | numbers(process, "Gid")
            assert numbers(process, "NoNewPrivs") == {1}
            assert numbers(process, "Seccomp") == {2}
    finally:
        process.close()
    wait_for(lambda: not Path(f"/proc/{process.pid}").exists(), "the bot to be gone")


def numbers(process: BotProcess, field: str) -> set[int]:
    """What the kernel has to say on a process."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith(f"{field}:")]
    return {int(word) for word in line.split()[1:]}
