"""Worker processes of a station that wait for their next order, for a while.

A process that waits has a core to itself, and takes it from whoever else plays on the machine: one
that has waited for long is ended.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection

from referee.tournament.workers import Worker

IDLE_S = 10.0


class Hands:
    """Those of one dask worker, whose threads share them."""

    def __init__(self) -> None:
        self._all: set[Worker] = set()
        self._idle: list[tuple[float, Worker]] = []
        """Since when each waits; the latest come last, and are taken first."""
        self._lock = threading.Lock()
        self._tidying = False

    def take(self, bots: Collection[int] = ()) -> Worker:
        """One that keeps processes of these bots, if there is one."""
        with self._lock:
            while self._idle:
                # Of equals the latest.
                known = [len(hand.at_hand.intersection(bots)) for _, hand in self._idle]
                best = max(range(len(known)), key=lambda each: (known[each], each))
                _, hand = self._idle.pop(best)
                if hand.process.poll() is None:
                    return hand
                self._all.discard(hand)
                hand.close()
            hand = Worker(len(self._all) + 1)
            self._all.add(hand)
            return hand

    def give_back(self, hand: Worker) -> None:
        hand.order = None
        with self._lock:
            self._idle.append((time.monotonic(), hand))
            if not self._tidying:
                self._tidying = True
                threading.Thread(target=self._tidy, daemon=True).start()

    def end(self, hand: Worker) -> None:
        with self._lock:
            self._all.discard(hand)
        hand.close()

    def at_hand(self) -> list[int]:
        """Bots whose processes are kept by any of them."""
        with self._lock:
            return sorted(set().union(*(hand.at_hand for hand in self._all)))

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
                self.end(hand)
            else:
                time.sleep(left_s)
