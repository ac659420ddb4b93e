"""Was it the host that stood still, or the bot?

The arena waits in slices of 50 ms, so it knows when it should have woken. Where it wakes much
later, the referee itself was not running, and what a clock lost by that is not the bot's doing.
One kind of lateness is: the referee shares its core with the slot's bots, and a bot that burns the
core keeps it waiting. That wait is told apart by two counters, how long this process stood in the
run queue and how much CPU time the bots used meanwhile; the smaller of both is no stall.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from referee.clock import NS_PER_MS

SLICE_MS = 50
TOLERANCE_MS = 10
LATE_NS = (SLICE_MS + TOLERANCE_MS) * NS_PER_MS


class StallWatch:
    """Compares when the arena should have woken with when it did."""

    __slots__ = ("_bots_cpu_ns", "_cpu_base_ns", "_queue_base_ns", "_schedstat", "stale_ns")

    def __init__(self, bots_cpu_ns: Sequence[Callable[[], int]]) -> None:
        self._schedstat = _open_schedstat()
        self._bots_cpu_ns = bots_cpu_ns
        """The CPU counters of the bots that share the slot's core."""
        self._queue_base_ns = 0
        self._cpu_base_ns = 0
        self.stale_ns = 0
        """From when on the counters are too old to compare a stall with: mark again."""

    def mark(self, now_ns: int) -> None:
        """Remember the counters."""
        self.stale_ns = now_ns + LATE_NS
        self._queue_base_ns = self._queued_ns()
        self._cpu_base_ns = self._burned_ns()

    def stalled_ns(self, late_ns: int) -> int:
        """How much of this lateness was the host's."""
        queued_ns = self._queued_ns() - self._queue_base_ns
        burned_ns = self._burned_ns() - self._cpu_base_ns
        own_ns = max(0, min(queued_ns, burned_ns))
        stalled_ns = late_ns - own_ns
        return stalled_ns if stalled_ns > TOLERANCE_MS * NS_PER_MS else 0

    def close(self) -> None:
        if self._schedstat >= 0:
            os.close(self._schedstat)
            self._schedstat = -1

    def _queued_ns(self) -> int:
        if self._schedstat < 0:
            return 0
        fields = os.pread(self._schedstat, 128, 0).split()
        return int(fields[1]) if len(fields) > 1 else 0

    def _burned_ns(self) -> int:
        return sum(cpu_ns() for cpu_ns in self._bots_cpu_ns)


def _open_schedstat() -> int:
    if sys.platform != "linux":
        return -1
    try:
        return os.open("/proc/self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1
