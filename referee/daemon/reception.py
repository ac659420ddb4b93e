"""The hall, from the daemon's side: its process, who is in it, and what is played there.

Guests come and go by themselves. A bot that was handed in is no guest: where it is to meet one, it
is started here and joins the hall through a relay (relays.py) for the time of one chunk.
"""

from __future__ import annotations

import contextlib
import ipaddress
import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from referee.arena.happenings import HallTerms
from referee.daemon.child import Child
from referee.daemon.journal import Journal
from referee.daemon.orders import (
    Admit,
    ChunkFailed,
    Close,
    Counters,
    Follow,
    GuestCame,
    GuestLeft,
    HallOrder,
    HallReport,
    Open,
    Opened,
    Play,
    hall_frame,
    read_hall_reports,
)
from referee.daemon.priorities import HALL
from referee.daemon.relays import Relays
from referee.links.keys import read_keys, write_keys
from referee.mistake import REFUSED, Mistake
from referee.tournament.chunk import Batch, Chunk, Done, Failed, Frames
from referee.tournament.crew import Place
from referee.tournament.dispatcher import Dispatcher
from referee.tournament.telling import LiveReport

MODULE = "referee.daemon.hall"
KEY = "server"
FOLLOWED = 20
"""Games that are told move by move at a time."""
MOST_CHUNKS = 100
AGAIN_S = 5.0
LEAVE_S = 3.0
REFUSALS_S = 10.0
"""From one line about those who were not let in to the next."""


class HallBroken(Mistake):
    """The hall could not be opened; says why."""

    status = REFUSED


class Waiting(Struct):
    """A chunk whose players have not all arrived."""

    chunk: Chunk
    until: float


class Refusals:
    """Tells who was not let in: how many, and why, and not for each of them."""

    def __init__(self, journal: Journal, now: Callable[[], float] = time.monotonic) -> None:
        self._journal = journal
        self._now = now
        self._told: Counter[str] = Counter()
        self._tell_at = -math.inf

    def look(self, refused: Mapping[str, int]) -> None:
        """So many have been refused so far, by why."""
        new = Counter(refused) - self._told
        if new and self._now() >= self._tell_at:
            self._tell_at = self._now() + REFUSALS_S
            self._told = Counter(refused)
            for why, times in sorted(new.items()):
                self._journal.warning("not let into the hall", why=why, times=times)


