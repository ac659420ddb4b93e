"""One bot of a slot: its process, its conversation, and what is due from it.

A player outlives its process. When a bot breaks down, the process is ended with all that descends
from it and started anew for the next game; a bot that fails to start three times in a row is out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from referee.arena.game import Game
from referee.arena.hints import hints_for
from referee.arena.pace import Pace
from referee.arena.process_cache import Farewell, KeptProcess, ProcessCache, settle
from referee.arena.reaching import Patience, reach
from referee.arena.restart import Restart, is_stateless, restart_of
from referee.arena.stall import StallCount
from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.manifest import Bot
from referee.bots.process import BotProcess, NoStart, Share, no_cpu_time
from referee.bots.starting import (
    allowed_processes,
    few_told,
    is_all_counted,
    limits_of,
    start_bot,
)
from referee.links.pipe import PipeLink
from referee.protocol.codec import excerpt
from referee.protocol.messages import HelloReceived, Misbehaved, ToBot
from referee.protocol.session import Session, State
from referee.verdict import AT_START, BotFault, Ending
from referee.version import __version__

FAILED_STARTS = 3
STIRRING_NS = 500_000
"""CPU time that a bot may use after its answer before it counts as restless: it tidies up."""
BYE_S = 1.0
LOG_BYTES = 512 * 1024
"""What the log of all processes of a bot may hold before it is put aside; each adds 64 KiB."""


class Upkeep(Struct, frozen=True, kw_only=True):
    """How bots are started."""

    startup_ms: int
    confinement: Confinement = UNCONFINED
    logs: Path | None = None
    """Where the bots' stderr is kept."""
    keeper_cores: frozenset[int] | None = None
    share: Share | None = None
    """Of the processor, for the bot; None is that of the referee."""
    variant: str | None = None
    """What the bot is to play; its hello may say that it does not."""
    keep_log: bool = False
    """Whether a log that is there is added to; else it begins anew."""
    restart: Restart | None = None
    """When bots are started anew; None is by what each says of itself."""
    contest: str = ""
    """What a process has to be started in that is kept and not stateless."""
    cache: ProcessCache | None = None
    """Where processes are that may be taken up, and go when their pairing ends."""
    terms: object = None
    """What is the same where a bot can answer as many turns at a time as before: the variant and
    the clock."""


