"""Live events: from the coordinator to any number of followers.

    coordinator ──► hearing ──► Live ──a batch every quarter of a second──► ring ──► following

An event is encoded once for everybody who may see the same of it. A follower has no queue of its
own: it reads the ring of the last batches at its own pace, and where it has fallen behind the whole
ring, or does not read at all, it is let go and may come back. So a slow follower costs nothing, and
memory does not grow with any of them. That nothing happened is told as a comment in the same way.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

import msgspec

BATCH_S = 0.25
"""Five hundred followers of a busy hall get four writes a second each, not hundreds."""
HEARTBEAT_S = 15.0
RING = 120
"""Batches that are kept: half a minute of a busy hall."""
MOST_IN_BATCH = 250
"""Events; those beyond are dropped and counted. Nobody reads a thousand lines a second."""
MOST_ENDS = 12
"""Of these, ends of games that nobody followed: quick bots play thousands a second."""
MOST_FOLLOWED = 1000
KINDS = ("guest", "began", "moved", "ended", "standings", "submission", "tournament")
"""What followers hear. Other types are for the web process itself."""
OF_GAMES = ("began", "moved", "ended")
"""Of which there may be many; what else happens always has room."""

Event = dict[str, Any]
Sight = Callable[[Event], tuple[Event | None, Event]]
"""What the public sees of an event, None where it sees nothing; and what organisers see."""


class _Encoded(NamedTuple):
    kind: str
    game: str
    public: bytes
    """Empty where the public does not see it."""
    private: bytes
    """For organisers, from whom nothing is kept."""


class _Batch(NamedTuple):
    number: int
    events: list[_Encoded]
    beat: bool
    """Whether somebody for whom there is nothing in it hears so."""
    frames: dict[tuple[Wanted, bool], bytes]
    """What was put together of it for one kind of follower, for all of that kind."""


class Wanted(NamedTuple):
    """What a follower asks for: of every kind, or of some; of every game, or of one."""

    kinds: frozenset[str] = frozenset(KINDS)
    game: str = ""

    def takes(self, event: _Encoded) -> bool:
        if event.kind not in self.kinds:
            return False
        return not self.game or event.game in ("", self.game)


class Live:
    """The ring of the last batches, and who follows it."""

    def __init__(self, sight: Sight = lambda event: (event, event)) -> None:
        self._sight = sight
        self._era = f"{time.time_ns() // 1_000_000:x}"
        """Of this process: the numbers of another mean nothing here."""
        self._ring: deque[_Batch] = deque(maxlen=RING)
        self._waiting: list[_Encoded] = []
        self._ends = 0
        self._followed: dict[str, None] = {}
        """Games of which the beginning was told."""
        self._next = 1
        self._arrival = asyncio.Event()
        self._closed = False
        self._beat_at = time.monotonic()
        self.listeners: list[Callable[[Event], None]] = []
        """Called with every event as it came."""
        self.counts: Counter[str] = Counter()
        """Events by type, and what was dropped."""
        self.heard_at: float | None = None
        """When the coordinator was heard last, by the monotonic clock."""
        self.followers = 0

    # In.

    def tell(self, event: Event) -> None:
        """One event; followers hear of it with the next batch."""
        kind = str(event.get("type", ""))
        self.counts[kind] += 1
        self.heard_at = time.monotonic()
        for listener in self.listeners:
            listener(event)
        if kind not in KINDS:
            return
        room = MOST_IN_BATCH if kind in OF_GAMES else 2 * MOST_IN_BATCH
        if len(self._waiting) >= room or self._is_one_too_many(kind, event):
            self.counts["dropped"] += 1
            return
        seen, whole = self._sight(event)
        private = _block(kind, whole)
        public = b"" if seen is None else private if seen is whole else _block(kind, seen)
        self._waiting.append(_Encoded(kind, str(event.get("game", "")), public, private))

    def _is_one_too_many(self, kind: str, event: Event) -> bool:
        """Whether it is one of the many games of which nobody saw the beginning."""
        game = str(event.get("game", ""))
        if kind == "began":
            self._followed[game] = None
            while len(self._followed) > MOST_FOLLOWED:
                del self._followed[next(iter(self._followed))]
        elif kind == "ended" and game in self._followed:
            del self._followed[game]
        elif kind == "ended":
            self._ends += 1
            return self._ends > MOST_ENDS
        return False

    async def tick(self) -> None:
        """Hand on what came, four times a second, until cancelled."""
        while True:
            await asyncio.sleep(BATCH_S)
            self.hand_on()

    def hand_on(self) -> None:
        """What came since the last time, or now and then that nothing did, as a batch."""
        now = time.monotonic()
        beat = now - self._beat_at >= HEARTBEAT_S
        if not self._waiting and not beat:
            return
        if beat:
            self._beat_at = now
        self._ring.append(_Batch(self._next, self._waiting, beat, {}))
        self._waiting = []
        self._ends = 0
        self._next += 1
        self._wake()

    def close(self) -> None:
        """Let every follower go."""
        self._closed = True
        self._wake()

    def _wake(self) -> None:
        arrival, self._arrival = self._arrival, asyncio.Event()
        arrival.set()

    # Out.

    @property
    def last(self) -> str:
        """The id of the newest batch. Whoever looks at running games now and follows from here on
        misses nothing; some events may tell what was seen already."""
        return f"{self._era}-{self._next - 1}"

    async def follow(
        self, wanted: Wanted, *, private: bool = False, last: str = ""
    ) -> AsyncIterator[bytes]:
        """What a follower is to be sent after the batch with this id, until it falls behind or the
        process ends."""
        at = self._after(last)
        yield b"retry: 2000\n: following\n\n"
        while not self._closed:
            while at < self._next:
                if at < self._ring[0].number:
                    self.counts["slow followers"] += 1
                    return
                frame = self._frame(self._ring[at - self._ring[0].number], wanted, private)
                at += 1
                if frame:
                    yield frame
            if at == self._next and not self._closed:
                await self._arrival.wait()

    def _after(self, last: str) -> int:
        """The batch that a follower begins with; one that comes back may have missed some."""
        era, _, number = last.partition("-")
        if era == self._era and number.isdecimal() and len(number) < 12 and self._ring:
            return min(max(int(number) + 1, self._ring[0].number), self._next)
        return self._next

    def _frame(self, batch: _Batch, wanted: Wanted, private: bool) -> bytes:
        key = (wanted, private)
        frame = batch.frames.get(key)
        if frame is None:
            taken = [event for event in batch.events if wanted.takes(event)]
            blocks = [event.private if private else event.public for event in taken]
            told = b"\n".join(block for block in blocks if block)
            ident = f"id: {self._era}-{batch.number}\n\n".encode()
            quiet = b": still here\n\n" if batch.beat else b""
            frame = told + ident if told else quiet
            if len(batch.frames) < 1000:
                batch.frames[key] = frame
        return frame


def called_of(event: Event) -> dict[str, str]:
    """Who is meant by the names in an event's lines, where those are made up."""
    called = event.get("called")
    found = called if isinstance(called, dict) else {}
    return {str(told): str(true) for told, true in list(found.items())[:2] if told}


def _block(kind: str, event: Event) -> bytes:
    """One event as lines of the stream, without the blank line that ends it."""
    return b"event: %s\ndata: %s\n" % (kind.encode(), msgspec.json.encode(event))
