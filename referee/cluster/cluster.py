"""A cluster: its stations, kept up to date, and the way to have something done there.

Workers may come and go at any time, and so may the scheduler. Whoever joins is looked at, sent what
it lacks and made ready before it gets an order.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any

import msgspec
from distributed import Client, Future

from referee.arena.core import own_cores
from referee.bots.confinement.levels import Level
from referee.cluster import station
from referee.cluster.address import LOCAL, url_of
from referee.cluster.liaison import Answer, Connected, Liaison, News, Roll, Silent, first_line
from referee.cluster.local import local_cluster
from referee.cluster.stations import Cargo, Station, Trouble
from referee.mistake import REFUSED, Mistake
from referee.tournament.chunk import plain
from referee.version import __version__

WORKERS_S = 30.0
"""How long to wait for a first worker, and for those that are there to answer."""
ANSWER_S = 6.0
"""How long to wait for a scheduler at the start."""
PATIENCE_S = 300.0
"""How long a tournament waits for a scheduler that does not answer, or for any worker."""
WORD_S = 3.0
"""After so much waiting at the start somebody is told what for."""
FETCH_S = 60.0
"""How long a result may take from a worker to here."""
COMMANDS = (
    *("bwrap", "cc", "g++", "rustc", "go", "javac", "java", "node"),
    *("perl", "ruby", "tclsh", "bash", "python3"),
)
"""What bots may need; whether a station has it is told by `referee doctor --cluster`."""
VERSION = "__import__('referee.version', fromlist=['']).__version__"
"""Asked as text: dask ends a worker that is sent a function of a module that it does not have."""


class NoCluster(Mistake):
    """A cluster that cannot be used; the message says why."""

    status = REFUSED


class Ask:
    """What a station was asked, other than to play."""

    def __init__(self, station: Station, what: str) -> None:
        self.station = station
        self.what = what


class Lost(Exception):
    """Nobody at the cluster knows any more of what was asked."""


class Cluster:
    """Open from now on; `close` lets go of it."""

    def __init__(self, where: str, note: Callable[[str], None]) -> None:
        """`note` is given sentences for whoever watches."""
        self.address = where
        self._note = note
        self._news: SimpleQueue[News] = SimpleQueue()
        self._keys = (f"referee-{time.time_ns():x}-{number}" for number in count(1))
        self._liaison = Liaison(where, self._news)
        self.client: Client | None = None
        self.stations: dict[str, Station] = {}
        self.silent = ""
        """Why there is no line; empty while there is one."""
        self.silent_since = time.monotonic()
        self.least: Level | None = None
        """What bots need of a station; None before that is settled."""
        self.cargo: Cargo | None = None
        # Dask forgets what nobody holds.
        self._asked: dict[Ask, list[Future[Any]]] = {}
        """What was asked, and the parcels that go with it."""
        self._heard = False
        """Whether anything came over the line since it is there."""

    def close(self) -> None:
        self._asked.clear()
        self._liaison.close()

    # What is asked of stations.

    def submit(
        self, about: object, call: Callable[..., Any], *args: Any, on: Station
    ) -> Future[Any] | None:
        """Have a station do something; an Answer follows, unless the line breaks. None where it has
        broken by now, which is told in a moment."""
        client, future = self.client, self._submitted(call, *args, on=on)
        if client is None or future is None or client.loop is None:
            return None
        loop = client.loop
        future.add_done_callback(lambda done: loop.add_callback(self._bring, client, about, done))
        return future

    def _submitted(self, call: Callable[..., Any], *args: Any, on: Station) -> Future[Any] | None:
        if self.client is None:
            return None
        key = next(self._keys)
        try:
            return self.client.submit(call, *args, key=key, workers=[on.address], pure=False)
        except Exception:  # dask has many words for a client that was closed a moment ago
            return None

    async def _bring(self, client: Client, about: object, future: Future[Any]) -> None:
        """In dask's own thread, so that nobody else waits where a worker has a result and then
        stands still."""
        value, problem = None, None
        try:
            value = await _fetched(client, future)
        except Exception as failed:
            problem = failed
        self._news.put(Answer(about, future, value, problem))

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
                    self._told(news.about, news)
                else:
                    yield news
            else:
                self._line(news)

    def _line(self, news: Connected | Silent | Roll) -> None:
        if isinstance(news, Silent):
            if self._heard:
                self.silent_since = time.monotonic()
            self.silent, self.client, self._heard = news.why, None, False
        elif isinstance(news, Connected):
            self.client, self.silent = news.client, ""
            self.stations.clear()
            self._asked.clear()
        elif self.client is not None:
            self._heard = True
            self._roll(news)

    def _roll(self, roll: Roll) -> None:
        for address in self.stations.keys() - roll.workers.keys():
            gone = self.stations.pop(address)
            for ask in [ask for ask in self._asked if ask.station is gone]:
                del self._asked[ask]
        newest = max((each.last_seen for each in roll.workers.values()), default=0.0)
        for address, present in roll.workers.items():
            where = self.stations.get(address)
            if where is None:
                where = self.stations[address] = Station(address, present.threads)
                where.to_be_asked = "version"
            where.threads = present.threads
            where.heard_of(present.last_seen, newest)
            if where.to_be_asked == "version":
                self._ask(where, "version", eval, VERSION)
            elif where.to_be_asked:
                self.look_at(where)

    def _ask(
        self,
        where: Station,
        what: str,
        call: Callable[..., Any],
        *args: Any,
        parcels: Collection[Future[Any]] = (),
    ) -> None:
        ask = Ask(where, what)
        where.to_be_asked = ""
        future = self.submit(ask, call, *args, on=where)
        if future is not None:
            self._asked[ask] = [future, *parcels]

    def load(self, cargo: Cargo, least: Level) -> None:
        """From now on every station is to have this."""
        self.cargo, self.least = cargo, least
        for each in self.stations.values():
            if each.unfit:
                self.refuse(each, each.unfit)
            else:
                self.look_at(each)

    def look_at(self, where: Station) -> None:
        """Ask a station what it has, and have it made ready then."""
        where.troubles = None
        parcels = () if self.cargo is None else tuple(self.cargo.parcels)
        self._ask(where, "survey", station.survey, COMMANDS, parcels)

    def refuse(self, where: Station, why: str) -> None:
        """It gets nothing to play, for this reason."""
        where.unfit = why
        if self.cargo is not None:
            self._note(f"{where.address} plays nothing: {why}")

    def _make_ready(self, where: Station, cargo: Cargo, there: set[str]) -> None:
        """Send a station what it lacks, and have it build what has to be built."""
        bodies: dict[str, Future[Any]] = {}
        for name, parcel in cargo.parcels.items():
            if name not in there:
                # To itself, so that nobody waits for a machine that had it and stands still.
                future = self._submitted(bytes, parcel.body, on=where)
                if future is None:
                    return  # The line is gone.
                bodies[name] = future
        encode = msgspec.msgpack.Encoder(enc_hook=plain).encode
        told = (encode(cargo.bots), encode(cargo.confinement), cargo.limit_ms, bodies)
        self._ask(where, "ready", station.make_ready, *told, parcels=bodies.values())

    def _told(self, ask: Ask, answer: Answer) -> None:
        where = ask.station
        self._asked.pop(ask, None)
        if self.stations.get(where.address) is not where:
            return
        if isinstance(answer.problem, Lost):
            where.to_be_asked = ask.what  # at the next roll
        elif answer.problem is not None:
            self.refuse(where, _why_unasked(answer.problem))
        elif ask.what == "version":
            if answer.value == __version__:
                self.look_at(where)
            else:
                self.refuse(where, f"it has referee {answer.value}, and this is {__version__}")
        else:
            try:
                self._take(where, ask.what, answer.value)
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                self.refuse(where, f"its answer to {ask.what} cannot be read ({error})")

    def _take(self, where: Station, what: str, found: Any) -> None:
        if what == "survey":
            self._surveyed(where, found)
            return
        troubles = {bot: None if each is None else Trouble(*each) for bot, each in found.items()}
        where.made_ready(troubles)

    def _surveyed(self, where: Station, found: dict[str, Any]) -> None:
        where.surveyed(found)
        unfit = where.unfit or ("" if self.least is None else where.refuses(self.least))
        if unfit:
            self.refuse(where, unfit)
        elif self.cargo is not None:
            self._make_ready(where, self.cargo, set(found["parcels"]))

    # Waiting, at the start.

    def wait_for(
        self, settled: Callable[[Station], bool], limit_s: float = WORKERS_S
    ) -> list[Station]:
        """Stations of which this holds, or which are unfit, once there is one and all others are
        silent, or have not answered within the limit. Raises NoCluster."""
        began, told = time.monotonic(), False
        while True:
            list(self.attend(0.1))
            there = list(self.stations.values())
            done = [each for each in there if each.unfit or settled(each)]
            waited = time.monotonic() - began
            if done and (waited > limit_s or all(each in done or each.silent for each in there)):
                return done
            mute_s = time.monotonic() - self.silent_since if self.silent else 0.0
            if waited > limit_s or mute_s > ANSWER_S:
                raise NoCluster(self._why_nobody())
            if waited > WORD_S and not told and self.client is not None:
                told = True
                self._note(
                    f"waiting for {'a worker' if not there else 'workers'} of {self.address}"
                )

    def _why_nobody(self) -> str:
        if self.client is None:
            return f"no dask scheduler answers at {self.address}: {self.silent or 'no word'}"
        if not self.stations:
            return f"the dask scheduler at {self.address} has no workers; start some: dask worker"
        return f"workers of {self.address} do not answer: {', '.join(self.stations)}"


@contextmanager
def cluster_at(
    where: str, jobs: int | None, note: Callable[[str], None] = lambda _: None
) -> Iterator[Cluster]:
    """The cluster of this address: a URL, a scheduler file, or `local`, which is started here.
    Raises BadAddress."""
    if where == LOCAL:
        with local_cluster(jobs or own_cores()) as here, _opened(here, note) as cluster:
            yield cluster
        return
    url_of(where)
    with _opened(where, note) as cluster:
        yield cluster


@contextmanager
def _opened(where: str, note: Callable[[str], None]) -> Iterator[Cluster]:
    cluster = Cluster(where, note)
    try:
        yield cluster
    finally:
        cluster.close()


async def _fetched(client: Client, future: Future[Any]) -> Any:
    """What a task came to. Raises what it raised, and Lost."""
    if future.status == "error":
        return await future.result()  # which is here already, and raised
    if future.status != "finished":
        raise Lost
    if client.scheduler is None:
        raise Lost
    try:
        # Dask's own gather asks for several at a time, and gets none of them until it has all.
        asked = client.scheduler.gather(keys=[future.key])
        found = await asyncio.wait_for(asked, FETCH_S)
    except OSError:  # the line breaks, or it takes too long: nobody's fault
        raise Lost from None
    if found["status"] != "OK":
        raise Lost
    return found["data"][future.key]


def _why_unasked(problem: BaseException) -> str:
    if isinstance(problem, ModuleNotFoundError) and (problem.name or "").startswith("referee"):
        return f"it has no referee; install referee[cluster] {__version__} there"
    return f"it cannot be asked: {type(problem).__name__}: {first_line(problem)}"
