"""The hands of a cluster: orders out, reports back, whatever happens to the machines between.

A chunk is one task of dask, given to a station that can play both its bots and has a thread free.
It comes back as a whole or not at all, and counts the first time it comes: a chunk whose machine is
lost or silent is played again, and towards the end those that take longest are given to a second
machine as well.

What goes wrong on one machine is its own fault before it is anybody else's: an order that fails is
tried elsewhere, and so is a bot that does not come up on a machine where it never did.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from statistics import median

from msgspec.structs import replace

from referee.cluster import station
from referee.cluster.cluster import PATIENCE_S, Cluster, Lost, NoCluster
from referee.cluster.flights import Flight, Try
from referee.cluster.liaison import Answer, first_line
from referee.cluster.results import BadResult, Result, result_of
from referee.cluster.stations import Station, contestants_of, names_in
from referee.cluster.suspects import not_come_up
from referee.tournament.chunk import (
    Batch,
    Chunk,
    Failed,
    Order,
    Report,
    frame,
)
from referee.tournament.crew import LostWorker, Muster, Place

SLOW_S = 4.0
SLOW = 2.0
"""A chunk is slow that takes so many times as long as others do, and at least so long."""
KNOWN = 50
"""How many of the last chunks tell how long others take."""
ELSEWHERE = 3
"""On so many stations an order is tried that fails, before it is given up."""
BENCHED = 3
"""After so many failures in a row a station gets no more orders."""
LAPSES = 2
"""So often in a row a station may lack what it was sent."""
LOOK_S = 0.1
MUSTER_S = 0.5


class Berth:
    """Room for one order at a time somewhere on the cluster."""

    def __init__(self, crew: ClusterCrew) -> None:
        self._crew = crew
        self.order: Order | None = None

    @property
    def at_hand(self) -> Collection[int]:
        """Of the station that will most likely get the next order."""
        return self._crew.at_hand()

    def give(self, order: Order) -> bool:
        self.order = order
        self._crew.send(self, order)
        return True


class ClusterCrew:
    """All of them."""

    place: Place = "workers"

    def __init__(self, cluster: Cluster, scripts: dict[str, str], logs: Path | None) -> None:
        """`scripts` are the names under which variants' scripts travel, by path; `logs` is where
        the bots' stderr goes."""
        self._cluster = cluster
        self._scripts = scripts
        self._logs = logs
        self._client = cluster.client
        self._berths: list[Berth] = []
        self._flights: dict[Berth, Flight] = {}
        self._took: list[float] = []
        self._began = self._mustered = time.monotonic()
        self._muster = Muster(places=(), in_flight=0)
        self._looked = 0.0
        self._levels: set[str] = set()
        self._resize()

    def __len__(self) -> int:
        return len(self._berths)

    def idle(self) -> list[Berth]:
        return [berth for berth in self._berths if berth.order is None]

    def absent(self) -> tuple[int, ...]:
        """A bot that some stations cannot play waits for one that can."""
        return ()

    def at_hand(self) -> Collection[int]:
        """Bots whose processes are kept by the station that has most room."""
        ready = [each for each in self._cluster.stations.values() if each.is_ready]
        return max(ready, key=lambda each: each.free_threads).at_hand if ready else ()

    def muster(self) -> Muster:
        now = time.monotonic()
        if now - self._mustered >= MUSTER_S:
            self._mustered = now
            ready = [each for each in self._cluster.stations.values() if each.is_ready]
            flying = sum(bool(flight.tries) for flight in self._flights.values())
            places = tuple(each.place(self._began) for each in ready)
            self._muster = Muster(places=places, in_flight=flying)
        return self._muster

    def levels(self) -> set[str]:
        return self._levels

    def close(self) -> None:
        for flight in self._flights.values():
            flight.end_all()
        self._flights.clear()

    # Out.

    def send(self, berth: Berth, order: Order) -> None:
        if isinstance(order, Chunk) and order.variant in self._scripts:
            order = replace(order, variant=self._scripts[order.variant])
        flight = self._flights[berth] = Flight(berth, order)
        self._launch(flight)

    def _launch(self, flight: Flight, but: Collection[str] = ()) -> None:
        """Have it played by a station that has a thread free, if there is one; not by these."""
        if self._cluster.client is None:
            return
        able = [each for each in self._able(flight.order) if each.address not in but]
        if not able:
            if not but and flight.stranded_since is None:
                flight.stranded_since = time.monotonic()
            return
        flight.stranded_since = None
        fresh = [each for each in able if each.address not in flight.avoided] or able
        wanted = {each.id for each in contestants_of(flight.order)}
        with_room = [each for each in fresh if each.free_threads > 0]
        if with_room:
            where = max(with_room, key=lambda each: (len(each.at_hand & wanted), each.free_threads))
            order = frame(flight.order)[4:]
            future = self._cluster.submit(flight, station.work, order, on=where)
            if future is not None:
                flight.begin(where, future)

    def _able(self, order: Order) -> list[Station]:
        names = names_in(order)
        return [each for each in self._cluster.stations.values() if each.plays(names)]

    # Back.

    def hear(self, timeout_s: float) -> Iterator[tuple[Berth, list[Report] | LostWorker]]:
        # Whoever is idle by now has not been given anything, since there is nothing left.
        spare = len(self.idle())
        for answer in self._cluster.attend(timeout_s):
            flight: Flight = answer.about
            berth = flight.berth
            assert isinstance(berth, Berth)
            said = self._landed(flight, answer)
            if said is not None:
                del self._flights[berth]
                flight.end_all()
                if isinstance(said, LostWorker):
                    self._berths[self._berths.index(berth)] = Berth(self)
                yield berth, said
        if self._cluster.client is not self._client:
            self._begin_anew()
        now = time.monotonic()
        if now - self._looked >= LOOK_S:
            self._looked = now
            self._look_after(now)
            if spare and self._took:
                self._speculate(now, spare)
            self._resize()

    def _landed(self, flight: Flight, answer: Answer) -> list[Report] | LostWorker | None:
        """What is to be said of a flight; None where it goes on, or has come before."""
        one = flight.try_of(answer.future)
        if one is None:
            return None
        where, problem = one.station, answer.problem
        if problem is None:
            try:
                result = result_of(flight.order, answer.value)
            except BadResult as bad:
                return self._failed(flight, one, str(bad))
            failed = next((each for each in result.reports if isinstance(each, Failed)), None)
            if failed is not None:
                return self._failed(flight, one, failed.why)
            return self._came(flight, one, result)
        if isinstance(problem, station.Lacking):
            where.lapses += 1
            if where.lapses > LAPSES:
                return self._failed(flight, one, f"it does not keep {problem}")
            self._cluster.look_at(where)
        elif not isinstance(problem, Lost | station.Unwanted):
            return self._failed(flight, one, f"{type(problem).__name__}: {first_line(problem)}")
        flight.end(one)  # and it is looked after
        return None

    def _failed(self, flight: Flight, one: Try, why: str) -> LostWorker | None:
        """A station could not do it: another one tries, unless several could not."""
        where = one.station
        flight.end(one)
        flight.avoided.add(where.address)
        flight.failures.append(f"{where.address}: {why}")
        where.failures += 1
        if where.failures == BENCHED:
            self._cluster.refuse(where, f"it failed {BENCHED} times in a row: {why}")
        if len(flight.failures) >= ELSEWHERE and not flight.tries:
            return LostWorker(f"workers of the cluster failed: {'; '.join(flight.failures)}")
        return None

    def _came(self, flight: Flight, one: Try, result: Result) -> list[Report] | None:
        """What came back, if the station that it comes from can be trusted with these bots."""
        where = one.station
        absent = not_come_up(flight.order, result.reports)
        strange = {name: why for name, why in absent.items() if name not in where.proven}
        if strange and len(flight.avoided) < ELSEWHERE - 1 and self._others(flight, where):
            where.distrust(strange)
            flight.avoided.add(where.address)
            flight.end(one)
            return None
        where.failures = where.lapses = 0
        where.proven.update(name for name in names_in(flight.order) if name not in absent)
        self._keep(flight, where, result)
        return result.reports

    def _others(self, flight: Flight, but: Station) -> bool:
        """Whether another station can play an order, or may be able to in a moment."""
        names = names_in(flight.order)
        for each in self._cluster.stations.values():
            is_asked = not each.unfit and not each.silent and each.troubles is None
            if each is not but and (is_asked or each.plays(names)):
                return True
        return False

    def _keep(self, flight: Flight, where: Station, result: Result) -> None:
        """What is counted and kept beside the games themselves."""
        if isinstance(flight.order, Chunk):
            self._took = [*self._took[1 - KNOWN :], time.monotonic() - flight.since]
        where.at_hand = result.at_hand
        games = sum(len(each.games) for each in result.reports if isinstance(each, Batch))
        where.count(games)
        if games:
            self._levels.add(result.level.value)
        for name, text in result.logs.items():
            self._keep_log(name, text[-station.LOG_BYTES :])

    def _keep_log(self, name: str, text: bytes) -> None:
        if self._logs is None:
            return
        path = self._logs / name
        # A log is not worth a game; a name with a zero in it is a ValueError.
        with suppress(OSError, ValueError):
            if not path.resolve().is_relative_to(self._logs.resolve()):
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as log:
                log.write(text)

    # What goes wrong.

    def _begin_anew(self) -> None:
        """The line is another one, or there is none: nothing that was asked for is known there."""
        self._client = self._cluster.client
        for flight in self._flights.values():
            flight.end_all()
            flight.stranded_since = None

    def _look_after(self, now: float) -> None:
        """Whatever is with a station that is lost or silent goes to another one."""
        cluster = self._cluster
        if cluster.client is None:
            if now - cluster.silent_since > PATIENCE_S:
                raise NoCluster(
                    f"the dask scheduler at {cluster.address} has not answered for "
                    f"{PATIENCE_S:.0f} s: {cluster.silent}"
                )
            return
        for flight in self._flights.values():
            for one in list(flight.tries):
                where = one.station
                if where.silent or cluster.stations.get(where.address) is not where:
                    flight.end(one)
            if not flight.tries:
                self._launch(flight)
            waited = 0.0 if flight.stranded_since is None else now - flight.stranded_since
            if waited > PATIENCE_S or (waited > LOOK_S and self._nobody_fit()):
                raise NoCluster(self._why_stranded(flight))

    def _nobody_fit(self) -> bool:
        """Whether workers are there, and all of them have failed again and again."""
        stations = self._cluster.stations.values()
        return bool(stations) and all(each.failures >= BENCHED for each in stations)

    def _why_stranded(self, flight: Flight) -> str:
        stations = self._cluster.stations.values()
        if self._nobody_fit():
            told = "; ".join(f"{each.address}: {each.unfit}" for each in stations)
            return f"no worker of {self._cluster.address} can play any more: {told}"
        who = " and ".join(names_in(flight.order))
        unfit = "".join(f"; {each.address}: {each.unfit}" for each in stations if each.unfit)
        where = self._cluster.address
        return f"for {PATIENCE_S:.0f} s {where} had no worker that can play {who}{unfit}"

    def _speculate(self, now: float, spare: int) -> None:
        """Nothing is left to give out: have the slowest played a second time, elsewhere."""
        slow_s = max(SLOW_S, SLOW * median(self._took))
        for flight in self._flights.values():
            if len(flight.tries) == 1 and now - flight.since > slow_s and spare:
                self._launch(flight, but={flight.tries[0].station.address})
                spare -= 1

    def _resize(self) -> None:
        """As many berths as there are threads that can play; one more each where some can not."""
        stations = [each for each in self._cluster.stations.values() if each.is_ready]
        wanted = sum(each.threads for each in stations)
        if not all(each.plays_all for each in stations):
            wanted += len(stations)
        wanted = max(wanted, 1)
        while len(self._berths) < wanted:
            self._berths.append(Berth(self))
        if len(self._berths) > wanted:
            for berth in self.idle()[: len(self._berths) - wanted]:
                self._berths.remove(berth)
