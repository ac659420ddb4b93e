"""Worker processes of a station that wait for their next order, for a while.

A process that waits has a core to itself, and takes it from whoever else plays on the machine: one
that has waited for long is ended.
"""

from __future__ import annotations

import threading
import time

from referee.tournament.workers import Worker

IDLE_S = 10.0


class Hands:
    """Those of one dask worker, whose threads share them."""

    def __init__(self) -> None:
        self._idle: list[tuple[float, Worker]] = []
        """Since when each waits; the latest come last, and are taken first."""
        self._lock = threading.Lock()
        self._tidying = False

    def take(self) -> Worker:
        with self._lock:
            while self._idle:
                _, hand = self._idle.pop()
                if hand.process.poll() is None:
                    return hand
                hand.close()
        return Worker()

    def give_back(self, hand: Worker) -> None:
        hand.order = None
        with self._lock:
            self._idle.append((time.monotonic(), hand))
            if not self._tidying:
                self._tidying = True
                threading.Thread(target=self._tidy, daemon=True).start()

    def _tidy(self) -> None:
        """End those that have waited for too long, until nobody waits."""
        while True:
            with self._lock:
                if not self._idle:
                    self._tidying = False
                    return
                since, hand = self._idle[0]
                left_s = since + IDLE_S - time.monotonic()
                if left_s <= 0:
                    del self._idle[0]
            if left_s <= 0:
                hand.close()
            else:
                time.sleep(left_s)
