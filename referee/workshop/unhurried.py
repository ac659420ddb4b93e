"""A bot whose author is looking: its stderr goes to the terminal, and nothing limits its time.

Whoever attaches a debugger wants the process itself, and what it writes at once and whole. So no
keeper stands between where nothing confines the bot; where something does, its keeper has to, and
passes on what it writes.
"""

from __future__ import annotations

import contextlib
import select
import time
from collections import deque
from collections.abc import Callable

from referee.arena.hints import hints_for
from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.confinement.levels import Level
from referee.bots.manifest import Bot
from referee.bots.process import STDERR_AS_LOG, BotProcess, NoStart
from referee.bots.starting import limits_of, start_bot
from referee.clock import DEFAULT_STARTUP_MS
from referee.links.pipe import PipeLink
from referee.protocol.framed import FramedSession
from referee.protocol.messages import FLOOD_BYTES, Event, Misbehaved, ToBot, Turn
from referee.protocol.session import Session, State
from referee.verdict import BotFault, Ending
from referee.version import __version__
from referee.workshop.bare import BareProcess

SLICE_MS = 100
FLOOD_LOOK_S = 2.0
FLOOD_QUIET_MS = 300
"""Longer than in the arena, as there is time."""
LAST_WORDS_S = 1.0


def _start(bot: Bot, confinement: Confinement) -> BareProcess | BotProcess:
    """Raises NoStart, NotConfined."""
    if confinement.level is Level.NONE:
        return BareProcess(bot)
    process = start_bot(bot, confinement, log=STDERR_AS_LOG)
    try:
        process.await_start(DEFAULT_STARTUP_MS / 1000)
    except BaseException:
        process.close()
        raise
    return process


class UnhurriedBot:
    """A bot, started, and the conversation with it."""

    def __init__(self, bot: Bot, confinement: Confinement = UNCONFINED) -> None:
        """Start the process; it has been told nothing yet. Raises BotFault, NotConfined."""
        try:
            self._process = _start(bot, confinement)
        except NoStart as problem:
            raise BotFault(Ending.NO_START, str(problem)) from None
        self._hints = hints_for(bot)
        self._link: PipeLink | None = None
        """None until a bot that speaks ZeroMQ has connected."""
        self._unsaid = b""
        """What waits for that."""
        endpoint, turn_bytes = self._process.endpoint, limits_of(bot, confinement).turn
        if endpoint is None:
            self._link = PipeLink(self._process.stdin, self._process.stdout)
            self._session = Session(turn_bytes)
        else:
            self._session = FramedSession(turn_bytes, token=endpoint.token)
        self._events: deque[Event] = deque()
        self._asked = time.monotonic()
        self._deaf = False
        """Whether it does not read any more. What it said before that is heard all the same."""

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def spent_s(self) -> float:
        """Since something was last sent."""
        return time.monotonic() - self._asked

    def greet(self) -> None:
        """Say hello; the bot is to answer."""
        self._asked = time.monotonic()
        self._write(self._session.hello(__version__))

    @property
    def listens(self) -> bool:
        """Whether it has said hello and nothing wrong since."""
        return self._session.state is State.PLAYING

    def send(self, messages: list[ToBot]) -> None:
        self._asked = time.monotonic()
        self._write(self._session.pack(messages))

    def ask(self, messages: list[ToBot]) -> None:
        """Send messages of which the last is a turn; turns are numbered from 1."""
        turn, turn_id = messages[-1], self._session.ask()
        assert isinstance(turn, Turn)
        assert turn.id == turn_id
        self.send(messages)

    def _write(self, data: bytes) -> None:
        if self._link is None:
            self._unsaid += data
            return
        try:
            self._link.write(data)
        except BrokenPipeError:
            self._deaf = True

    def _read(self, within_ms: int) -> bytes | None:
        """What comes next; empty at its end, None if nothing comes within this time."""
        endpoint = self._process.endpoint
        if self._link is None:
            assert endpoint is not None, "a bot without a link is one that has to connect"
            self._link = endpoint.accept() if _readable(endpoint.fd, within_ms) else None
            if self._link is not None:
                assert isinstance(self._session, FramedSession)
                self._session.reply = self._link.reply
                self._write(self._unsaid)
            return None
        return self._link.read() if _readable(self._link.fd, within_ms) else None

    def hear(
        self, meanwhile: Callable[[], None] = lambda: None, within_s: float | None = None
    ) -> Event | None:
        """The next thing that the bot says; None if that takes longer than `within_s`.

        Raises BotFault where it breaks the protocol or ends. `meanwhile` is called ten times a
        second.
        """
        give_up = None if within_s is None else time.monotonic() + within_s
        while not self._events:
            if self._link is not None and self._link.unsent:
                self._write(b"")
            # Asked before the look: what a bot said before it ended is heard before its end.
            ended = self._process.exit_status() is not None
            data = self._read(0 if ended else SLICE_MS)
            if data is not None or ended:
                self._events += (
                    self._session.receive(data) if data else self._session.end_of_input()
                )
                if not data and not self._events:
                    return None
            elif self._deaf:
                code = Ending.CRASH if self.listens else Ending.NO_START
                raise BotFault(code, f"the bot {self._hints.closed_input}")
            elif give_up is not None and time.monotonic() > give_up:
                return None
            else:
                meanwhile()
        event = self._events.popleft()
        if isinstance(event, Misbehaved):
            raise self._blame(event)
        return event

    def _blame(self, event: Misbehaved) -> BotFault:
        code, detail = Ending(event.code), event.detail
        if code in (Ending.CRASH, Ending.NO_START):
            half = self._hints.in_the_middle if event.received else ""
            ended = self._process.how_it_ended(LAST_WORDS_S)
            detail = f"the bot {ended or self._hints.closed_output}{half}"
        elif code is Ending.GARBLED and self._keeps_talking():
            code, detail = Ending.FLOOD, f"more than {FLOOD_BYTES} bytes that nobody asked for"
        return BotFault(code, detail, event.received)

    def _keeps_talking(self) -> bool:
        """After a garbled line: does the bot go on and on? Then it is a flood."""
        heard, give_up = 0, time.monotonic() + FLOOD_LOOK_S
        while heard <= FLOOD_BYTES and time.monotonic() < give_up:
            data = self._read(FLOOD_QUIET_MS)
            if not data:
                return False
            heard += len(data)
        return heard > FLOOD_BYTES

    def leave(self, within_s: float | None) -> None:
        """Say bye, and give the bot as long as this to exit; None is until Ctrl-C."""
        self._write(self._session.bye())
        self._process.end_input()
        if within_s is not None:
            self._process.exit_status(within_s)
            return
        with contextlib.suppress(KeyboardInterrupt):
            while self._process.exit_status() is None:
                time.sleep(SLICE_MS / 1000)

    def close(self) -> None:
        """End the bot, if it has not ended, and all that it has started."""
        self._process.close()


def _readable(fd: int, within_ms: int) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(within_ms))
