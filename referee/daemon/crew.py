"""The workers of the daemon: those of a tournament, below the hall and the pages in priority."""

from __future__ import annotations

import contextlib
import os

from referee.daemon.journal import Journal
from referee.daemon.overhearing import Overhearing
from referee.daemon.priorities import RATED
from referee.tournament.workers import Worker, Workers


class Crew(Workers):
    """Workers that give way to whatever else the daemon does."""

    def __init__(self, count: int, journal: Journal) -> None:
        self._overhearing = Overhearing("workers", journal)
        super().__init__(count)

    def fileno(self) -> int:
        """Readable when one of them has said something."""
        return self._selector.fileno()

    def close(self) -> None:
        super().close()
        self._overhearing.started()
        self._overhearing.close()

    def _hired(self) -> Worker:
        return Worker(self._count, self._overhearing.fd)

    def _add(self) -> None:
        super()._add()
        # Bots are started by the worker later, and inherit it.
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self._workers[-1].process.pid, RATED)
