"""A tournament from its first game to its last: the coordinator.

    spec → pairings → chunks → workers → batches of games → store, and again until nothing is due

The coordinator is the only writer of the store. Chunks go out and come back by the dispatcher
(dispatcher.py), from the ledger (ledger.py), which knows what is due. What was not committed is
played again: with the same luck, unless it is hidden and a bot of strangers may have seen it.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from pathlib import Path
from typing import Literal

from msgspec import Struct

from referee.bots.confinement.levels import Level
from referee.clock import read_duration_ms
from referee.mistake import FAILED, Mistake
from referee.store.database import Store
from referee.tournament.chunk import Batch, Call, Called, Chunk, Done, Failed, Manner, Report
from referee.tournament.confining import confinement_of
from referee.tournament.crew import Crew, LostWorker
from referee.tournament.dispatcher import LOST_IN_A_ROW, Dispatcher, Source
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
from referee.tournament.telling import LiveReport

TICK_S = 0.1


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
        manner: Manner,
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
        self._manner = manner
        self._jobs = ground.jobs(spec)
        self._dispatcher = Dispatcher(self)
        self._dispatcher.sources.append(ledger)
        self._stalls = self._replayed = 0
        self._calling_s = self._starting_s = 0.0
        self._errors: dict[str, int] = {}
        self._out = set(ledger.out)
        """Bots of which it was told that they are out."""
        self._pinned = True
        self._ticked = time.monotonic()
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
            ledger.begin()
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
            new=self._dispatcher.games,
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
        self._dispatcher.pools.append(workers)
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
            self._dispatcher.commit()
            self._tell = nobody
            with contextlib.suppress(Exception):
                self._dispatcher.hear(workers, 0)
            self._dispatcher.commit()
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
        due, lost = len(waiting), 0
        while due:
            for worker in workers.idle():
                if waiting:
                    worker.give(Call(contestant=waiting.pop(0), manner=self._manner))
            for worker, said in workers.hear(TICK_S):
                if isinstance(said, LostWorker):
                    if isinstance(worker.order, Call):
                        waiting.append(worker.order.contestant)
                    lost += 1
                    self.lost(said, lost)
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
        if report.stateless:
            self._ledger.note_stateless(report.id)
        if report.trouble is not None:
            self._ledger.is_out(report.id, report.trouble)
        elif report.variants is not None:
            lacking = self._ledger.variants_of(report.id) - set(report.variants)
            if lacking:
                named = ", ".join(sorted(lacking))
                self._ledger.is_out(report.id, f"its hello does not name {named}")
        self._tell_out()

    def _play_round(self, workers: Crew, interruption: Interruption) -> None:
        """Play all that is on the desks."""
        dispatcher, ledger = self._dispatcher, self._ledger
        while ledger.unfinished:
            ledger.hands = len(workers)
            dispatcher.give_out()
            dispatcher.hear(workers, TICK_S)
            self._note_levels(workers)
            dispatcher.commit_in_time()
            self._tick("playing", workers)
            interruption.let_it_come()
        dispatcher.commit()

    # What the dispatcher tells.

    def kept(self, source: Source, batch: Batch) -> None:
        assert source is self._ledger
        self._tell_out()
        if self._each_game:
            ledger = self._ledger
            for event in games_told(batch, ledger.rows[batch.games[0].pairing], ledger.bots):
                self._tell(event)

    def done(self, report: Done) -> None:
        self._stalls += report.stalls
        self._replayed += report.replayed
        self._starting_s += report.starting_s
        self._pinned = self._pinned and report.pinned
        for why, times in report.errors.items():
            self._errors[why] = self._errors.get(why, 0) + times

    def live(self, source: Source, chunk: Chunk, report: LiveReport) -> None:
        """Nobody watches."""

    def ended(self, source: Source, chunk: Chunk) -> None:
        """The ledger has it back."""

    def failed(self, chunk: Chunk, why: str) -> None:
        raise TournamentBroken(f"a worker could not play: {why}")

    def lost(self, why: LostWorker, in_a_row: int) -> None:
        if in_a_row >= LOST_IN_A_ROW:
            raise TournamentBroken(f"{why}, {in_a_row} times in a row")

    def _tell_out(self) -> None:
        """Tell of bots that are out since the last time."""
        for name, why in self._ledger.out.items():
            if name not in self._out:
                self._out.add(name)
                self._tell(BotOut(bot=name, why=why))

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
            self._tell(Tick(self._store, played, planned, self._dispatcher.games, state, muster))


def nobody(_: Told | Tick) -> None:
    """Nobody listens."""


def manner_of(spec: Spec, folder: Path, *, told: bool = False) -> Manner:
    """How the games of a tournament are played; `told` where somebody may watch."""
    return Manner(
        tournament=spec.name,
        contest=secrets.token_hex(8),
        clock=spec.clock(),
        startup_ms=read_duration_ms(spec.startup),
        warm_up_ms=read_duration_ms(spec.warm_up),
        think="parallel" if spec.think == "parallel" else "in turn",
        at_once=spec.at_once,
        restart=spec.restart,
        confinement=confinement_of(spec),
        logs=folder.resolve() / "logs",
        told=told,
    )
