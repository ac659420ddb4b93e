"""A tournament from its first game to its last: the coordinator.

    spec → pairings → chunks → workers → batches of games → store, and again until nothing is due

The coordinator is the only writer of the store. It commits once a second and at the end of every
chunk; what was committed counts once, whatever happens afterwards, and what was not is played
again: with the same luck, unless it is hidden and a bot of strangers may have seen it.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Literal

from msgspec import Struct

from referee.bots.confinement.levels import Level
from referee.clock import read_clock, read_duration_ms
from referee.mistake import FAILED, Mistake
from referee.store.database import Store
from referee.tournament.chunk import Batch, Call, Called, Chunk, Done, Failed, Manner, Report
from referee.tournament.confining import confinement_of
from referee.tournament.crew import Crew, Hand, LostWorker
from referee.tournament.events import (
    BotOut,
    Finished,
    Listener,
    RoundEnded,
    Started,
    Tick,
    Told,
    games_told,
)
from referee.tournament.ground import Ground
from referee.tournament.interruption import Interruption, held_signals
from referee.tournament.ledger import Ledger
from referee.tournament.spec import Spec
from referee.verdict import Ending

COMMIT_S = 1.0
TICK_S = 0.1
LOST_IN_A_ROW = 5
"""So many workers may be lost without a single game in between."""


class TournamentBroken(Mistake):
    """The tournament cannot go on; what was committed is safe. The message says why."""

    status = FAILED


class TournamentResult(Struct, frozen=True, kw_only=True):
    """What came out of a run."""

    folder: str
    played: int
    """Games with a record, of this run and of those before."""
    new: int
    """Games of this run."""
    took_s: float
    starting_s: float
    """What of it went into the start of bots, on average over the workers."""
    stalls: int
    """How often the host stood still while a clock ran out."""
    replayed: int
    errors: dict[str, int]
    """What failed in a variant's script, or in the referee, and how often."""
    out: dict[str, str]
    """Bots that did not come up, and why."""
    pinned: bool
    """Whether every worker had a core of its own."""


