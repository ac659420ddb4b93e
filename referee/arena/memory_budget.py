"""How much memory a worker has for the processes that it keeps."""

from __future__ import annotations

import contextlib
from pathlib import Path

from referee.arena.core import own_cores

GROUP_LIMITS = {
    "": ("/sys/fs/cgroup", "memory.max"),
    "memory": ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
}
"""Where control groups of version 2 and of version 1 are, and the file with their limit."""


def share_of_memory(workers: int) -> int:
    """The share of one of so many workers in half of the memory that is free now. There may be more
    elsewhere on the machine, but hardly more than cores."""
    free = min([_available_bytes(), *_limits_bytes()])
    return free // 2 // max(workers, own_cores())


def _available_bytes() -> int:
    """Of the machine, with what caches would give up; 0 where the system does not tell."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        told = Path("/proc/meminfo").read_text().partition("MemAvailable:")[2]
        return int(told.split()[0]) * 1024
    return 0


def _limits_bytes() -> list[int]:
    """Of the control groups of this process: a container may have less than its machine."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers in GROUP_LIMITS:
                top, name = GROUP_LIMITS[controllers]
                group = Path(f"{top}{path}")
                for each in (group, *group.parents):
                    # A group without a limit says `max`; the topmost one has no such file.
                    with contextlib.suppress(OSError, ValueError):
                        found.append(int((each / name).read_text()))
    return found
