"""Nothing is left behind: not by bots with children, and not by a referee that is killed."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

import pytest

from tests.arena.outside import referee, wait_for_touch
from tests.arena.playing import PROC, all_by_rules, all_lost, bot, honest, play
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(not PROC, reason="processes are found through /proc, as on Linux")


@pytest.mark.parametrize("kind", ["child", "daemon"])
def test_children_that_do_not_want_to_go(kind: str) -> None:
    """`play` looks for what is left of the match, children and keepers included."""
    all_by_rules(play(bot("children", kind), honest(), games=1))


@pytest.mark.parametrize("kind", ["child", "daemon"])
def test_children_of_a_bot_that_crashed(kind: str) -> None:
    """They hold its pipes open, and still the crash is seen at once."""
    played = play(bot("children", kind, "crash"), honest(), games=1, time="30s")
    all_lost(played, "crash", "the bot exited with status 8")
    with contextlib.suppress(ChildProcessError):
        assert os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None, "a zombie"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_killed_referee_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    thinking = tmp_path / "thinking"
    with referee(("children", "daemon"), ("slow", 0.1, 0.1, thinking), games=1_000) as outside:
        wait_for_touch(thinking)
        # The referee, the process that forks keepers, two keepers, two bots and the daemon.
        assert len(outside.alive()) == 7
        outside.process.send_signal(number)
        wait_for(lambda: not outside.alive(), lambda: f"the end of {outside.alive()}")
        assert outside.process.wait() in (-number, 1, 130)


def test_killed_referee_while_bots_start() -> None:
    """The bot has been started and has not said hello."""
    with referee(("startup", "silent"), ("honest",), startup_ms=20_000) as outside:
        wait_for(lambda: any("startup.py" in each for each in bots_of(outside.alive())), "the bot")
        outside.process.kill()
        wait_for(lambda: not outside.alive(), lambda: f"the end of {outside.alive()}")


def bots_of(processes: list[str]) -> list[str]:
    return [each for each in processes if "keeper.py" not in each and "play_match" not in each]


@pytest.mark.parametrize("how", ["bye", "end of input", "neither"])
def test_leaving(how: str, tmp_path: Path) -> None:
    """After bye a bot has a second; the end of its input tells one that does not know bye."""
    before = time.monotonic()
    diary = tmp_path / "diary"
    all_by_rules(play(bot("leaving", how, diary), honest(), games=1))
    if how == "neither":
        assert time.monotonic() - before > 1
        assert not diary.exists()
    else:
        assert diary.read_text() == f"left by {how}"