class Player:
    """A bot in a slot."""

    __slots__ = (
        "_cpu_clock",
        "_cpu_seen_ns",
        "_failed_starts",
        "_rested_ns",
        "_turn_bytes",
        "_upkeep",
        "answered_ns",
        "blamed",
        "bot",
        "dropped_before",
        "due",
        "fresh",
        "games_at_once",
        "hello",
        "hints",
        "index",
        "is_all_counted",
        "limit_ns",
        "link",
        "log",
        "outbox",
        "pace",
        "process",
        "restless",
        "session",
        "since_ns",
        "stall_count",
        "stalled_ns",
        "starts",
        "turns",
    )

    def __init__(self, index: int, bot: Bot, upkeep: Upkeep) -> None:
        self.index = index
        self.bot = bot
        self.hints = hints_for(bot)
        logs = upkeep.logs
        self.log = logs and logs / f"{bot.name}.stderr.txt"
        """Where the stderr of all processes of this bot goes."""
        self._upkeep = upkeep
        confinement = upkeep.confinement
        self.restless = confinement.freeze and allowed_processes(bot, confinement) > 1
        """Whether it is stopped after every answer: it may run several processes, or it was seen to
        use the processor while the other bot was to move."""
        self.is_all_counted = is_all_counted(bot, confinement)
        """Whether `cpu_ns` is of all that it uses, or of its first process alone."""
        self.process: BotProcess | None = None
        self.link: PipeLink | None = None
        self._turn_bytes = limits_of(bot, confinement).turn
        self.session = self._new_session()
        self.outbox: list[ToBot] = []
        """What goes out with the next write."""
        self.due: list[Game] = []
        """Games in which this player is to be asked."""
        self.turns: dict[int, Game] = {}
        """Turn ids that are open, with their games."""
        self.since_ns = 0
        """When the open turns were written: their clocks run from here."""
        self.answered_ns = 0
        """When the last answer came."""
        self.pace = Pace()
        self.limit_ns: int | None = None
        """No open turn is late before this much time; the exact limit may be longer."""
        self.stalled_ns = 0
        """How long the host stood still since the bot was asked."""
        self.stall_count = StallCount()
        self.fresh = True
        """Whether the process has not answered a turn yet in this pairing."""
        self.blamed = False
        """Whether the process has broken a rule."""
        self.games_at_once = 1
        self.hello: HelloReceived | None = None
        self.starts = 0
        self.dropped_before = 0
        self._failed_starts = 0
        self._cpu_seen_ns = 0
        self._rested_ns = 0
        """CPU time that it had used when it answered last."""
        self._cpu_clock: Callable[[], int] = no_cpu_time

    @property
    def dropped(self) -> int:
        return self.dropped_before + self.session.dropped

    @property
    def outlives_pairing(self) -> bool:
        """Whether its process goes on from pairing to pairing."""
        stateless = is_stateless(self.bot, self.hello)
        return restart_of(self._upkeep.restart, stateless=stateless) == "never"

    def _new_session(self) -> Session:
        return Session(self._turn_bytes)

    def take_due(self) -> list[Game]:
        """The games in which it is asked now: as many as it can answer in time. The rest stay due.

        A process that has answered nothing yet in this pairing is asked once: its first answer
        alone has the warm-up.
        """
        due, pace = self.due, self.pace
        pace.answered(self.since_ns, self.answered_ns, self.limit_ns)
        turns = 1 if self.fresh else pace.turns
        self.due = due[turns:]
        del due[turns:]
        pace.sent(len(due))
        return due

    def rest(self, *, counted: bool) -> None:
        """It has answered: let it stand still until it is asked, if it does not do so by itself.

        `counted`: its CPU time was read with its answer.
        """
        if self.restless:
            self.hold()
        else:
            self._rested_ns = self._cpu_seen_ns if counted else self.cpu_ns()

    def look_at_rest(self) -> None:
        """The other bot thinks: does this one stand still?

        One that was stopped is stopped again: a process that was about to end can wake others.
        """
        if not self.restless and self.cpu_ns() - self._rested_ns > STIRRING_NS:
            self.restless = True
        if self.restless and self.process is not None:
            self.process.hold()

    def hold(self) -> None:
        """Let it stand still, if it does not."""
        if self.process is not None and not self.process.is_held:
            self.process.hold()

    def release(self) -> None:
        """Let it go on."""
        if self.process is not None:
            self.process.release()

    def cpu_ns(self) -> int:
        return self.process.cpu_ns() if self.process is not None else 0

    def cpu_used_us(self) -> int:
        """CPU time since this was last asked; 0 for a process that has broken down."""
        try:
            now_ns = self._cpu_clock()
        except (OSError, IndexError):
            now_ns = 0
        used_ns, self._cpu_seen_ns = now_ns - self._cpu_seen_ns, now_ns
        return used_ns // 1000 if used_ns > 0 else 0

    def retire(self) -> None:
        """The bot is out: it is not started any more."""
        self._failed_starts = FAILED_STARTS

    def start(self) -> PipeLink:
        """Start the bot and hear its hello, or take up a process that was kept: that one stands
        still until it is released. Raises BotFault."""
        if self._failed_starts >= FAILED_STARTS:
            raise BotFault(
                Ending.FORFEIT, f"the bot is out: it failed to start {FAILED_STARTS} times in a row"
            )
        try:
            link = self._start()
        except BotFault as fault:
            # A bot that came up and said too much in the same breath has started all the same.
            self._failed_starts = self._failed_starts + 1 if fault.code in AT_START else 0
            self.stop()
            raise
        self._failed_starts = 0
        self._cpu_seen_ns = self.cpu_ns()
        return link

    def _start(self) -> PipeLink:
        bot, upkeep = self.bot, self._upkeep
        self.outbox.clear()  # Games of the process before mean nothing to this one.
        self.starts += 1
        self._make_room_for_log()
        if upkeep.cache is not None:
            kept = upkeep.cache.take(bot, upkeep.confinement, upkeep.restart, upkeep.contest)
            if kept is not None:
                return self._take_up(kept)
        self.fresh, self.blamed, self.pace = True, False, Pace()
        patience = Patience(upkeep.startup_ms)
        try:
            self.process = process = start_bot(
                bot,
                upkeep.confinement,
                log=self.log,
                keeper_cores=upkeep.keeper_cores,
                share=upkeep.share,
            )
            process.await_start(upkeep.startup_ms / 1000)
            self._cpu_clock = process.cpu_clock
        except NoStart as problem:
            raise BotFault(Ending.NO_START, str(problem)) from None
        self.link, self.session = reach(process, patience, self._turn_bytes)
        link = self.link
        try:
            link.write(self.session.hello(__version__))
        except BrokenPipeError:
            raise BotFault(Ending.NO_START, self.last_words(self.hints.closed_input)) from None
        while self.session.state is State.GREETING:
            ready = patience.await_words(link.fd)
            if not ready and not patience.over:
                continue
            if not ready:
                said = self.session.unfinished()
                hint = self.hints.half if said else self.hints.no_hello
                hint += few_told(bot, upkeep.confinement)
                detail = f"no hello within {upkeep.startup_ms} ms{hint}"
                raise BotFault(Ending.NO_HELLO, detail, said)
            data = link.read()
            if data is None:
                continue
            for event in self.session.receive(data) if data else self.session.end_of_input():
                if isinstance(event, HelloReceived):
                    self._introduce(event, "" if process.endpoint else excerpt(data.strip()))
                elif isinstance(event, Misbehaved):
                    detail = event.detail if data else self.last_words(self.hints.closed_output)
                    raise BotFault(Ending(event.code), detail, event.received)
        return link

    def _introduce(self, hello: HelloReceived, said: str = "") -> None:
        """What the bot says of itself. Raises BotFault where it does not play the variant."""
        bot, variant = self.bot, self._upkeep.variant
        self.hello = hello
        self.games_at_once = bot.games_at_once or hello.games_at_once
        named = hello.variants if bot.variants is None else None
        if named is not None and variant not in (None, *named):
            detail = f"its hello names {', '.join(named)}, not {variant}"
            raise BotFault(Ending.NO_HELLO, detail, said)

    def _take_up(self, kept: KeptProcess) -> PipeLink:
        """A process that has played before. Raises BotFault."""
        self.process, self.link, self.session = kept.process, kept.link, kept.session
        self.fresh, self.blamed = True, False
        self.pace = kept.pace if kept.terms == self._upkeep.terms else Pace()
        self._cpu_clock = kept.process.cpu_clock
        kept.process.take_up(self.log)
        self._introduce(kept.hello)
        return kept.link

    def _make_room_for_log(self) -> None:
        """A match begins with a new log; one that many restarts have filled is put aside."""
        log = self.log
        if log is None:
            return
        with contextlib.suppress(OSError):
            if self.starts == 1 and not self._upkeep.keep_log:
                log.unlink()
            elif log.stat().st_size > LOG_BYTES:
                log.replace(log.with_suffix(".old.txt"))

    def last_words(self, otherwise: str) -> str:
        """How the process ended, or what it did if it lives."""
        ended = self.process.how_it_ended(0.25) if self.process is not None else None
        return f"the bot {ended or otherwise}"

    def leave(self) -> None:
        """Say bye and give the bot a second to exit."""
        if self.link is not None and self.session.state is State.PLAYING:
            with contextlib.suppress(BrokenPipeError):
                self.link.write(self.session.pack_what_can_be(self.outbox) + self.session.bye())
            if self.process is not None:
                self.process.leave(BYE_S)
        self.stop()

    def keep_or_leave(self) -> None:
        """The pairing has ended: keep the process for the next one, where that may be."""
        if self.may_be_kept and self._keep():
            self.process = None  # Not ours any more, and not to be ended.
            self.stop()
        else:
            self.leave()

    @property
    def may_be_kept(self) -> bool:
        """Whether its process is fit for another pairing, as far as is known."""
        session, cache = self.session, self._upkeep.cache
        return (
            cache is not None
            and cache.may_have(self.bot)
            and self.outlives_pairing
            and session.state is State.PLAYING
            and session.is_settled
            and not (self.blamed or self.turns)
        )

    def _keep(self) -> bool:
        cache, process, link = self._upkeep.cache, self.process, self.link
        if cache is None or process is None or link is None or self.hello is None:
            return False
        process.release()
        said = settle(link, self.session, self.outbox)
        self.outbox.clear()
        if said is Farewell.NO_PONG:
            cache.refuse(self.bot)
        if said is not Farewell.PONG:
            return False
        is_for_all = is_stateless(self.bot, self.hello)
        return cache.put(
            KeptProcess(
                bot=self.bot,
                confinement=self._upkeep.confinement,
                restart=self._upkeep.restart,
                contest=None if is_for_all else self._upkeep.contest,
                process=process,
                link=link,
                session=self.session,
                hello=self.hello,
                pace=self.pace,
                terms=self._upkeep.terms,
                log=self.log,
            )
        )

    def stop(self) -> None:
        """End the process with all that descends from it. What is due is forgotten."""
        if self.process is not None:
            self.process.close()
        self.process = None
        self._cpu_clock = no_cpu_time
        self.link = None
        if self.session.state is not State.NEW:
            self.dropped_before += self.session.dropped
            self.session = self._new_session()
        self.outbox.clear()
        self.due.clear()
        self.turns.clear()
