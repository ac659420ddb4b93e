"""The bot that runs here: its process, and the lines to and from it."""

from __future__ import annotations

import time
from pathlib import Path

from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.manifest import Bot
from referee.bots.process import BotProcess, NoStart
from referee.bots.starting import start_bot
from referee.clock import DEFAULT_STARTUP_MS
from referee.links.lines import Lines, lines_of
from referee.mistake import Mistake
from referee.protocol.codec import Garbled, decode_line, encode
from referee.protocol.messages import LINE_LIMIT, PROTOCOL, Bye, Hello, HelloReceived
from referee.verdict import BotFault
from referee.version import __version__

SLICE_MS = 50
BYE_S = 1.0
KEPT = 1000
"""Of a line that is too long for any message: enough to show what it was."""


class WillNotStart(Mistake):
    """The bot does not come up; the message says why."""


class Ended(Exception):
    """The process is over; the message says how."""


class LocalBot:
    """One process of the bot at a time."""

    def __init__(
        self,
        bot: Bot,
        confinement: Confinement = UNCONFINED,
        *,
        log: Path | None = None,
        startup_ms: int = DEFAULT_STARTUP_MS,
    ) -> None:
        self.bot = bot
        self._confinement = confinement
        self._log = log
        self._startup_ms = startup_ms
        self._process: BotProcess | None = None
        self._lines: Lines | None = None
        self._tail = b""

    @property
    def pid(self) -> int:
        assert self._process is not None
        assert self._process.pid is not None
        return self._process.pid

    @property
    def fd(self) -> int:
        """To be polled for reading."""
        assert self._lines is not None
        return self._lines.fd

    def start(self) -> HelloReceived:
        """Start it and hear its hello. Raises WillNotStart."""
        self.stop()
        try:
            self._process = process = start_bot(self.bot, self._confinement, log=self._log)
            process.await_start(self._startup_ms / 1000)
            self._lines = lines_of(process)
            self.say(encode([Hello(PROTOCOL, __version__)]))
            return self._hear_hello()
        except (NoStart, Ended) as problem:
            self.stop()
            raise WillNotStart(f"{self.bot.name} does not start: {problem}") from None

    def _hear_hello(self) -> HelloReceived:
        assert self._lines is not None
        give_up = time.monotonic() + self._startup_ms / 1000
        while time.monotonic() < give_up:
            if not self._lines.ready(SLICE_MS):
                continue
            lines = self.hear()
            if not lines:
                continue
            try:
                _, hello = decode_line(lines[0])
            except Garbled as garbled:
                raise Ended(str(garbled)) from None
            if not isinstance(hello, HelloReceived):
                raise Ended("something else came where its hello is due")
            self._tail = b"".join(line + b"\n" for line in lines[1:]) + self._tail
            return hello
        raise Ended(f"no hello within {self._startup_ms} ms")

    @property
    def unread(self) -> int:
        """How many bytes wait for it."""
        return 0 if self._lines is None else len(self._lines.unsent)

    def say(self, lines: bytes) -> None:
        """What it does not read now goes out later, with `push`."""
        assert self._lines is not None
        try:
            self._lines.write(lines)
        except BrokenPipeError:
            # Its output ends too, or it is late: either is found out by listening.
            self._lines.unsent = b""

    def push(self) -> None:
        """Send what is unsent."""
        if self._lines is not None and self._lines.unsent:
            self.say(b"")

    def hear(self) -> list[bytes]:
        """The whole lines that it has written. Raises Ended."""
        assert self._lines is not None
        assert self._process is not None
        try:
            data = self._lines.read()
        except BotFault as fault:
            raise Ended(fault.detail) from None
        if data == b"":
            how = self._process.how_it_ended(BYE_S) or "closed its output"
            raise Ended(f"the bot {how}")
        *lines, self._tail = (self._tail + (data or b"")).split(b"\n")
        if len(self._tail) > LINE_LIMIT:
            lines.append(self._tail)
            self._tail = b""
        found = [line.removesuffix(b"\r") for line in lines if line.strip()]
        return [line if len(line) <= LINE_LIMIT else line[:KEPT] for line in found]

    def hold(self) -> None:
        """No turn is open: where bots stand still between their turns, stop this one until it is
        released. One that was stopped is stopped again: a process that was about to end can wake
        others."""
        if self._confinement.freeze and self._process is not None:
            self._process.hold()

    def release(self) -> None:
        """Let it go on."""
        if self._process is not None:
            self._process.release()

    def leave(self) -> None:
        """Say bye, and give it a second to exit."""
        if self._process is not None and self._lines is not None:
            self.say(encode([Bye()]))
            self._process.leave(BYE_S)
        self.stop()

    def stop(self) -> None:
        """End the process with all that descends from it."""
        if self._process is not None:
            self._process.close()
        self._process = self._lines = None
        self._tail = b""
