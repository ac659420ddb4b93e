"""A host that stands still costs no bot a game; a bot that burns the core is not a host."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.arena.outside import referee, wait_for_touch
from tests.arena.playing import all_lost, bot, honest, no_first_answer, play

SHORT = {"variant": "difference", "options": {"size": 2}, "games": 3, "seed": "stall"}


def test_stalled_referee(tmp_path: Path) -> None:
    """The referee sleeps for longer than the limit while a bot thinks: the game is played again."""
    thinking = tmp_path / "thinking"
    terms = {**SHORT, "time": "3s", "warm_up_ms": 0}
    with referee(("slow", 0.8, 0.8, thinking), ("steady", 1), **terms) as outside:
        wait_for_touch(thinking)
        outside.process.send_signal(signal.SIGSTOP)
        time.sleep(4)
        outside.process.send_signal(signal.SIGCONT)
        records, replayed = outside.finish()
    assert replayed == 1
    assert [record.ending for record in records] == ["rules"] * 3
    assert sorted(record.game for record in records) == ["1", "2", "3"]
    assert sorted(record.attempt for record in records) == [1, 1, 2]
    assert all(record.fault is None for record in records)


def test_stalled_referee_and_a_bot_that_hangs(tmp_path: Path) -> None:
    """A stall is no excuse for ever: the silent bot gets the time that was lost, and then loses."""
    thinking = tmp_path / "thinking"
    terms = {**SHORT, "games": 1, "time": "2s", "warm_up_ms": 0}
    with referee(("slow", 600, 600, thinking), ("steady", 1), **terms) as outside:
        wait_for_touch(thinking)
        outside.process.send_signal(signal.SIGSTOP)
        time.sleep(3)
        outside.process.send_signal(signal.SIGCONT)
        (record,), replayed = outside.finish()
    assert (record.ending, record.winner, record.attempt, replayed) == ("timeout", 1, 1, 0)
    assert record.fault is not None
    assert record.fault.spent_us is not None
    assert record.fault.spent_us > 4_000_000


@pytest.mark.parametrize(("kind", "pin"), [("threads", False), ("processes", True)])
def test_bot_that_burns_the_core(kind: str, pin: bool) -> None:
    """It keeps the referee from running in time, which is the bot's own doing."""
    played = play(bot("spinning", kind, 6), honest(), games=1, time="1s", grace_ms=50, pin=pin)
    all_lost(played, "timeout", no_first_answer(1050, "1000 ms, grace 50 ms"))