class Reception:
    """Who is in the hall, and what they play."""

    def __init__(
        self,
        endpoint: str,
        data: Path,
        dispatcher: Dispatcher,
        journal: Journal,
        relays: Relays,
        on_guest: Callable[[GuestCame | GuestLeft], None],
    ) -> None:
        """`on_guest` hears who came and who left; not of relays."""
        self.opened: Opened | None = None
        """Where it listens, once it does."""
        self.counters = Counters(
            connected=0, away=0, open_games=0, answers=0, refused={}, dropped={}
        )
        self.guests: dict[str, int] = {}
        """Who is there, and the number of its arrival."""
        self._refusals = Refusals(journal)
        self._secret = None if is_local(endpoint) else _server_secret(data)
        self._endpoint = endpoint
        self._dispatcher = dispatcher
        self._journal = journal
        self._relays = relays
        self._on_guest = on_guest
        self._child: Child | None = None
        self._frames = Frames()
        self._admit = Admit(keys={}, tokens={})
        self._start_at = 0.0
        self._chunks: dict[int, Chunk] = {}
        self._waiting: dict[int, Waiting] = {}
        self._closing = False

    @property
    def fd(self) -> int | None:
        return None if self._child is None else self._child.fd

    # What the coordinator wants of it.

    def admit(self, keys: dict[str, str], tokens: dict[str, str]) -> None:
        """Who may come in from now on."""
        if (keys, tokens) != (self._admit.keys, self._admit.tokens):
            self._admit = Admit(keys=keys, tokens=tokens)
            self._send_admit()

    def look(self, now: float) -> None:
        """Start it where it does not run, hear what it says, and see to those who wait."""
        if self._child is None:
            if now >= self._start_at and not self._closing:
                self._start_at = now + AGAIN_S
                self._start()
            return
        data = self._child.read()
        if data is None:
            self._ended()
            return
        for report in read_hall_reports(self._frames, data):
            self._take(report)
        self._look_at_relays()
        for waiting in [each for each in self._waiting.values() if now > each.until]:
            self._miss(waiting.chunk, "a bot did not come to the hall in time")

    def close(self, finish_s: float) -> None:
        """No new games; what is played may end, and then it leaves."""
        self._closing = True
        for waiting in list(self._waiting.values()):
            self._done(waiting.chunk.id)
        self._send(Close(finish_s))

    def end(self) -> None:
        """Be sure that it is gone."""
        self._relays.close()
        if self._child is not None:
            self._child.close(LEAVE_S)
            self._child = None
        for chunk in list(self._chunks):
            self._done(chunk)

    @property
    def is_open(self) -> bool:
        return self._child is not None

    # A pool with room for one more chunk, until there are many.

    place: Place = "hall"

    def absent(self) -> Collection[int]:
        """Versions that cannot play here now: whoever plays already, and of those that were handed
        in all that have no relay to come by."""
        chunks = self._chunks.values()
        busy = {each.id for chunk in chunks for each in (chunk.first, chunk.second)}
        return busy | set(self._relays.absent())

    at_hand = ()
    """A bot in the hall is nobody's to keep."""

    def idle(self) -> list[Reception]:
        is_ready = self.opened is not None and not self._closing
        return [self] if is_ready and len(self._chunks) < MOST_CHUNKS else []

    def give(self, chunk: Chunk) -> bool:
        self._chunks[chunk.id] = chunk
        both = (chunk.first, chunk.second)
        due = [each for each in both if each.bot.name not in self.guests]
        if any(each.out for each in both):
            due = []  # It is lost by forfeit: nobody has to be there.
        if not all(each.bot.command for each in due):
            # A guest that has left meanwhile. Nobody can bring it here but itself.
            self._done(chunk.id)
            return False
        if not due:
            self._play(chunk)
            return True
        assert self.opened is not None
        until = self._relays.start(due, chunk, self.opened)
        self._waiting[chunk.id] = Waiting(chunk, until)
        self._send_admit()
        return True

    def _look_at_relays(self) -> None:
        failed, left = self._relays.look(self.guests)
        for chunk in failed:
            if chunk in self._waiting:
                self._miss(self._waiting[chunk].chunk, "a bot did not start")
        if left:
            self._send_admit()

    # The process.

    def _start(self) -> None:
        self._frames = Frames()
        self._child = Child(MODULE, "hall", self._journal, nice=HALL)
        self._send(
            Open(
                endpoint=self._endpoint,
                secret=self._secret,
                admit=self._whole_admit(),
                terms=HallTerms(),
            )
        )
        self._send(Follow(FOLLOWED))

    def _send(self, order: HallOrder) -> None:
        if self._child is not None:
            self._child.send(hall_frame(order))

    def _send_admit(self) -> None:
        self._send(self._whole_admit())

    def _whole_admit(self) -> Admit:
        return Admit(
            keys={**self._admit.keys, **self._relays.keys()},
            tokens={**self._admit.tokens, **self._relays.tokens()},
        )

    def _ended(self) -> None:
        assert self._child is not None
        self._child.close(LEAVE_S)
        if not self._closing:
            self._journal.error("the hall has ended", how=self._child.how_it_ended())
        self._child = None
        self._refusals = Refusals(self._journal)
        if self.opened is not None:
            # It comes back at the port that it had, though any free one would have done.
            self._endpoint = self.opened.endpoint
        self.opened = None
        for name in sorted(self.guests):
            self._left(GuestLeft(name, "the hall has ended"))
        for chunk in list(self._chunks):
            self._done(chunk)

    # What it says.

    def _take(self, report: HallReport) -> None:
        if isinstance(report, Batch):
            self._dispatcher.take(report)
        elif isinstance(report, Done):
            if report.chunk in self._chunks:
                self._dispatcher.take(report)
                self._done(report.chunk)
        elif isinstance(report, ChunkFailed):
            self._dispatcher.fail(report.chunk, report.why)
            self._done(report.chunk)
        elif isinstance(report, GuestCame):
            self._came(report)
        elif isinstance(report, GuestLeft):
            self._left(report)
        elif isinstance(report, Counters):
            self.counters = report
            self._refusals.look(report.refused)
        elif isinstance(report, LiveReport):
            self._dispatcher.take(report)
        elif isinstance(report, Opened):
            self.opened = report
        elif isinstance(report, Failed):
            if self.opened is None:
                raise HallBroken(report.why)
            self._journal.error("the hall failed", why=report.why)

    def _came(self, report: GuestCame) -> None:
        self.guests[report.name] = report.arrival
        if not self._relays.knows(report.name):
            self._on_guest(replace(report, hello=replace(report.hello, token=None)))
        for waiting in list(self._waiting.values()):
            chunk = waiting.chunk
            if {chunk.first.bot.name, chunk.second.bot.name} <= self.guests.keys():
                del self._waiting[chunk.id]
                self._play(chunk)

    def _left(self, report: GuestLeft) -> None:
        self.guests.pop(report.name, None)
        if not self._relays.knows(report.name):
            self._on_guest(report)
            for waiting in list(self._waiting.values()):
                if report.name in (waiting.chunk.first.bot.name, waiting.chunk.second.bot.name):
                    self._done(waiting.chunk.id)

    def _play(self, chunk: Chunk) -> None:
        first, second = chunk.first.bot.name, chunk.second.bot.name
        # Of a game that is lost by forfeit nobody need be there.
        arrivals = (self.guests.get(first, 0), self.guests.get(second, 0))
        self._send(Play(chunk=chunk, guests=(first, second), arrivals=arrivals))

    def _miss(self, chunk: Chunk, why: str) -> None:
        """Not everybody came. It is nobody's fault where those came that are started here."""
        ours = [each for each in (chunk.first, chunk.second) if each.bot.command]
        missing = [each.id for each in ours if each.bot.name not in self.guests]
        if missing:
            self._dispatcher.fail(chunk.id, why, missing)
        self._done(chunk.id)

    def _done(self, chunk: int) -> None:
        self._waiting.pop(chunk, None)
        if self._chunks.pop(chunk, None) is not None:
            self._dispatcher.end(chunk)
            self._relays.end(chunk)


def is_local(endpoint: str) -> bool:
    """Whether nobody from another machine can come in by it."""
    kind, _, where = endpoint.partition("://")
    if kind != "tcp":
        return kind in ("ipc", "inproc")
    host = where.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def _server_secret(data: Path) -> str:
    """The daemon's own key, made on the first start."""
    path = data / f"{KEY}.key"
    if not path.exists():
        write_keys(data, KEY)
    return read_keys(path).secret
