"""How much a bot has grown since it was first kept.

The kernel limits memory, open files and threads for the whole life of a process. A bot that is kept
from pairing to pairing and never gives back what it takes would meet such a limit one day, and in
which pairing depends on how many it has played. So a bot that grows is started anew long before.
"""

from __future__ import annotations

import os
import sys

from .kin import threads
from .memory import filled_kb, has_more

SMALL_SHARE = 10
"""A bot that is set aside may have used a tenth of its CPU time, files and disk. Its memory, its
open files and its threads may have grown by a tenth of their limits since it was first kept, up to
half of them. A bot that has used more is not taken up again: it might lack it in the next
pairing."""


class Growth:
    """What a bot may have when it is set aside. The first time decides."""

    def __init__(self, *, memory_kb: int, open_files: int, threads: int) -> None:
        """The limits; 0 where there is none."""
        self._limits = (memory_kb, open_files, threads)
        self._most: tuple[int, ...] = ()

    def is_small(self, pids: list[int]) -> bool:
        """Whether these processes, which are stopped, have no more than they may."""
        files, tasks = max(map(open_files, pids), default=0), sum(len(threads(pid)) for pid in pids)
        if not self._most:
            has = (sum(map(filled_kb, pids)), files, tasks)
            self._most = tuple(map(_most_of, self._limits, has))
        most_kb, most_files, most_tasks = self._most
        return files <= most_files and tasks <= most_tasks and not has_more(most_kb, pids)


def _most_of(limit: int, has: int) -> int:
    return min(limit // 2, has + limit // SMALL_SHARE) if limit else sys.maxsize


def open_files(pid: int) -> int:
    """0 where the system does not tell."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208  # no pathlib, as in kin.py
    except OSError:
        return 0
