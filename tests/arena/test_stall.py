"""A host that stands still costs no bot a game; a bot that burns the core is not a host."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from referee.arena.other_core import OtherCore
from referee.arena.stall import (
    FEW,
    TOLERANCE_NS,
    StallCount,
    StallHistory,
    StallWatch,
    tells_against,
)
from referee.bots.manifest import Bot
from referee.clock import NS_PER_MS
from tests.arena.outside import referee, wait_for_touch
from tests.arena.playing import (
    all_lost,
    bot,
    clocks_of,
    honest,
    needs_another_core,
    no_first_answer,
    play,
)
from tests.waiting import PATIENCE_S, wait_for

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


def test_a_heavy_thinker_has_all_the_stalls_and_is_excused(tmp_path: Path) -> None:
    """Its opponent answers at once, so the host never stands still in the opponent's turns."""
    thinking = tmp_path / "thinking"
    terms = {"variant": "difference", "games": 3, "time": "2s", "warm_up_ms": 0}
    with referee(("slow", 0.3, 0.3, thinking), ("steady", 1), **terms) as outside:
        for stalled_s in [0.1] * (FEW + 1) + [3]:
            wait_for_touch(thinking)
            outside.process.send_signal(signal.SIGSTOP)
            time.sleep(stalled_s)
            outside.process.send_signal(signal.SIGCONT)
        records, replayed = outside.finish()
    assert replayed == 1
    assert [record.ending for record in records] == ["rules"] * 3


@pytest.mark.parametrize(("kind", "pin"), [("threads", False), ("processes", True)])
def test_bot_that_burns_the_core(kind: str, pin: bool) -> None:
    """It keeps the referee from running in time, which is the bot's own doing."""
    played = play(bot("spinning", kind, 6), honest(), games=1, time="1s", grace_ms=50, pin=pin)
    all_lost(played, "timeout", no_first_answer(1050, "1000 ms, grace 50 ms"))


BURN = """
import os, signal, sys, time
core, children = int(sys.argv[1]), int(sys.argv[2])
os.sched_setaffinity(0, {core})
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    for _ in range(children):
        if os.fork() == 0:
            os.setsid()
            signal.alarm(1)
            while True:
                pass
    time.sleep(1)
"""
"""Children that nobody waits for, each in a session of its own and so with its own share of a core;
they end by themselves, whatever becomes of their parent."""


def use_a_share_of_the_core() -> None:
    """Who uses less than its share runs as soon as it wakes, and is never late."""
    until_ns = time.thread_time_ns() + 5 * NS_PER_MS
    while time.thread_time_ns() < until_ns:
        pass


@needs_another_core
def test_children_that_nobody_waits_for_are_no_stall() -> None:
    """They burn the core, and no clock of a bot counts them; another core is in time."""
    before = frozenset(os.sched_getaffinity(0))
    core = min(before)
    os.sched_setaffinity(0, {core})
    bot = subprocess.Popen([sys.executable, "-c", BURN, str(core), "12"])
    other_core = OtherCore(before - {core})
    watch = StallWatch([lambda: 0], other_core)
    poll = select.poll()
    excused: list[float] = []
    give_up_ns = time.monotonic_ns() + round(PATIENCE_S * 10**9)
    try:
        while min(excused, default=1.0) > 0.5 and time.monotonic_ns() < give_up_ns:
            assert bot.poll() is None, "the bot has ended"
            use_a_share_of_the_core()
            watch.mark(time.monotonic_ns())
            began_ns = time.monotonic_ns()
            poll.poll(2)
            late_ns = time.monotonic_ns() - began_ns - 2 * NS_PER_MS
            if late_ns > TOLERANCE_NS:
                excused.append(watch.stalled_ns(late_ns) / late_ns)
    finally:
        bot.kill()
        bot.wait()
        watch.close()
        other_core.close()
        os.sched_setaffinity(0, before)
    assert excused[0] == 1, "the first time nobody is there to compare with"
    # On a machine that is busy with other things the other core is late, too, but not as much.
    assert min(excused) <= 0.5, excused


