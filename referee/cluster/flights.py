"""Orders on their way to a cluster: who asked for each, and which stations try it."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any, NamedTuple

from distributed import Future

from referee.cluster.stations import Station
from referee.tournament.chunk import Chunk, Order


class Try(NamedTuple):
    """A station that has an order."""

    station: Station
    future: Future[Any]


class Flight:
    """An order on its way."""

    def __init__(self, berth: object, order: Order) -> None:
        self.berth = berth
        self.order = order
        """For the next station that tries it."""
        self.since = time.monotonic()
        self.tries: list[Try] = []
        self.avoided: set[str] = set()
        """Stations that could not do it: others come first."""
        self.failures: list[str] = []
        self.stranded_since: float | None = None
        """From when there was no station for it."""

    def begin(self, where: Station, future: Future[Any]) -> None:
        where.flying += 1
        self.stranded_since = None
        self.tries.append(Try(where, future))
        if isinstance(self.order, Chunk):
            self.order = self.order.dealt_anew()

    def end(self, one: Try) -> None:
        """Nobody waits for this try any more."""
        self.tries.remove(one)
        one.station.flying -= 1
        with suppress(RuntimeError):  # the line that it was asked for over is closed
            one.future.release()

    def end_all(self) -> None:
        for one in list(self.tries):
            self.end(one)

    def try_of(self, future: Future[Any]) -> Try | None:
        return next((one for one in self.tries if one.future is future), None)
