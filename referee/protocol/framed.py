"""The conversation with a bot that the referee has started and that speaks ZeroMQ.

The same session as over pipes, with messages in ZeroMQ's frames instead of lines. Over ZeroMQ the
bot speaks first, and its hello has to carry the token that it was started with; the referee's own
hello goes back in the encoding of the bot's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from secrets import compare_digest

from referee.protocol.codec import Garbled, decode_line, excerpt
from referee.protocol.messages import (
    FLOOD_BYTES,
    PROTOCOL,
    Event,
    Hello,
    HelloReceived,
    Misbehaved,
    ToBot,
)
from referee.protocol.packed import decode_packed
from referee.protocol.session import Session, State
from referee.protocol.zmtp import GREETING, Peer, frame
from referee.verdict import Ending


def _nowhere(_data: bytes) -> None:
    raise AssertionError("a session that was not told how to reply")


class FramedSession(Session):
    """The referee's end of the conversation, bytes of ZMTP in, events out."""

    __slots__ = ("_peer", "_token", "_version", "reply")

    def __init__(self, flood_bytes: int = FLOOD_BYTES, *, token: str = "") -> None:
        super().__init__(flood_bytes)
        self._peer = Peer()
        self._token = token
        self._version = ""
        self.reply: Callable[[bytes], None] = _nowhere
        """Takes what has to go back at once: ZeroMQ's handshake and heartbeats, and the hello."""

    # What the referee says.

    def pack(self, messages: Sequence[ToBot]) -> bytes:
        return b"".join([frame(body) for body in self.frames(messages)])

    def hello(self, version: str) -> bytes:
        """The beginning of a connection; the hello itself waits for the bot's."""
        self._send("hello")
        self._version = version
        return GREETING

    # What the bot says.

    def receive(self, data: bytes) -> Sequence[Event]:
        """The events in these bytes. Incomplete frames wait for the rest."""
        events: list[Event] = []
        if self.state is State.BROKEN or self.state is State.LEAVING:
            return events
        peer = self._peer
        try:
            for message in peer.receive(data):
                events += self._hear(message)
                if events and isinstance(events[-1], Misbehaved):
                    return events
            if peer.command_bytes:
                events += self._count_commands()
        except Garbled as garbled:
            code = Ending.NO_HELLO if self.state is State.GREETING else Ending.GARBLED
            events.append(self._broken(code, str(garbled)))
            return events
        if peer.reply:
            reply = bytes(peer.reply)
            peer.reply.clear()
            self.reply(reply)
        return events

    @property
    def is_settled(self) -> bool:
        return super().is_settled and not self._peer.is_midway

    def unfinished(self) -> str:
        """What came of a message that was not complete, cut and escaped."""
        return excerpt(self._peer.unfinished)

    def end_of_input(self) -> Sequence[Event]:
        """The connection has ended."""
        if self.state is State.LEAVING or self.state is State.BROKEN:
            return []
        code = Ending.NO_START if self.state is State.GREETING else Ending.CRASH
        received = self.unfinished()
        where = " in the middle of a message" if received else ""
        return [self._broken(code, f"the bot's connection ended{where}", received)]

    def _hear(self, message: bytes) -> Sequence[Event]:
        """A hello counts with its token alone, and is answered; said again, it changes nothing."""
        if self.state is State.PLAYING and b"hello" in message and self._is_hello(message):
            self._welcome()
            event = self._count_stale(None)
            return [] if event is None else [event]
        events = self.message(message)
        if len(events) == 1 and isinstance(events[0], HelloReceived):
            given = events[0].token
            if not self._fits(given):
                which = "no token" if given is None else "a wrong token"
                detail = f"the hello carries {which}; send what REFEREE_TOKEN says as its token"
                return [self._broken(Ending.NO_HELLO, detail, excerpt(message))]
            self._welcome()
        return events

    def _is_hello(self, message: bytes) -> bool:
        """Whether a bot that was not talked to for long says hello again, as over a network."""
        try:
            _, hello = decode_packed(message) if self.packed else decode_line(message)
        except Garbled:
            return False
        return isinstance(hello, HelloReceived) and self._fits(hello.token)

    def _broken(self, code: Ending, detail: str, received: str = "") -> Misbehaved:
        self._peer = Peer()
        return super()._broken(code, detail, received)

    def _fits(self, token: str | None) -> bool:
        return token is not None and compare_digest(token.encode(), self._token.encode())

    def _welcome(self) -> None:
        self.reply(self.pack([Hello(PROTOCOL, self._version)]))

    def _count_commands(self) -> list[Misbehaved]:
        """Heartbeats come by the second, however long nobody is asked; too many are a flood."""
        self._heard += self._peer.command_bytes
        self._peer.command_bytes = 0
        if self._heard <= self._flood_bytes:
            return []
        code = Ending.NO_HELLO if self.state is State.GREETING else Ending.FLOOD
        return [self._broken(code, f"more than {self._flood_bytes} bytes since the last turn")]
