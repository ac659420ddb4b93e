"""The hands of a cluster: orders out, reports back, whatever happens to the machines between.

A chunk is one task of dask, which may run wherever both its bots can be played. It comes back as a
whole or not at all, and counts the first time it comes: a chunk whose machine is lost is played
again, and towards the end those that take longest are given to a second machine as well.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from distributed import Future
from msgspec.structs import replace

from referee.bots.confinement.levels import Level
from referee.cluster import station
from referee.cluster.cluster import PATIENCE_S, Cluster, NoCluster
from referee.cluster.liaison import Answer
from referee.cluster.stations import Station, names_in
from referee.tournament.chunk import Batch, Chunk, Order, Report, frame, read_report
from referee.tournament.crew import LostWorker, Muster

SLOW_S = 4.0
SLOW = 2.0
"""A chunk is slow that takes so many times as long as others do, and at least so long."""
KNOWN = 50
"""How many of the last chunks tell how long others take."""


class Berth:
    """Room for one order at a time somewhere on the cluster."""

    def __init__(self, crew: ClusterCrew) -> None:
        self._crew = crew
        self.order: Order | None = None

    def give(self, order: Order) -> None:
        self.order = order
        self._crew.send(self, order)


class Flight:
    """An order on its way."""

    def __init__(self, berth: Berth, order: Order) -> None:
        self.berth = berth
        self.order = order
        self.since = time.monotonic()
        self.tries: list[Future[Any]] = []
        self.stranded_since: float | None = None
        """From when there was no station for it."""


class ClusterCrew:
    """All of them."""

    def __init__(self, cluster: Cluster, scripts: dict[str, str], logs: Path | None) -> None:
        """`scripts` are the names under which variants' scripts travel, by path; `logs` is where
        the bots' stderr goes."""
        self._cluster = cluster
        self._scripts = scripts
        self._logs = logs
        self._client = cluster.client
        self._berths: list[Berth] = []
        self._flights: list[Flight] = []
        self._took: list[float] = []
        self._began = time.monotonic()
        self._levels: set[str] = set()
        self._resize()

    def __len__(self) -> int:
        return len(self._berths)

    def idle(self) -> list[Berth]:
        return [berth for berth in self._berths if berth.order is None]

    def muster(self) -> Muster:
        places = tuple(each.place(self._began) for each in self._cluster.stations.values())
        return Muster(places=places, in_flight=len(self._flights))

    def levels(self) -> list[str]:
        return sorted(self._levels, key=[level.value for level in Level].index)

    def close(self) -> None:
        for flight in self._flights:
            self._let_go(flight)
        self._flights.clear()

    # Out.

    def send(self, berth: Berth, order: Order) -> None:
        if isinstance(order, Chunk) and order.variant in self._scripts:
            order = replace(order, variant=self._scripts[order.variant])
        flight = Flight(berth, order)
        self._flights.append(flight)
        self._launch(flight)

    def _launch(self, flight: Flight, but: str | None = None) -> None:
        """Have it played, by another station than this one if that is said."""
        able = [each.address for each in self._able(flight.order) if each.address != but]
        if not able or self._cluster.client is None:
            if but is None and flight.stranded_since is None:
                flight.stranded_since = time.monotonic()
            return
        flight.stranded_since = None
        order = frame(flight.order)[4:]
        flight.tries.append(self._cluster.submit(flight, station.work, order, on=able))

    def _able(self, order: Order) -> list[Station]:
        names = names_in(order)
        return [each for each in self._cluster.stations.values() if each.plays(names)]

    # Back.

    def hear(self, timeout_s: float) -> Iterator[tuple[Berth, list[Report] | LostWorker]]:
        for answer in self._cluster.attend(timeout_s):
            said = self._landed(answer)
            if said is not None:
                yield answer.about.berth, said
        if self._cluster.client is not self._client:
            self._begin_anew()
        self._look_after()
        self._resize()

    def _landed(self, answer: Answer) -> list[Report] | LostWorker | None:
        flight, future = answer.about, answer.future
        if flight not in self._flights or future not in flight.tries:
            return None  # It has come before, or the line that it was asked for over is gone.
        if future.status == "finished":
            try:
                result = future.result()
            except Exception:  # the line broke while it came; it is looked after
                flight.tries.remove(future)
                return None
            self._flights.remove(flight)
            self._let_go(flight)
            return self._kept(flight, result)
        flight.tries.remove(future)
        if future.status != "error":
            return None  # Cancelled: the scheduler has forgotten it. It is looked after.
        problem = future.exception()
        if isinstance(problem, station.Lacking):
            for each in self._able(flight.order):
                # Whichever it was: those that have it are done at once.
                self._cluster.make_ready(each)
            return None
        if flight.tries:
            return None
        self._flights.remove(flight)
        return LostWorker(f"a worker of the cluster failed: {type(problem).__name__}: {problem}")

    def _kept(self, flight: Flight, result: dict[str, Any]) -> list[Report]:
        reports = [read_report(body) for body in result["reports"]]
        if isinstance(flight.order, Chunk):
            self._took = [*self._took[1 - KNOWN :], time.monotonic() - flight.since]
        games = [batch for batch in reports if isinstance(batch, Batch)]
        where = self._cluster.stations.get(result["station"])
        if where is not None:
            where.count(sum(len(batch.games) for batch in games))
        if games:
            self._levels.add(result["level"])
        for name, text in result["logs"].items():
            self._keep_log(name, text)
        return reports

    def _keep_log(self, name: str, text: bytes) -> None:
        if self._logs is None:
            return
        path = self._logs / name
        if not path.resolve().is_relative_to(self._logs.resolve()):
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as log:
            log.write(text)

    def _let_go(self, flight: Flight) -> None:
        for future in flight.tries:
            future.release()
        flight.tries.clear()

    # What goes wrong.

    def _begin_anew(self) -> None:
        """The line is another one, or there is none: nothing that was asked for is known there."""
        self._client = self._cluster.client
        for flight in self._flights:
            flight.tries.clear()

    def _look_after(self) -> None:
        now = time.monotonic()
        if self._cluster.client is None:
            if now - self._cluster.silent_since > PATIENCE_S:
                raise NoCluster(
                    f"the dask scheduler at {self._cluster.address} has not answered for "
                    f"{PATIENCE_S:.0f} s: {self._cluster.silent}"
                )
            return
        for flight in self._flights:
            if not flight.tries:
                self._launch(flight)
            waited = 0.0 if flight.stranded_since is None else now - flight.stranded_since
            if waited > PATIENCE_S:
                who = " and ".join(names_in(flight.order))
                raise NoCluster(f"for {PATIENCE_S:.0f} s no worker was there that can play {who}")
        if self.idle() and self._took:
            self._speculate(now)

    def _speculate(self, now: float) -> None:
        """Nothing is left to give out: have the slowest played a second time, elsewhere."""
        slow_s = max(SLOW_S, SLOW * median(self._took))
        once = [each for each in self._flights if len(each.tries) == 1]
        late = [each for each in once if now - each.since > slow_s]
        if not late:
            return
        processing = self._processing()
        for flight in late[: len(self.idle())]:
            self._launch(flight, but=processing.get(str(flight.tries[0].key), ""))

    def _processing(self) -> dict[str, str]:
        """Which station has which task."""
        assert self._cluster.client is not None
        try:
            found = self._cluster.client.processing()
        except Exception:  # a line that breaks is told by the liaison
            return {}
        return {str(key): where for where, keys in found.items() for key in keys}

    def _resize(self) -> None:
        """As many berths as there are threads that can play; one more each where some can not."""
        stations = [each for each in self._cluster.stations.values() if each.troubles is not None]
        wanted = sum(each.threads for each in stations if not each.unfit)
        if any(trouble for each in stations for trouble in (each.troubles or {}).values()):
            wanted += len(stations)
        while len(self._berths) < max(wanted, 1):
            self._berths.append(Berth(self))
        for berth in self.idle()[: len(self._berths) - max(wanted, 1)]:
            self._berths.remove(berth)
