"""Who descends from whom, as /proc tells.

The kernel lists the children of every thread, unless it was built without that; then all processes
are looked through for their parents.
"""

from __future__ import annotations

import contextlib
import os


def threads(pid: int) -> list[str]:
    """None for a process that has ended."""
    try:
        return os.listdir(f"/proc/{pid}/task")  # noqa: PTH208  # pathlib costs this script 10 ms
    except OSError:
        return []


def is_alive(pid: int) -> bool:
    """Whether it has not ended; one that nobody has waited for yet has."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def children(pid: int, *, listed: bool | None = None) -> list[int]:
    """Of all its threads, the oldest first; `listed` says whether the kernel lists them.

    Raises OSError where there is no /proc to look at.
    """
    if listed is None:
        listed = are_listed()
    if not listed:
        return by_parent().get(pid, [])
    found: list[int] = []
    for thread in threads(pid):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as file:
            found += map(int, file.read().split())
    return found


def are_listed() -> bool:
    own = os.getpid()
    return os.path.exists(f"/proc/{own}/task/{own}/children")  # noqa: PTH110  # no pathlib


def by_parent() -> dict[int, list[int]]:
    """All processes, by a look at each. Raises OSError."""
    found: dict[int, list[int]] = {}
    there = os.listdir("/proc")  # noqa: PTH208  # no pathlib
    for entry in sorted(there, key=lambda name: (len(name), name)):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            found.setdefault(int(fields[1]), []).append(int(entry))
    return found


def descendants(pid: int) -> list[int]:
    """Every living process that descends from this one, however it is listed. Raises OSError."""
    below, found, unseen = by_parent(), [], [pid]
    while unseen:
        here = below.get(unseen.pop(), [])
        found += here
        unseen += here
    return found


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    if not are_listed():
        return [pid, *descendants(pid)]
    found = [pid]
    for each in found:
        found += children(each, listed=True)
    return found