def is_late(clock: OtherCore, enough_ns: int) -> bool:
    return (clock.late_ns() or 0) > enough_ns


@needs_another_core
def test_a_clock_on_another_core() -> None:
    """Nobody waits for it; one that was ended begins anew."""
    before = frozenset(os.sched_getaffinity(0))
    clock = OtherCore(before - {min(before)})
    try:
        assert clock.late_ns() is None
        for _ in range(2):
            clock.start()
            assert os.sched_getaffinity(0) == before
            wait_for(lambda: clock.late_ns() is not None, "the clock to begin")
            (pid,) = clocks_of(os.getpid())
            clock.start()
            assert clocks_of(os.getpid()) == [pid]
            os.kill(pid, signal.SIGSTOP)
            enough_ns = (clock.late_ns() or 0) + 5 * TOLERANCE_NS
            wait_for(partial(is_late, clock, enough_ns), "a clock that was stopped to be late")
            os.kill(pid, signal.SIGKILL)
            wait_for(lambda: clock.late_ns() is None, "its end")
    finally:
        clock.close()
    assert clocks_of(os.getpid()) == []


def test_a_clock_where_there_is_no_core_for_it() -> None:
    before = os.sched_getaffinity(0)
    clock = OtherCore(frozenset())
    clock.start()
    assert clock.late_ns() is None
    assert os.sched_getaffinity(0) == before


def stalls(number: int, thought_s: float) -> StallCount:
    return StallCount(number, round(thought_s * 10**9))


def test_stalls_that_happen_to_one_bot_alone_count_against_it() -> None:
    assert tells_against(stalls(10, 100), stalls(0, 90))
    assert not tells_against(stalls(10, 100), stalls(3, 90)), "the other has its share"
    assert not tells_against(stalls(10, 100), stalls(0, 50)), "too few to tell"
    assert not tells_against(stalls(1, 0.1), stalls(0, 3)), "one tells nothing"


def test_a_heavy_thinker_is_not_convicted_by_instant_bots() -> None:
    """It has all the stalls, since it does all the thinking."""
    own, other = stalls(10_000, 10_000), stalls(0, 0.1)
    assert not tells_against(own, other)
    own.elsewhere = [(stalls(10_000, 10_000), stalls(0, 0.1)) for _ in range(100)]
    assert not tells_against(own, other)


def counted(history: StallHistory, each: dict[str, tuple[int, int]]) -> StallCount:
    """Play a chunk against each of these opponents, in which both think as long, with so many
    stalls of `bad` and of the opponent; then what is known of `bad` against one more."""
    for name, (own, others) in each.items():
        pair = (Bot(name="bad", command=()), Bot(name=name, command=()))
        counts = history.take(pair)
        for count, more in zip(counts, (own, others), strict=True):
            count.stalls += more
            count.thought_ns += 10**9
        # The next chunk of these two may have them the other way round.
        history.keep((pair[1], pair[0]), (counts[1], counts[0]))
    _, bad = history.take((Bot(name="new", command=()), Bot(name="bad", command=())))
    return bad


def test_stalls_against_several_opponents_are_counted_together() -> None:
    """No opponent sees eight, and one opponent alone does not make a bot guilty elsewhere."""
    new = stalls(0, 0)
    history = StallHistory()
    assert not tells_against(counted(history, {"a": (3, 0), "b": (3, 0)}), new)
    assert tells_against(counted(history, {"c": (3, 0)}), new)
    assert not tells_against(counted(history, {"d": (0, 1), "e": (0, 1)}), new), "others have some"
    assert not tells_against(counted(StallHistory(), {"a": (1000, 0), "b": (3, 0)}), new)


def test_stalls_of_two_bots_are_counted_from_chunk_to_chunk() -> None:
    history = StallHistory()
    counted(history, {"a": (4, 0)})
    counted(history, {"a": (4, 0)})
    bad, a = history.take((Bot(name="bad", command=()), Bot(name="a", command=())))
    assert (bad.stalls, a.stalls) == (8, 0)
    assert tells_against(bad, a)
