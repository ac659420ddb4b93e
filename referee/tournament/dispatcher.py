"""The dispatcher: it gives chunks to whoever can play them, and takes games back.

    sources (a tournament, a season) → chunks → pools (workers, a cluster, remote bots) → games

The dispatcher knows which chunk came from which source. It does not know why a source chose it, nor
how a pool plays it. Games are committed once a second: what was committed counts once, whatever
happens afterwards, and what was not is played again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection
from typing import Protocol

from msgspec import Struct

from referee.tournament.chunk import Batch, Chunk, Done, Failed, Report
from referee.tournament.crew import Crew, Hand, LostWorker, Place, Pool
from referee.tournament.telling import LiveReport

COMMIT_S = 1.0
LOST_IN_A_ROW = 5
"""So many workers may be lost without a single game in between. Then nothing is given out for a
while, unless the observer ends it all."""
REST_S = 30.0


class Source(Protocol):
    """Whoever has games to be played."""

    @property
    def label(self) -> str:
        """What comes before the name of a game of it."""

    @property
    def paced(self) -> bool:
        """Whether it keeps to the pace."""

    def widest(self) -> float:
        """How wide the widest rating is, in Elo: the pace depends on it."""

    def true_names(self, chunk: Chunk) -> tuple[str, str]:
        """What its tables call the two of a chunk, whatever these two are told."""

    def next_chunk(
        self, place: Place, absent: Collection[int] = (), at_hand: Collection[int] = ()
    ) -> Chunk | None:
        """Some games for a pool of this kind, in which these bots cannot play just now. Whoever
        plays them keeps processes of the bots that are at hand."""

    def keep(self, batch: Batch) -> Batch:
        """Games have come back; those of them that are kept."""

    def give_back(self, chunk: int, *, begun: bool = False) -> None:
        """A chunk has ended; `begun` says that games of it may have been begun and are lost."""

    def broken(self, chunk: Chunk, missing: Collection[int]) -> None:
        """It could not be played, since these bots did not come; or nobody knows why."""

    def commit(self) -> None: ...


class Pace(Protocol):
    """When the next chunk may begin."""

    def has_room(self) -> bool:
        """Whether the disk has room for more games."""

    def may_begin(self, widest_elo: float) -> bool: ...

    def begin(self, games: int) -> None: ...

    def give_back(self, games: int) -> None: ...


class Observer(Protocol):
    """Whoever follows what is dispatched."""

    def kept(self, source: Source, batch: Batch) -> None:
        """These games have come back, and their source has them."""

    def live(self, source: Source, chunk: Chunk, report: LiveReport) -> None:
        """How a game goes on that is being played."""

    def done(self, report: Done) -> None:
        """A chunk was played to its end, and how that went."""

    def ended(self, source: Source, chunk: Chunk) -> None:
        """Nobody plays this chunk any more, however it ended."""

    def failed(self, chunk: Chunk, why: str) -> None:
        """A chunk could not be played, through no fault of its bots."""

    def lost(self, why: LostWorker, in_a_row: int) -> None:
        """A worker has ended without being asked to."""


class _Flight(Struct):
    """A chunk that is being played."""

    source: Source
    chunk: Chunk
    played: int = 0
    """Games of it that have come back."""


class Dispatcher:
    """Everything that is being played."""

    def __init__(
        self,
        observer: Observer,
        pace: Pace | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.sources: list[Source] = []
        """In the order in which they are asked."""
        self.pools: list[Pool] = []
        """They share one pace, and take turns at being asked first."""
        self.games = 0
        """That have come back so far."""
        self._observer = observer
        self._pace = pace
        self._now = now
        self._flights: dict[int, _Flight] = {}
        self._lost = 0
        self._rest_until = -math.inf
        self._commit_at = now() + COMMIT_S

    @property
    def busy(self) -> int:
        """How many chunks are being played."""
        return len(self._flights)

    def busy_for(self, source: Source) -> bool:
        return any(flight.source is source for flight in self._flights.values())

    # Out.

    def give_out(self) -> None:
        """Give something to play to everybody who is free."""
        if self._now() < self._rest_until:
            return
        for pool in list(self.pools):
            if self._give_to(pool):
                # Whoever asks first gets what the pace allows: next time another one does.
                self.pools.remove(pool)
                self.pools.append(pool)

    def _give_to(self, pool: Pool) -> bool:
        """Whether the pool got something."""
        given = False
        while idle := pool.idle():
            chunk = self._next(pool, idle[0].at_hand)
            if chunk is None or not idle[0].give(chunk):
                break  # A bot has left meanwhile: whoever chose it will know better in a moment.
            given = True
        return given

    def _next(self, pool: Pool, at_hand: Collection[int]) -> Chunk | None:
        pace = self._pace
        if pace is not None and not pace.has_room():
            return None
        for source in self.sources:
            if pace is not None and source.paced and not pace.may_begin(source.widest()):
                continue
            chunk = source.next_chunk(pool.place, pool.absent(), at_hand)
            if chunk is not None:
                if pace is not None and source.paced:
                    pace.begin(_games(chunk))
                self._flights[chunk.id] = _Flight(source, chunk)
                return chunk
        return None

    # Back.

    def hear(self, crew: Crew, timeout_s: float) -> None:
        """What the workers of a pool have said."""
        for worker, said in crew.hear(timeout_s):
            if isinstance(said, LostWorker):
                self._lose(worker, said)
                continue
            for report in said:
                self._hear(worker, report)

    def _hear(self, worker: Hand, report: Report) -> None:
        if isinstance(report, Failed):
            order, worker.order = worker.order, None
            if isinstance(order, Chunk):
                self.fail(order.id, report.why)
            return
        if isinstance(report, Done):
            worker.order = None
        self.take(report)

    def take(self, report: Report) -> None:
        """A report on a chunk that is being played."""
        if isinstance(report, Batch):
            self._keep(report)
        elif isinstance(report, Done):
            self._observer.done(report)
            self.end(report.chunk)
        elif isinstance(report, LiveReport) and report.chunk in self._flights:
            flight = self._flights[report.chunk]
            self._observer.live(flight.source, flight.chunk, report)

    def fail(self, chunk: int, why: str, missing: Collection[int] = ()) -> None:
        """A chunk could not be played, since these bots did not come, or through no fault of its
        bots."""
        if chunk in self._flights:
            flight = self._flights[chunk]
            self._observer.failed(flight.chunk, why)
            flight.source.broken(flight.chunk, missing)
            self.end(chunk, begun=True)

    def end(self, chunk: int, *, begun: bool = False) -> None:
        """A chunk has ended; what was not played goes back, some of it maybe begun."""
        flight = self._flights.pop(chunk, None)
        if flight is None:
            return
        flight.source.give_back(chunk, begun=begun)
        self._observer.ended(flight.source, flight.chunk)
        if self._pace is not None and flight.source.paced:
            self._pace.give_back(_games(flight.chunk) - flight.played)

    def commit_in_time(self) -> None:
        """Commit, where a second has passed since the last time."""
        if self._now() >= self._commit_at:
            self.commit()

    def commit(self) -> None:
        """What all sources have kept, those included that are not asked any more."""
        self._commit_at = self._now() + COMMIT_S
        flying = [flight.source for flight in self._flights.values()]
        for source in {id(each): each for each in (*flying, *self.sources)}.values():
            source.commit()

    def _keep(self, batch: Batch) -> None:
        flight = self._flights.get(batch.chunk)
        if flight is None:
            return
        flight.played += len(batch.games)
        kept = flight.source.keep(batch)
        if kept.games:
            # A block whose games are kept already makes no progress when it is played again.
            self._lost = 0
            self.games += len(kept.games)
            self._observer.kept(flight.source, kept)

    def _lose(self, worker: Hand, lost: LostWorker) -> None:
        if isinstance(worker.order, Chunk):
            self.end(worker.order.id, begun=True)
        self._lost += 1
        self._observer.lost(lost, self._lost)
        if self._lost >= LOST_IN_A_ROW:
            self._rest_until = self._now() + REST_S
            self._lost = 0


def _games(chunk: Chunk) -> int:
    return sum(high - low + 1 for low, high in chunk.numbers)
