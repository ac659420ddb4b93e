"""Any bot that the referee has started, told and heard in lines.

Whoever does not judge a conversation but shows it or passes it on wants one form of it. What comes
from a bot over ZeroMQ is turned into lines, and lines that go to it into messages in the encoding
of its hello.
"""

from __future__ import annotations

import json
import select
from secrets import compare_digest

import msgspec

from referee.bots.process import BotProcess
from referee.links.endpoint import LocalEndpoint
from referee.links.pipe import PipeLink
from referee.protocol.codec import Garbled, excerpt, read_object
from referee.protocol.packed import is_packed, read_packed
from referee.protocol.zmtp import GREETING, Peer, frame
from referee.verdict import BotFault, Ending


def readable(fd: int, within_ms: int) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(within_ms))


class PipeLines(PipeLink):
    """A bot that reads and writes lines."""

    __slots__ = ()

    def ready(self, within_ms: int) -> bool:
        """Whether something of it waits to be read, its end included."""
        return readable(self.fd, within_ms)


class ZmqLines:
    """A bot that does not."""

    out_fd = -1
    """How much of what was sent is unread, nobody can tell."""

    @property
    def fd(self) -> int:
        """To be polled for reading. It is another one after the bot has connected."""
        return self._endpoint.fd if self._link is None else self._link.fd

    def __init__(self, process: BotProcess, endpoint: LocalEndpoint) -> None:
        self._process = process
        self._endpoint = endpoint
        self._link: PipeLink | None = None
        self._peer = Peer()
        self._packed: bool | None = None
        """The encoding of its hello, once that has come."""
        self._held = b""
        """Lines that wait for it."""

    @property
    def unsent(self) -> bytes:
        return self._held or (self._link.unsent if self._link is not None else b"")

    @unsent.setter
    def unsent(self, data: bytes) -> None:
        self._held = data
        if self._link is not None:
            self._link.unsent = data

    def ready(self, within_ms: int) -> bool:
        """Whether something of it waits to be read, its end included."""
        if self._link is not None:
            return readable(self._link.fd, within_ms)
        called = readable(self._endpoint.fd, within_ms)
        return called or self._process.exit_status() is not None

    def write(self, lines: bytes) -> None:
        """Raises BrokenPipeError."""
        self._held += lines
        self.flush()

    def flush(self) -> None:
        """Raises BrokenPipeError."""
        if self._link is None:
            return
        if self._packed is not None and self._held:
            messages = [json.loads(line) for line in self._held.splitlines() if line.strip()]
            self._held = b""
            self._link.write(b"".join(frame(self._written(message)) for message in messages))
        elif self._link.unsent:
            self._link.flush()

    def _written(self, message: object) -> bytes:
        if self._packed:
            return msgspec.msgpack.encode(message)
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()

    def read(self) -> bytes | None:
        """The lines that have arrived; empty at the end, None when there is none yet.

        Raises BotFault for what no line can stand for.
        """
        if self._link is None:
            self._link = self._endpoint.accept()
            if self._link is None:
                return b"" if self._process.exit_status() is not None else None
            self._link.reply(GREETING)
        data = self._link.read()
        if not data:
            return data
        lines = b""
        try:
            for message in self._peer.receive(data):
                lines += self._line(message)
        except Garbled as garbled:
            code = Ending.NO_HELLO if self._packed is None else Ending.GARBLED
            raise BotFault(code, str(garbled)) from None
        if self._peer.reply:
            self._link.reply(bytes(self._peer.reply))
            self._peer.reply.clear()
        return lines or None

    def _line(self, message: bytes) -> bytes:
        """Raises Garbled."""
        packed = is_packed(message)
        if self._packed is None:
            self._admit(message, packed=packed)
        if packed != self._packed and message[:1] == b"{":
            raise Garbled("JSON where MessagePack is due; keep to the encoding of your hello")
        if packed:
            return json.dumps(read_packed(message), ensure_ascii=False).encode() + b"\n"
        return b" ".join(message.splitlines()) + b"\n"

    def _admit(self, message: bytes, *, packed: bool) -> None:
        """Its first message. Raises BotFault where that is a hello without the token."""
        hello = read_packed(message) if packed else read_object(message)
        given = hello.get("token")
        if hello.get("type") == "hello" and not (
            isinstance(given, str) and compare_digest(given.encode(), self._endpoint.token.encode())
        ):
            which = "no token" if given is None else "a wrong token"
            told = f"the hello carries {which}; send what REFEREE_TOKEN says as its token"
            raise BotFault(Ending.NO_HELLO, told, excerpt(message))
        self._packed = packed


Lines = PipeLines | ZmqLines


def lines_of(process: BotProcess) -> Lines:
    """The lines to and from a process, however it speaks."""
    if process.endpoint is None:
        return PipeLines(process.stdin, process.stdout)
    return ZmqLines(process, process.endpoint)
