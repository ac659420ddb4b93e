"""Where games are played: chunks go out to whoever is free, and come back as games.

Sources (the season, a scheduled tournament) give chunks and take games; places (the workers, the
hall) play them. The floor knows which chunk came from which source and nothing of why.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

from referee.daemon.crew import Crew
from referee.daemon.journal import Journal
from referee.daemon.pace import Pace
from referee.daemon.watched import Watched
from referee.ladder.season import Place
from referee.tournament.chunk import Batch, Chunk, Done, Failed, Report
from referee.tournament.crew import LostWorker
from referee.tournament.telling import LiveReport
from referee.tournament.workers import Worker

LOST_IN_A_ROW = 5
"""So many workers may be lost without a single game in between; then everybody takes a break."""
BREAK_S = 30.0


class Source(Protocol):
    """Whoever has games to be played."""

    @property
    def paced(self) -> bool:
        """Whether it keeps to the pace of the ladder."""

    @property
    def label(self) -> str:
        """What comes before the name of a game of it."""

    def true_names(self, chunk: Chunk) -> tuple[str, str]:
        """What its tables call the two of a chunk, whatever these two are told."""

    def widest(self) -> float:
        """How wide the widest rating is, in Elo."""

    def next_chunk(self, place: Place, absent: Collection[int] = ()) -> Chunk | None: ...

    def keep(self, batch: Batch) -> None: ...

    def give_back(self, chunk: int, *, begun: bool = False) -> None:
        """A chunk has ended; `begun` says that games of it may have been begun and are lost."""

    def broken(self, chunk: Chunk, missing: Collection[int]) -> None:
        """It could not be played, since these bots did not come; or nobody knows why."""

    def commit(self) -> None: ...


class HallPlace(Protocol):
    """The hall, as a place to play."""

    def absent(self) -> Collection[int]:
        """Versions that cannot play there now."""

    def has_room(self) -> bool: ...

    def give(self, chunk: Chunk) -> bool:
        """Whether it is played there; where somebody has left, it goes back unplayed."""


class Floor:
    """Everything that is being played."""

    def __init__(
        self,
        crew: Crew,
        pace: Pace,
        journal: Journal,
        now: Callable[[], float],
        watched: Watched,
    ) -> None:
        self.sources: list[Source] = []
        """In the order in which they are asked."""
        self.hall: HallPlace | None = None
        self.games = 0
        """That came back since the daemon started."""
        self.errors = 0
        self._crew = crew
        self._pace = pace
        self._journal = journal
        self._now = now
        self._watched = watched
        self._out: dict[int, tuple[Source, Chunk, int]] = {}
        """Chunks that are being played: whose they are, and how many games have come back."""
        self._lost = 0
        self._break_until = 0.0
        self._hall_is_next = False

    @property
    def busy(self) -> int:
        """How many chunks are being played."""
        return len(self._out)

    def busy_for(self, source: Source) -> bool:
        return any(owner is source for owner, _, _ in self._out.values())

    def give_out(self) -> None:
        """Give everybody who is free something to play."""
        if self._now() < self._break_until:
            return
        # They share one pace, and whoever asks first gets what it allows: so they take turns.
        if self._hall_is_next:
            self._give_to_hall()
            self._give_to_workers()
        else:
            self._give_to_workers()
            self._give_to_hall()

    def _give_to_workers(self) -> None:
        for worker in self._crew.idle():
            chunk = self._next("workers", ())
            if chunk is None:
                break
            worker.give(chunk)
            self._hall_is_next = True

    def _give_to_hall(self) -> None:
        hall = self.hall
        while hall is not None and hall.has_room():
            chunk = self._next("hall", hall.absent())
            if chunk is None:
                break
            if not hall.give(chunk):
                break  # Whoever chose it will know better in a moment.
            self._hall_is_next = False

    def _next(self, place: Place, absent: Collection[int]) -> Chunk | None:
        if not self._pace.has_room():
            return None
        for source in self.sources:
            if source.paced and not self._pace.may_begin(source.widest()):
                continue
            chunk = source.next_chunk(place, absent)
            if chunk is not None:
                if source.paced:
                    self._pace.begin(_games(chunk))
                self._out[chunk.id] = (source, chunk, 0)
                return chunk
        return None

    def hear(self) -> None:
        """What the workers have said."""
        for worker, said in self._crew.hear(0):
            if isinstance(said, LostWorker):
                self._lose(worker, said)
                continue
            for report in said:
                if isinstance(report, Done | Failed):
                    order, worker.order = worker.order, None
                    if isinstance(report, Failed) and isinstance(order, Chunk):
                        self.fail(order.id, report.why)
                        continue
                self.take(report)

    def take(self, report: Report) -> None:
        """A report of somebody who plays."""
        if isinstance(report, Batch):
            self._keep(report)
        elif isinstance(report, Done):
            for why, times in report.errors.items():
                self.errors += times
                self._journal.error("a variant failed, nobody loses by it", why=why, times=times)
            self.end(report.chunk)
        elif isinstance(report, LiveReport) and report.chunk in self._out:
            names = self._true_names(report.chunk)
            self._watched.tell(self._out[report.chunk][0].label, report, names)

    def fail(self, chunk: int, why: str, missing: Collection[int] = ()) -> None:
        """A chunk could not be played, since these bots did not come, or through no fault of its
        bots."""
        if chunk in self._out:
            source, order, _ = self._out[chunk]
            self.errors += 1
            self._journal.error("a chunk could not be played", why=why, games=_told(order))
            source.broken(order, missing)
            self.end(chunk, begun=True)

    def end(self, chunk: int, *, begun: bool = False) -> None:
        """A chunk has ended; what was not played goes back, some of it maybe begun."""
        if chunk not in self._out:
            return
        source, order, played = self._out.pop(chunk)
        source.give_back(chunk, begun=begun)
        self._watched.left(source.label, chunk)
        if source.paced:
            self._pace.give_back(_games(order) - played)
        source.commit()

    def commit(self) -> None:
        for source in {id(each): each for each, _, _ in self._out.values()}.values():
            source.commit()
        for source in self.sources:
            source.commit()

    def _keep(self, batch: Batch) -> None:
        if batch.chunk not in self._out:
            return
        source, order, played = self._out[batch.chunk]
        source.keep(batch)
        self._watched.kept(batch)
        self._out[batch.chunk] = (source, order, played + len(batch.games))
        self.games += len(batch.games)
        self._lost = 0

    def _true_names(self, chunk: int) -> dict[str, str]:
        """By what the two of a chunk are told that they are called."""
        source, order, _ = self._out[chunk]
        told = order.called or (order.first.bot.name, order.second.bot.name)
        return dict(zip(told, source.true_names(order), strict=True))

    def _lose(self, worker: Worker, lost: LostWorker) -> None:
        self._journal.warning("a worker was lost", why=lost)
        if isinstance(worker.order, Chunk):
            self.end(worker.order.id, begun=True)
        self._lost += 1
        if self._lost >= LOST_IN_A_ROW:
            self._journal.error("no worker stays alive: nothing is played for a while", why=lost)
            self._break_until = self._now() + BREAK_S
            self._lost = 0


def _games(chunk: Chunk) -> int:
    return sum(high - low + 1 for low, high in chunk.numbers)


def _told(chunk: Chunk) -> str:
    return f"{chunk.variant}: {chunk.first.bot.name} - {chunk.second.bot.name}"
