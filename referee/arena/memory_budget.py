"""How much memory a worker has for the processes that it keeps."""

from __future__ import annotations

import contextlib
from pathlib import Path

from referee.arena.core import own_cores

GROUPS = Path("/sys/fs/cgroup")
GROUP_FILES = {
    "": ("", "memory.max", "memory.current", "inactive_file"),
    "memory": ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""Of control groups of version 2 and of version 1: their folder, the files with their limit and
with what is used of it, and how `memory.stat` calls what the kernel would give up first."""


def share_of_memory(workers: int) -> int:
    """The share of one of so many workers in half of the memory that is free now. There may be more
    elsewhere on the machine, but hardly more than cores."""
    free = min([_available_bytes(), *free_in_groups(_own_groups(), GROUPS)])
    return free // 2 // max(workers, own_cores())


def _available_bytes() -> int:
    """Of the machine, with what caches would give up; 0 where the system does not tell."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        told = Path("/proc/meminfo").read_text().partition("MemAvailable:")[2]
        return int(told.split()[0]) * 1024
    return 0


def _own_groups() -> str:
    with contextlib.suppress(OSError):
        return Path("/proc/self/cgroup").read_text()
    return ""


def free_in_groups(groups: str, root: Path) -> list[int]:
    """What each of these control groups with a limit has left, and those above it: a container may
    have less than its machine."""
    found: list[int] = []
    for line in groups.splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers in GROUP_FILES:
            folder, *files = GROUP_FILES[controllers]
            top = root / folder
            group = top / path.lstrip("/")
            for each in (group, *group.parents):
                # A group without a limit says `max`; the topmost one has no such file.
                with contextlib.suppress(OSError, ValueError):
                    found.append(_left_bytes(each, *files))
    return found


def _left_bytes(group: Path, limit: str, used: str, spare: str) -> int:
    stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    in_use = int((group / used).read_text()) - int(stat.get(spare, 0))
    return max(0, int((group / limit).read_text()) - in_use)