class Coordinator:
    """Plays what is left of a tournament."""

    def __init__(
        self,
        store: Store,
        spec: Spec,
        ledger: Ledger,
        folder: Path,
        listener: Listener,
        *,
        ground: Ground,
        each_game: bool,
    ) -> None:
        self._ground = ground
        self._store = store
        self._spec = spec
        self._ledger = ledger
        self._folder = folder
        self._tell = listener
        self._each_game = each_game
        self._manner = _manner(spec, folder)
        self._jobs = ground.jobs(spec)
        self._new = self._stalls = self._replayed = 0
        self._calling_s = self._starting_s = 0.0
        self._errors: dict[str, int] = {}
        self._pinned = True
        self._lost = 0
        self._committed = self._ticked = time.monotonic()
        self._dirty = False
        told = self._store.value("level") or ""
        self._levels = set(told.split(", ")) if ledger.played else set[str]()

    def run(self) -> TournamentResult:
        """Play until nothing is due."""
        began = time.monotonic()
        ledger = self._ledger
        resumed = bool(ledger.rows)
        ledger.draw()
        if ledger.unfinished:
            ledger.make_ready(
                lambda entries: self._ground.make_ready(self._spec, entries, self._tell)
            )
            self._ground.must_meet(ledger.meetings())
        self._tell(self._started(resumed=resumed))
        if ledger.unfinished:
            # One that is extended is not finished any more: its seed and salt are not to be told.
            self._store.set_value("finished", "")
            with held_signals() as interruption:
                self._store.while_silent(interruption.while_silent)
                self._play(interruption)
        self._store.set_value("finished", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        self._store.commit()
        self._tell(
            Finished(
                played=ledger.played,
                seed=self._store.value("seed") or "",
                salt=self._store.value("salt") or "",
            )
        )
        return TournamentResult(
            folder=str(self._folder),
            played=ledger.played,
            new=self._new,
            took_s=time.monotonic() - began,
            starting_s=self._calling_s + self._starting_s / self._jobs,
            stalls=self._stalls,
            replayed=self._replayed,
            errors=self._errors,
            out=ledger.out,
            pinned=self._pinned,
        )

    def _play(self, interruption: Interruption) -> None:
        ledger = self._ledger
        # Later rounds may have more games than are left of this one, but not more than bots.
        wanted = min(self._jobs, max(ledger.planned - ledger.played, len(ledger.bots)))
        workers = self._ground.hire(wanted)
        try:
            began = time.monotonic()
            self._call(workers, interruption)
            self._calling_s = time.monotonic() - began
            self._play_round(workers, interruption)
            while self._next_round():
                self._play_round(workers, interruption)
        except BaseException:
            # What has been reported is kept, whatever it was that ended us; nobody is told any
            # more, since it may have been the listener that failed.
            self._commit()
            self._tell = nobody
            with contextlib.suppress(Exception):
                self._hear(workers, 0)
            self._commit()
            raise
        finally:
            workers.close()

    def _note_levels(self, workers: Crew) -> None:
        """Where every place confines as it can, the table says how: by all that games were played
        at, in this run and before."""
        found = self._levels.union(workers.levels())
        if found != self._levels:
            self._levels = found
            in_order = [level.value for level in Level if level.value in found]
            self._store.set_value("level", ", ".join(in_order))
            self._dirty = True

    def _next_round(self) -> bool:
        """Draw what follows from the results; within a round those are replays of drawn ties."""
        ledger = self._ledger
        before = ledger.round
        if not ledger.draw():
            return False
        if ledger.round > before:
            self._tell(RoundEnded(round=before, played=ledger.played, planned=ledger.planned))
        return True

    def _call(self, workers: Crew, interruption: Interruption) -> None:
        """Start every bot once: one that does not come up is out, for everybody alike."""
        waiting = self._ledger.contestants()
        due = len(waiting)
        while due:
            for worker in workers.idle():
                if waiting:
                    worker.give(Call(contestant=waiting.pop(0), manner=self._manner))
            for worker, said in workers.hear(TICK_S):
                if isinstance(said, LostWorker):
                    if isinstance(worker.order, Call):
                        waiting.append(worker.order.contestant)
                    self._count_lost(said)
                    continue
                for report in said:
                    worker.order = None
                    due -= 1
                    self._called(report)
            self._tick("calling", workers)
            interruption.let_it_come()

    def _called(self, report: Report) -> None:
        if isinstance(report, Failed):
            raise TournamentBroken(f"a worker could not start a bot: {report.why}")
        assert isinstance(report, Called)
        if report.trouble is not None:
            self._is_out(report.id, report.trouble)
        elif report.variants is not None:
            lacking = self._ledger.variants_of(report.id) - set(report.variants)
            if lacking:
                named = ", ".join(sorted(lacking))
                self._is_out(report.id, f"its hello does not name {named}")

    def _play_round(self, workers: Crew, interruption: Interruption) -> None:
        """Play all that is on the desk."""
        ledger = self._ledger
        while ledger.unfinished:
            for worker in workers.idle():
                chunk = ledger.next_chunk(self._manner, len(workers))
                if chunk is None:
                    break
                worker.give(chunk)
            self._hear(workers, TICK_S)
            self._note_levels(workers)
            if time.monotonic() - self._committed > COMMIT_S:
                self._commit()
            self._tick("playing", workers)
            interruption.let_it_come()
        self._commit()

    def _hear(self, workers: Crew, timeout_s: float) -> None:
        for worker, said in workers.hear(timeout_s):
            if isinstance(said, LostWorker):
                if isinstance(worker.order, Chunk):
                    self._ledger.give_back(worker.order.id, begun=True)
                self._count_lost(said)
                continue
            for report in said:
                self._take(worker, report)

    def _take(self, worker: Hand, report: Report) -> None:
        if isinstance(report, Batch):
            self._keep(report)
        elif isinstance(report, Done):
            worker.order = None
            self._ledger.give_back(report.chunk)
            self._commit()
            self._stalls += report.stalls
            self._replayed += report.replayed
            self._starting_s += report.starting_s
            self._pinned = self._pinned and report.pinned
            for why, times in report.errors.items():
                self._errors[why] = self._errors.get(why, 0) + times
        elif isinstance(report, Failed):
            raise TournamentBroken(f"a worker could not play: {report.why}")

    def _keep(self, batch: Batch) -> None:
        ledger = self._ledger
        ledger.keep(batch)
        self._dirty = True
        self._lost = 0
        self._new += len(batch.games)
        for fault in batch.faults:
            row = ledger.bots[fault.bot]
            if fault.code == Ending.FORFEIT and row.name not in ledger.out:
                self._is_out(fault.bot, fault.detail)
        if self._each_game:
            for event in games_told(batch, ledger.rows[batch.games[0].pairing], ledger.bots):
                self._tell(event)

    def _is_out(self, number: int, why: str) -> None:
        row = self._ledger.is_out(number, why)
        self._dirty = True
        self._tell(BotOut(bot=row.name, why=why))

    def _count_lost(self, lost: LostWorker) -> None:
        self._lost += 1
        if self._lost >= LOST_IN_A_ROW:
            raise TournamentBroken(f"{lost}, {self._lost} times in a row")

    def _commit(self) -> None:
        if self._dirty:
            self._store.commit()
            self._dirty = False
        self._committed = time.monotonic()

    def _started(self, *, resumed: bool) -> Started:
        ledger = self._ledger
        return Started(
            name=self._spec.name,
            folder=str(self._folder),
            format=self._spec.format,
            variants=list(ledger.names.values()),
            bots=[row.name for row in ledger.bots.values()],
            played=ledger.played,
            planned=ledger.planned,
            jobs=self._jobs,
            resumed=resumed,
        )

    def _tick(self, state: Literal["calling", "playing"], workers: Crew) -> None:
        now = time.monotonic()
        if now - self._ticked >= TICK_S:
            self._ticked = now
            ledger = self._ledger
            played, planned, muster = ledger.played, ledger.planned, workers.muster()
            self._tell(Tick(self._store, played, planned, self._new, state, muster))


def nobody(_: Told | Tick) -> None:
    """Nobody listens."""


def _manner(spec: Spec, folder: Path) -> Manner:
    return Manner(
        tournament=spec.name,
        clock=read_clock(spec.time, read_duration_ms(spec.grace)),
        startup_ms=read_duration_ms(spec.startup),
        warm_up_ms=read_duration_ms(spec.warm_up),
        think="parallel" if spec.think == "parallel" else "in turn",
        at_once=spec.at_once,
        confinement=confinement_of(spec),
        logs=folder.resolve() / "logs",
    )
