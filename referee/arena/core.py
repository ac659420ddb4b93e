"""One slot, one core. Two processes that exchange lines do so about ten times faster on one core
than across two, so a slot is pinned where the system allows it. A lock file per core keeps two
referees of one user off each other's cores; the lock ends with its process, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path

from referee.arena.other_core import OtherCore


class PinnedCore:
    """A core taken for this process and the bots it starts, until `release`."""

    def __init__(self, core: int, lock: int, before: frozenset[int]) -> None:
        self.core = core
        self.before = before
        """The cores that this process could use before."""
        others = before - {core}
        self.other = OtherCore(others) if others else None
        """A clock on those to which this process, and the bots that it starts, are not bound."""
        self._lock = lock

    def release(self) -> None:
        self.stop_clock()
        os.sched_setaffinity(0, self.before)
        os.close(self._lock)

    def stop_clock(self) -> None:
        """Nobody needs the clock on another core for now."""
        if self.other is not None:
            self.other.close()


def take_core() -> PinnedCore | None:
    """Pin this process to a core that no other referee has, or None where that cannot be had."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    before = frozenset(os.sched_getaffinity(0))
    # The last cores first: the first ones tend to serve interrupts.
    for core in sorted(before, reverse=True):
        lock = _lock(core)
        if lock is None:
            continue
        try:
            os.sched_setaffinity(0, {core})
        except OSError:
            os.close(lock)
            continue
        return PinnedCore(core, lock, before)
    return None


def own_cores() -> int:
    """How many cores this process may use."""
    return len(allowed_cores()) or os.cpu_count() or 1


def allowed_cores() -> frozenset[int]:
    """Where this process may run, and so the bots that it starts; none where the system does not
    tell."""
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()


def spare_cores(workers: int) -> frozenset[int]:
    """Those that so many pinned workers leave free, as `take_core` takes them; all of them where it
    leaves none, and none where the system does not tell."""
    if not hasattr(os, "sched_getaffinity"):
        return frozenset()
    cores = sorted(os.sched_getaffinity(0))
    return frozenset(cores[: max(0, len(cores) - workers)] or cores)


def _lock(core: int) -> int | None:
    path = Path(tempfile.gettempdir()) / f"referee-{os.getuid()}-core-{core}.lock"
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        return None
    return fd
