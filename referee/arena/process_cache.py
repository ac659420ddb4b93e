"""Bot processes that outlive a pairing.

A bot that keeps nothing from game to game need not be started for every pairing. When its pairing
ends, its process is stopped and kept here; the next pairing of that bot takes it up. A process that
broke a rule, was late or said a word too much is never kept, so nothing of one pairing reaches the
next. Each worker has a cache. The cache has a memory budget, and the process that was not used for
the longest time goes first.
"""

from __future__ import annotations

import contextlib
import resource
import select
import sys
import time
from collections.abc import Sequence
from enum import Enum
from operator import attrgetter
from pathlib import Path

from msgspec import Struct

from referee.arena.core import allowed_cores
from referee.arena.pace import Pace
from referee.arena.reaching import Patience
from referee.bots.confinement import Confinement
from referee.bots.manifest import Bot
from referee.bots.process import BotProcess
from referee.links.pipe import PipeLink
from referee.protocol.messages import HelloReceived, PongReceived, ToBot
from referee.protocol.session import Session

MOST = 256
"""Processes in a cache, each with a keeper."""
PROCESS_DESCRIPTORS = 10
"""What a process in a cache has open here, at most."""
DESCRIPTORS = MOST * PROCESS_DESCRIPTORS * 2
"""What a worker should be able to open: a cache may have half of it."""
BYE_S = 1.0
PONG_MS = 1000


class KeptProcess(Struct, kw_only=True, eq=False):
    """A bot that runs, with the conversation that belongs to it."""

    bot: Bot
    confinement: Confinement
    restart: str | None
    """The rule by which it outlives its pairing."""
    contest: str | None
    """The one in which it may play, since it may have learned from it; None is any."""
    process: BotProcess
    link: PipeLink
    session: Session
    hello: HelloReceived
    pace: Pace
    terms: object
    """The variant and the clock: the pace is that of a bot that plays these."""
    log: Path | None = None
    """The log of its last pairing; what it writes when it leaves goes there too."""
    cores: frozenset[int] = frozenset()
    """Where it may run."""
    memory_bytes: int = 0

    def is_silent(self) -> bool:
        """Whether it has said and written nothing since, and has not ended. Without walls a process
        that it has started may have gone on."""
        poll = select.poll()
        poll.register(self.link.fd, select.POLLIN)
        return not (poll.poll(0) or self.process.has_written())


class Farewell(Enum):
    """How a bot answers the ping that ends its pairing."""

    PONG = "it answers a ping, so that nothing of the pairing is still to come"
    NO_PONG = "it does not answer a ping"
    MORE = "it says something else, or ends"


def settle(link: PipeLink, session: Session, messages: Sequence[ToBot]) -> Farewell:
    """Send the last messages of a pairing and a ping.

    A pong that nobody asked for can be taken for the answer. Then the answer comes in the next
    pairing, and is dropped there.
    """
    patience = Patience(PONG_MS)
    try:
        link.write(session.pack_what_can_be(messages) + session.ping())
        while not patience.over:
            if link.unsent:
                patience.await_room(link.out_fd)
                link.flush()
                continue
            data = link.read() if patience.await_words(link.fd) else None
            if data is None:
                continue
            events = session.receive(data) if data else session.end_of_input()
            if events:
                is_all = [type(event) for event in events] == [PongReceived]
                return Farewell.PONG if is_all and session.is_settled else Farewell.MORE
    except BrokenPipeError:
        return Farewell.MORE
    return Farewell.NO_PONG


class ProcessCache:
    """The processes that one worker keeps."""

    def __init__(self, budget_bytes: int = sys.maxsize) -> None:
        self._budget_bytes = budget_bytes
        self._most = most_processes()
        self._kept: dict[tuple[str, str], KeptProcess] = {}
        """By name and hash of the bot; the one that was not used for the longest time is first."""
        self._open_logs: dict[tuple[str, str], None] = {}
        """Those whose logs are being closed, in order."""
        self._numbers: dict[tuple[str, str], int] = {}
        self._refused: set[tuple[str, str]] = set()
        """Bots that do not answer a ping."""

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, bot: Bot) -> bool:
        return (bot.name, bot.hash) in self._kept

    def number(self, bot: Bot, number: int) -> None:
        """The coordinator knows this bot by this number."""
        self._numbers[bot.name, bot.hash] = number

    def numbers(self) -> tuple[int, ...]:
        """The numbers of the bots whose processes are here."""
        return tuple(self._numbers[key] for key in self._kept if key in self._numbers)

    def may_have(self, bot: Bot) -> bool:
        return (bot.name, bot.hash) not in self._refused

    def refuse(self, bot: Bot) -> None:
        """Never keep a process of this bot."""
        self._refused.add((bot.name, bot.hash))

    def take(
        self, bot: Bot, confinement: Confinement, restart: str | None, contest: str
    ) -> KeptProcess | None:
        """The process of this bot, still stopped; None where there is none that will do."""
        kept = self._kept.pop((bot.name, bot.hash), None)
        if kept is None:
            return None
        if not kept.process.may_be_taken_up():
            _see_off([kept])
            return None
        was = (kept.bot, kept.confinement, kept.restart, kept.cores)
        will_do = was == (bot, confinement, restart, allowed_cores())
        if will_do and kept.contest in (None, contest) and kept.is_silent():
            return kept
        kept.process.close()
        return None

    def put(self, kept: KeptProcess) -> bool:
        """Stop a process and keep it; False where it cannot be kept, and has to be ended."""
        kept.memory_bytes = kept.process.memory_bytes()
        if kept.memory_bytes > self._budget_bytes or not kept.process.set_aside():
            return False
        key = (kept.bot.name, kept.bot.hash)
        before = self._kept.pop(key, None)
        if before is not None:
            before.process.close()
        kept.cores = allowed_cores()
        self._kept[key] = kept
        if kept.process.has_open_log:
            self._open_logs[key] = None
        while self._kept and (len(self._kept) > self._most or self.used_bytes > self._budget_bytes):
            _see_off([self._kept.pop(next(iter(self._kept)))])
        return True

    def close_logs(self) -> None:
        """Wait until all that the kept processes have written is in their logs."""
        open_logs, self._open_logs = self._open_logs, {}
        for key in open_logs:
            if key in self._kept and not self._kept[key].process.may_be_taken_up():
                _see_off([self._kept.pop(key)])

    def forget_logs(self) -> None:
        """The folder of the logs goes: what a bot writes when it leaves is not kept."""
        for kept in self._kept.values():
            kept.log = None
            kept.process.forget_log()

    def close(self) -> None:
        """End all of them."""
        self._open_logs = {}
        kept, self._kept = list(self._kept.values()), {}
        _see_off(kept)

    @property
    def used_bytes(self) -> int:
        """Of memory, by all of them."""
        return sum(map(attrgetter("memory_bytes"), self._kept.values()))


def _see_off(leaving: list[KeptProcess]) -> None:
    """End these processes. They are told first, and leave side by side."""
    for kept in leaving:
        with contextlib.suppress(BrokenPipeError):
            kept.link.write(kept.session.bye())
        kept.process.take_up(kept.log)
        kept.process.release()
        kept.process.end_input()
    deadline = time.monotonic() + BYE_S
    for kept in leaving:
        kept.process.how_it_ended(max(0.0, deadline - time.monotonic()))
    for kept in leaving:
        kept.process.end()
    for kept in leaving:
        kept.process.close()


def most_processes() -> int:
    """So many that a worker still has descriptors for what it does."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(MOST, soft // 2 // PROCESS_DESCRIPTORS) if soft >= 0 else MOST
