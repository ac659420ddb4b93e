"""Was it the host that stood still, or the bot?

The arena waits in slices of 50 ms, so it knows when it should have woken. Where it wakes much
later, the referee itself was not running, and what a clock lost by that is not the bot's doing.
One kind of lateness is: the referee shares its core with the slot's bots, and a bot that burns the
core keeps it waiting. That wait is told apart by two counters, how long this process stood in the
run queue and how much CPU time the bots used meanwhile; the smaller of both is no stall.

The second counter does not see all: at level none, and where a bot may have several processes, a
child that nobody waits for leaves no trace of what it used. So the first time that the queue is
longer than the bots' CPU time explains, the referee starts a clock on another core, which a worker
keeps. A host that is busy is late there too. Where the other core was in time, somebody burned this
core alone, and those who are bound to it are the slot's bots.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from referee.arena.other_core import OtherCore
from referee.bots.manifest import Bot
from referee.clock import NS_PER_MS

SLICE_MS = 50
TOLERANCE_MS = 10
TOLERANCE_NS = TOLERANCE_MS * NS_PER_MS
LATE_NS = SLICE_MS * NS_PER_MS + TOLERANCE_NS
FEW = 8
"""Fewer stalls than this tell nothing of a bot, nor does their lack of its opponent."""
MOST_PAIRS = 10_000
"""Pairs of bots that are remembered."""

_Key = tuple[str, str]
"""Name and hash of a bot."""


class StallCount:
    """What is known of a bot against one opponent."""

    __slots__ = ("elsewhere", "stalls", "thought_ns")

    def __init__(self, stalls: int = 0, thought_ns: int = 0) -> None:
        self.stalls = stalls
        """In how many of its turns the host stood still, whether or not that made it late: a bot
        that needs most of its time is late by stalls that another one does not feel."""
        self.thought_ns = thought_ns
        """What all its answered turns took."""
        self.elsewhere: Sequence[tuple[StallCount, StallCount]] = ()
        """Of the same bot against each of its other opponents, and of that opponent."""


class StallHistory:
    """The counts of pairs of bots from chunk to chunk: one chunk is too short to tell. Only those
    with a stall are remembered, and the latest of them."""

    def __init__(self) -> None:
        self._pairs: dict[frozenset[_Key], dict[_Key, StallCount]] = {}

    def take(self, bots: tuple[Bot, Bot]) -> tuple[StallCount, StallCount]:
        """So far; to be added to, and then to be kept."""
        first, second = map(_key, bots)
        pair = self._pairs.pop(frozenset((first, second)), None)
        own, other = (pair[first], pair[second]) if pair else (StallCount(), StallCount())
        own.elsewhere, other.elsewhere = self._elsewhere(first), self._elsewhere(second)
        return own, other

    def keep(self, bots: tuple[Bot, Bot], counts: tuple[StallCount, StallCount]) -> None:
        if any(count.stalls for count in counts):
            for count in counts:
                count.elsewhere = ()
            pair = dict(zip(map(_key, bots), counts, strict=True))
            self._pairs[frozenset(pair)] = pair
            if len(self._pairs) > MOST_PAIRS:
                del self._pairs[next(iter(self._pairs))]

    def _elsewhere(self, bot: _Key) -> list[tuple[StallCount, StallCount]]:
        return [
            (pair[bot], other)
            for pair in self._pairs.values()
            if bot in pair
            for key, other in pair.items()
            if key != bot
        ]


def _key(bot: Bot) -> _Key:
    return bot.name, bot.hash


def tells_against(own: StallCount, other: StallCount) -> bool:
    """Whether a bot's stalls are its own doing, by how seldom its opponents had any.

    A host stands still at any moment, so stalls are shared out by the time that each bot thinks.
    They count against a bot where it had eight or more, its opponent should have had eight or more
    by that, and had at most an eighth of them. An opponent that answers at once thinks for no time,
    so that it never tells against one that thinks long.

    The same holds for all its opponents together, so that a bot does not begin anew with each of
    them. Of those that one opponent should have had, whole ones count, so that many who answer at
    once do not tell either, and four at most: no opponent alone can make a bot guilty in the games
    of others.
    """
    expected = _expected(own, other)
    if min(own.stalls, expected) >= FEW and other.stalls * FEW <= expected:
        return True
    pairs = [(own, other), *own.elsewhere]
    share = sum(min(FEW // 2, one.stalls, int(_expected(one, its))) for one, its in pairs)
    return share >= FEW and sum(its.stalls for _, its in pairs) * FEW <= share


def _expected(own: StallCount, other: StallCount) -> float:
    """How many stalls an opponent should have had, by those of a bot."""
    return own.stalls * other.thought_ns / max(1, own.thought_ns)


class StallWatch:
    """Compares when the arena should have woken with when it did."""

    __slots__ = (
        "_bots_cpu_ns",
        "_cpu_base_ns",
        "_elsewhere_base_ns",
        "_other_core",
        "_queue_base_ns",
        "_schedstat",
        "stale_ns",
    )

    def __init__(
        self,
        bots_cpu_ns: Sequence[Callable[[], int]],
        other_core: OtherCore | None = None,
    ) -> None:
        """`other_core` is None where the counters of the bots see all that they use."""
        self._schedstat = _open_schedstat()
        self._bots_cpu_ns = bots_cpu_ns
        """The CPU counters of the bots that share the slot's core."""
        self._queue_base_ns = 0
        self._cpu_base_ns = 0
        self._other_core = other_core
        self._elsewhere_base_ns: int | None = None
        self.stale_ns = 0
        """From when on the counters are too old to compare a stall with: mark again."""

    def mark(self, now_ns: int) -> None:
        """Remember the counters."""
        self.stale_ns = now_ns + LATE_NS
        self._queue_base_ns = self._queued_ns()
        self._cpu_base_ns = self._burned_ns()
        if self._other_core is not None:
            self._elsewhere_base_ns = self._other_core.late_ns()

    def stalled_ns(self, late_ns: int) -> int:
        """How much of this lateness was the host's."""
        queued_ns = self._queued_ns() - self._queue_base_ns
        burned_ns = self._burned_ns() - self._cpu_base_ns
        own_ns = max(0, min(queued_ns, burned_ns))
        unexplained_ns = min(late_ns, queued_ns) - own_ns
        if unexplained_ns > TOLERANCE_NS and self._other_core is not None:
            late_elsewhere_ns = self._late_elsewhere_ns(self._other_core)
            if late_elsewhere_ns is not None:
                own_ns += max(0, unexplained_ns - late_elsewhere_ns)
        stalled_ns = late_ns - own_ns
        return stalled_ns if stalled_ns > TOLERANCE_NS else 0

    def close(self) -> None:
        if self._schedstat >= 0:
            os.close(self._schedstat)
            self._schedstat = -1

    def _late_elsewhere_ns(self, other_core: OtherCore) -> int | None:
        """How late another core was since the counters were remembered; None if the clock there did
        not run yet."""
        late_ns, base_ns = other_core.late_ns(), self._elsewhere_base_ns
        if late_ns is None:
            other_core.start()
            self._elsewhere_base_ns = None
        return None if late_ns is None or base_ns is None else late_ns - base_ns

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
