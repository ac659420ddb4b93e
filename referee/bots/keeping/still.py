"""Whether a bot that was stopped stands still.

A stop takes effect where a thread leaves the kernel. A call that copies gigabytes within the bot's
memory goes on until then, for hundreds of milliseconds in every thread. So whoever stops a bot
waits until nothing of it runs, and hears of a bot that goes on for too long.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from .kin import threads

MOST_CPU_NS = 500_000_000
"""What a bot may use after it was stopped: far more than the calls of an honest one take."""
PATIENCE_S = 10.0
"""On a host that stands still a stop takes long, though the bot uses nothing."""
SHORTEST_S, LONGEST_S = 0.0001, 0.01
"""Between two looks."""
STILL = frozenset({b"T", b"t", b"D", b"Z", b"X"})
"""Stopped, waiting for a disk or for a child that was stopped, ended."""
STOP, GO_ON, RUNS_ON = b"s", b"c", b"r"
"""What a stopper (stopper.py) is told to do; how it answers where a bot goes on."""
THREADS = 17
"""Where the kernel tells how many threads a process has."""
TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")


def comes_to_rest(look: Callable[[], tuple[bool, int]]) -> bool:
    """Wait until a bot that was stopped stands still; False where it uses too much CPU time.

    A look tells whether it stands still, and what it has used so far, in nanoseconds.
    """
    give_up = time.monotonic() + PATIENCE_S
    pause = SHORTEST_S
    still, first_ns = look()
    while not still and time.monotonic() < give_up:
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_S)
        still, used_ns = look()
        if used_ns - first_ns > MOST_CPU_NS:
            return False
    return True


class ThreadsLook:
    """A look at every thread of some processes."""

    def __init__(self, stop: Callable[[], list[int]]) -> None:
        """`stop` stops them and tells their ids. It is called at every look, since a process that
        was about to end can wake others."""
        self._stop = stop
        self._used: dict[str, int] = {}
        """By thread, in ticks; of those that have ended, too."""

    def __call__(self) -> tuple[bool, int]:
        still = True
        pids = self._stop()
        # Mostly the bot shares this core, and needs a moment of it to stop.
        os.sched_yield()
        for pid in pids:
            first = stat(f"{pid}/task/{pid}")
            still = self._look_at(str(pid), first) and still
            if first[THREADS : THREADS + 1] != [b"1"]:
                for thread in threads(pid):
                    still = self._look_at(thread, stat(f"{pid}/task/{thread}")) and still
        return still, sum(self._used.values()) * TICK_NS

    def _look_at(self, thread: str, fields: list[bytes]) -> bool:
        """Whether it stands still, or has ended."""
        if not fields:
            return True
        self._used[thread] = int(fields[11]) + int(fields[12])
        return fields[0] in STILL


def stat(process: str) -> list[bytes]:
    """What the kernel tells of it after its name: its state, its parent …; nothing of who ended."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []
