"""A bot whose author is looking: its stderr goes to the terminal, and nothing limits its time.

No keeper stands between: whoever attaches a debugger wants the process itself, and what it writes
at once and whole. The bot has a session of its own, so that Ctrl-C reaches the referee alone, which
then ends the bot and all that it started in that session.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable

from referee.bots.environment import environment
from referee.bots.keeper import PR_SET_PDEATHSIG, prctl
from referee.bots.manifest import Bot
from referee.bots.process import told_status
from referee.links.pipe import PipeLink
from referee.protocol.codec import encode
from referee.protocol.messages import FLOOD_BYTES, Event, Misbehaved, ToBot, Turn
from referee.protocol.session import Session, State
from referee.verdict import BotFault, Ending
from referee.version import __version__

SLICE_MS = 100
FLOOD_LOOK_S = 0.5
FLOOD_QUIET_MS = 50
"""Longer than in the arena, as there is time."""
LAST_WORDS_S = 0.25


def _die_with_us() -> None:
    """In the bot's process, before its command: a referee that is killed leaves it no more time."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class UnhurriedBot:
    """A bot, started, and the conversation with it."""

    def __init__(self, bot: Bot) -> None:
        """Start the process; it has been told nothing yet. Raises BotFault."""
        try:
            self._process = subprocess.Popen(
                bot.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                cwd=bot.folder,
                env=environment(bot),
                start_new_session=True,
                preexec_fn=_die_with_us,
            )
        except OSError as error:
            told = f"{error.strerror}: {error.filename}"
            raise BotFault(Ending.NO_START, told) from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._link = PipeLink(self._process.stdin.fileno(), self._process.stdout.fileno())
        for fd in (self._link.fd, self._link.out_fd):
            os.set_blocking(fd, False)
        self._session = Session()
        self._events: deque[Event] = deque()
        self._asked = time.monotonic()
        self._deaf = False
        """Whether it does not read any more. What it said before that is heard all the same."""

    @property
    def pid(self) -> int:
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
        self._write(encode(messages))

    def ask(self, messages: list[ToBot]) -> None:
        """Send messages of which the last is a turn; turns are numbered from 1."""
        turn, turn_id = messages[-1], self._session.ask()
        assert isinstance(turn, Turn)
        assert turn.id == turn_id
        self.send(messages)

    def _write(self, data: bytes) -> None:
        try:
            self._link.write(data)
        except BrokenPipeError:
            self._deaf = True

    def hear(
        self, meanwhile: Callable[[], None] = lambda: None, within_s: float | None = None
    ) -> Event | None:
        """The next thing that the bot says; None if that takes longer than `within_s`.

        Raises BotFault where it breaks the protocol or ends. `meanwhile` is called ten times a
        second.
        """
        poll = select.poll()
        poll.register(self._link.fd, select.POLLIN)
        give_up = None if within_s is None else time.monotonic() + within_s
        while not self._events:
            if self._link.unsent:
                self._write(b"")
            # Asked before the look: what a bot said before it ended is heard before its end.
            ended = self._process.poll() is not None
            data = self._link.read() if poll.poll(0 if ended else SLICE_MS) else None
            if data is not None or ended:
                self._events += (
                    self._session.receive(data) if data else self._session.end_of_input()
                )
                if not data and not self._events:
                    return None
            elif self._deaf:
                code = Ending.CRASH if self.listens else Ending.NO_START
                raise BotFault(code, "the bot closed its standard input")
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
            half = " in the middle of a line" if event.received else ""
            detail = f"the bot {self._ended() or 'closed its standard output'}{half}"
        elif code is Ending.GARBLED and self._keeps_talking():
            code, detail = Ending.FLOOD, f"more than {FLOOD_BYTES} bytes that nobody asked for"
        return BotFault(code, detail, event.received)

    def _keeps_talking(self) -> bool:
        """After a garbled line: does the bot go on and on? Then it is a flood."""
        poll = select.poll()
        poll.register(self._link.fd, select.POLLIN)
        heard, give_up = 0, time.monotonic() + FLOOD_LOOK_S
        while heard <= FLOOD_BYTES and time.monotonic() < give_up and poll.poll(FLOOD_QUIET_MS):
            data = self._link.read()
            if not data:
                return False
            heard += len(data)
        return heard > FLOOD_BYTES

    def _ended(self) -> str | None:
        """How the process ended; None if it runs on."""
        try:
            status = self._process.wait(LAST_WORDS_S)
        except subprocess.TimeoutExpired:
            return None
        return told_status(status)

    def leave(self, within_s: float | None) -> None:
        """Say bye, and give the bot as long as this to exit; None is until Ctrl-C."""
        self._write(self._session.bye())
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            pass
        except KeyboardInterrupt:
            if within_s is not None:
                raise

    def close(self) -> None:
        """End the bot, if it has not ended, and all that it has started in its session."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
