"""The bound end of one ZeroMQ connection: bytes in, messages out. No socket, no library.

A bot that the referee starts calls it over a socket that nobody else can reach (links/endpoint.py),
with any ZeroMQ library. What it sends is ZMTP 3, which is little more than a length before each
message; that little is read here, so that such a bot is polled, timed and judged like one on pipes,
and so that no peer can make a library queue what nobody has asked for: a message of endless parts
would grow there without a limit.

The specification: https://rfc.zeromq.org/spec/37/ (ZMTP 3.1).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from referee.protocol.codec import Garbled
from referee.protocol.messages import LINE_LIMIT

MORE, LONG, COMMAND = 1, 2, 4
SHORTEST_LONG = 256
SIGNATURE = b"\xff\0\0\0\0\0\0\0\x01\x7f"
VERSION = b"\x03\x01"
MECHANISM = b"NULL".ljust(20, b"\0")
GREETING = SIGNATURE + VERSION + MECHANISM + bytes(32)
"""What both ends say first: 64 bytes, the last 32 of which say nothing here."""
OURS, THEIRS = b"ROUTER", b"DEALER"
HEADERS = (2, 9)
"""Bytes before the body of a short frame and of a long one."""


def frame(body: bytes, flags: int = 0) -> bytes:
    """One message of one part, or one command."""
    if len(body) < SHORTEST_LONG:
        return bytes((flags, len(body))) + body
    return bytes((flags | LONG,)) + struct.pack(">Q", len(body)) + body


def command(name: bytes, data: bytes) -> bytes:
    return frame(bytes((len(name),)) + name + data, COMMAND)


def ready(socket_type: bytes) -> bytes:
    """The second and last thing that an end says before messages."""
    name = b"Socket-Type"
    size = struct.pack(">I", len(socket_type))
    return command(b"READY", bytes((len(name),)) + name + size + socket_type)


class Peer:
    """Whoever connected. Everything is refused but a DEALER that sends messages of one part."""

    __slots__ = ("_greeted", "_ready", "_tail", "command_bytes", "reply")

    def __init__(self) -> None:
        self._tail = bytearray()
        self._greeted = False
        self._ready = False
        self.reply = bytearray()
        """What has to go back to it; to be taken by whoever has the socket."""
        self.command_bytes = 0
        """Of heartbeats and the like, which are no messages."""

    @property
    def is_midway(self) -> bool:
        """Whether something has come that is not complete."""
        return bool(self._tail)

    @property
    def unfinished(self) -> bytes:
        """What has come of a message that is not complete."""
        if not self._ready or not self._tail:
            return b""
        return bytes(self._tail[HEADERS[bool(self._tail[0] & LONG)] :])

    def receive(self, data: bytes) -> Iterator[bytes]:
        """The messages in these bytes; incomplete ones wait for the rest. Raises Garbled."""
        tail = self._tail
        tail += data
        if not self._greeted and not self._hear_greeting():
            return
        while (found := self._frame()) is not None:
            flags, body = found
            if flags & COMMAND:
                self._hear_command(body)
            elif not self._ready:
                raise Garbled("a message before the handshake of ZeroMQ was over")
            elif flags & MORE:
                raise Garbled("a message of several parts; send one object in one part")
            else:
                yield body

    def _hear_greeting(self) -> bool:
        tail = self._tail
        if tail[:1] not in (bytearray(), bytearray(b"\xff")) or (len(tail) > 9 and not tail[9] & 1):
            raise Garbled("what came is not ZeroMQ; connect a DEALER socket")
        if len(tail) > 10 and tail[10] < VERSION[0]:
            raise Garbled(f"ZMTP {tail[10]}, of an old library, where version 3 is due")
        if len(tail) < len(GREETING):
            return False
        mechanism = bytes(tail[12:32]).rstrip(b"\0").decode("ascii", "replace")
        if mechanism != "NULL":
            raise Garbled(f"the mechanism {mechanism!r} where none is due: set no keys here")
        del tail[: len(GREETING)]
        self._greeted = True
        self.reply += ready(OURS)
        return True

    def _frame(self) -> tuple[int, bytes] | None:
        """The next whole frame, taken off the tail."""
        tail = self._tail
        if len(tail) < 2:
            return None
        flags, size, header = tail[0], tail[1], HEADERS[0]
        if flags & ~(MORE | LONG | COMMAND):
            raise Garbled("a frame that ZeroMQ does not know")
        if flags & LONG:
            header = HEADERS[1]
            if len(tail) < header:
                return None
            (size,) = struct.unpack_from(">Q", tail, 1)
        if size > LINE_LIMIT:
            raise Garbled(f"a message of {size} bytes; the limit is {LINE_LIMIT}")
        if len(tail) < header + size:
            return None
        body = bytes(tail[header : header + size])
        del tail[: header + size]
        return flags, body

    def _hear_command(self, body: bytes) -> None:
        self.command_bytes += HEADERS[0] + len(body)
        name, rest = body[1 : 1 + body[0]] if body else b"", body[1 + body[0] :] if body else b""
        if not self._ready:
            if name != b"READY":
                raise Garbled("no READY where the handshake of ZeroMQ is due")
            kind = _socket_type(rest)
            if kind != THEIRS:
                told = kind.decode("ascii", "replace")
                raise Garbled(f"a socket of type {told!r} where a DEALER is due")
            self._ready = True
        elif name == b"PING":
            self.reply += command(b"PONG", rest[2:18])
        elif name == b"ERROR":
            raise Garbled("the bot's ZeroMQ library ended the conversation with an error")


def _socket_type(metadata: bytes) -> bytes:
    """From the fields of a READY. Raises Garbled."""
    place = 0
    while place < len(metadata):
        name_end = place + 1 + metadata[place]
        name = metadata[place + 1 : name_end]
        if len(metadata) < name_end + 4:
            break
        (size,) = struct.unpack_from(">I", metadata, name_end)
        value = metadata[name_end + 4 : name_end + 4 + size]
        if name.lower() == b"socket-type":
            return bytes(value)
        place = name_end + 4 + size
    raise Garbled("a READY of ZeroMQ that names no type of socket")
