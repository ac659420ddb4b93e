"""A cluster: its stations, kept up to date, and the way to have something done there.

Workers may come and go at any time, and so may the scheduler. Whoever joins is looked at, sent what
it lacks and made ready before it gets an order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any

import msgspec
from distributed import Client, Future

from referee.bots.confinement.levels import Level
from referee.cluster import station
from referee.cluster.liaison import LOCAL, Answer, Connected, Liaison, News, Roll, Silent, is_file
from referee.cluster.local import local_cluster
from referee.cluster.stations import Cargo, Station
from referee.mistake import REFUSED, Mistake
from referee.tournament.begin import cores
from referee.tournament.chunk import plain

WORKERS_S = 30.0
"""How long to wait for a first worker, and for those that are there to answer."""
ANSWER_S = 4.0
"""How long to wait for a scheduler at the start."""
PATIENCE_S = 300.0
"""How long a tournament waits for a scheduler that does not answer, or for any worker."""
COMMANDS = (
    *("bwrap", "cc", "g++", "rustc", "go", "javac", "java", "node"),
    *("perl", "ruby", "tclsh", "bash", "python3"),
)
"""What bots may need; whether a station has it is told by `referee doctor --cluster`."""


class NoCluster(Mistake):
    """A cluster that cannot be used; the message says why."""

    status = REFUSED


class Ask:
    """What a station was asked, other than to play."""

    def __init__(self, station: str, what: str) -> None:
        self.station = station
        self.what = what


class Cluster:
    """Open from now on; `close` lets go of it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._news: SimpleQueue[News] = SimpleQueue()
        self._keys = (f"referee-{time.time_ns():x}-{number}" for number in count(1))
        self._liaison = Liaison(address, self._news)
        self.client: Client | None = None
        self.stations: dict[str, Station] = {}
        self.silent = ""
        """Why there is no line; empty while there is one."""
        self.silent_since = time.monotonic()
        self.least: Level | None = None
        """What bots need of a station; None before that is settled."""
        self.cargo: Cargo | None = None
        self._held: dict[str, Future[Any]] = {}
        """Parcels and questions: dask forgets what nobody holds."""

    def close(self) -> None:
        self._held.clear()
        self._liaison.close()

    # What is asked of stations.

    def submit(
        self, about: object, call: Callable[..., Any], *args: Any, on: Collection[str]
    ) -> Future[Any]:
        """Have one of these stations do something; an Answer follows, unless the line breaks."""
        assert self.client is not None
        future = self.client.submit(
            call, *args, key=next(self._keys), workers=sorted(on), pure=False
        )
        future.add_done_callback(lambda done: self._news.put(Answer(about, done)))
        return future

    def attend(self, timeout_s: float) -> Iterator[Answer]:
        """Take in what has happened; gives what is none of the cluster's own business."""
        while True:
            try:
                news = self._news.get(timeout=timeout_s)
            except Empty:
                return
            timeout_s = 0.0
            if isinstance(news, Answer):
                if isinstance(news.about, Ask):
                    self._told(news.about, news.future)
                else:
                    yield news
            else:
                self._line(news)

    def _line(self, news: Connected | Silent | Roll) -> None:
        if isinstance(news, Silent):
            if not self.silent:
                self.silent_since = time.monotonic()
            self.silent, self.client = news.why, None
        elif isinstance(news, Connected):
            self.client, self.silent = news.client, ""
            self.stations.clear()
            self._held.clear()
        elif self.client is not None:
            self._roll(news)

    def _roll(self, roll: Roll) -> None:
        for address in self.stations.keys() - roll.threads.keys():
            del self.stations[address]
        for address, threads in roll.threads.items():
            if address not in self.stations:
                self.stations[address] = Station(address, threads)
                self._ask_for_survey(address)
            self.stations[address].threads = threads

    def _ask_for_survey(self, address: str) -> None:
        parcels = () if self.cargo is None else tuple(self.cargo.parcels)
        ask = Ask(address, "survey")
        future = self.submit(ask, station.survey, COMMANDS, parcels, on=[address])
        self._held[f"survey {address}"] = future

    def load(self, cargo: Cargo, least: Level) -> None:
        """From now on every station is to have this."""
        self.cargo, self.least = cargo, least
        for each in self.stations.values():
            each.troubles = None
            self._ask_for_survey(each.address)

    def make_ready(self, where: Station) -> None:
        """Send a station what it lacks, and have it build what has to be built."""
        cargo = self.cargo
        if cargo is None or where.survey is None or where.unfit:
            return
        where.troubles = None
        there = set(where.survey["parcels"])
        bodies = {
            name: self._parcel(name, parcel.body)
            for name, parcel in cargo.parcels.items()
            if name not in there
        }
        encode = msgspec.msgpack.Encoder(enc_hook=plain).encode
        self._held[f"ready {where.address}"] = self.submit(
            Ask(where.address, "ready"),
            station.make_ready,
            encode(cargo.bots),
            encode(cargo.confinement),
            cargo.limit_ms,
            bodies,
            on=[where.address],
        )

    def _parcel(self, name: str, body: bytes) -> Future[Any]:
        """On the cluster once; from there to whoever lacks it."""
        if name not in self._held:
            assert self.client is not None
            # Submitted and not scattered: if its holder goes, it can be had again.
            self._held[name] = self.client.submit(bytes, body, key=f"{next(self._keys)}-{name}")
        return self._held[name]

    def _told(self, ask: Ask, future: Future[Any]) -> None:
        where = self.stations.get(ask.station)
        if where is None:
            return
        if future.status != "finished":
            if future.status == "error":
                where.unfit = f"it cannot be asked: {_first_line(future.exception())}"
            return
        try:
            found = future.result()
        except Exception:  # the line broke while it came; over the next one it is asked anew
            return
        if ask.what == "survey":
            where.surveyed(found, self.least)
            self.make_ready(where)
        else:
            where.troubles = found

    # Waiting, at the start.

    def wait_for(self, settled: Callable[[Station], bool]) -> list[Station]:
        """All stations, once this holds for each of them and there is one. Raises NoCluster."""
        deadline = time.monotonic() + WORKERS_S
        while True:
            list(self.attend(0.1))
            there = list(self.stations.values())
            if there and all(each.unfit or settled(each) for each in there):
                return there
            building = self.cargo is not None and bool(there)
            if time.monotonic() > deadline and not building:
                raise NoCluster(self._why_nobody())
            if self.silent and time.monotonic() - self.silent_since > ANSWER_S:
                raise NoCluster(self._why_nobody())

    def _why_nobody(self) -> str:
        if self.silent or self.client is None:
            return f"no dask scheduler answers at {self.address}: {self.silent or 'no word'}"
        if not self.stations:
            return f"the dask scheduler at {self.address} has no workers; start some: dask worker"
        mute = [each.address for each in self.stations.values() if each.survey is None]
        return f"workers of {self.address} do not answer: {', '.join(mute)}"


@contextmanager
def cluster_at(address: str, jobs: int | None) -> Iterator[Cluster]:
    """The cluster of this address: a URL, a scheduler file, or `local`, which is started here."""
    if address == LOCAL:
        with local_cluster(jobs or cores()) as here, _opened(here) as cluster:
            yield cluster
        return
    if "://" not in address and not is_file(address):
        raise Mistake(
            f"--cluster takes tcp://HOST:PORT, a scheduler file, or local; {address} is no file"
        )
    with _opened(address) as cluster:
        yield cluster


@contextmanager
def _opened(address: str) -> Iterator[Cluster]:
    cluster = Cluster(address)
    try:
        yield cluster
    finally:
        cluster.close()


def _first_line(problem: BaseException | None) -> str:
    lines = str(problem).strip().splitlines()
    return f"{type(problem).__name__}: {lines[0]}" if lines else type(problem).__name__
