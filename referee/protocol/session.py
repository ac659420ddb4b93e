"""One bot's conversation: bytes in, events out. No file descriptor, no clock, no rules.

What may be said when is the table below; protocol.md draws its diagram from it. The session gives
out turn ids, which rise on a link, and knows which of them are open, so that a late answer is
never taken for the next turn: an old id is dropped and counted, an id that was never given is
garbled. However the bytes arrive, whole, one by one or cut anywhere, the events are the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from msgspec.structs import replace

from referee.protocol.codec import (
    STDOUT_HINT,
    BotMessage,
    Garbled,
    decode_line,
    decode_plain_answers,
    decode_plain_message,
    encode,
    encode_whole,
    excerpt,
)
from referee.protocol.messages import (
    FLOOD_BYTES,
    LINE_LIMIT,
    PROTOCOL,
    STALE_LIMIT,
    Bye,
    Event,
    Hello,
    HelloReceived,
    Misbehaved,
    MoveReceived,
    OddMoveReceived,
    Over,
    Ping,
    PongReceived,
    ResignReceived,
    ToBot,
)
from referee.protocol.packed import decode_packed, decode_plain_packed, is_packed, pack
from referee.verdict import Ending


class State(Enum):
    NEW = "new"
    GREETING = "greeting"
    PLAYING = "playing"
    LEAVING = "leaving"
    BROKEN = "broken"


_no_line_end = re.compile(rb"[^\n]").search
_BEGINNINGS = frozenset([b"{", *(bytes([first]) for first in (*range(0x80, 0x90), 0xDE, 0xDF))])
"""How an object begins in the two encodings."""
PLAYING = State.PLAYING
"""Looking a member up in its enum is slow, and this one is asked for with every answer."""

SENT: Mapping[State, Mapping[str, State]] = {
    State.NEW: {"hello": State.GREETING},
    State.PLAYING: {
        "start": State.PLAYING,
        "turn": State.PLAYING,
        "over": State.PLAYING,
        "error": State.PLAYING,
        "ping": State.PLAYING,
        "bye": State.LEAVING,
    },
}
"""What the referee may send in each state, and where it leads."""

RECEIVED: Mapping[State, Mapping[str, State]] = {
    State.GREETING: {"hello": State.PLAYING, "anything else": State.BROKEN},
    State.PLAYING: {
        "move": State.PLAYING,
        "resign": State.PLAYING,
        "pong": State.PLAYING,
        "anything else": State.BROKEN,
    },
    State.LEAVING: {"anything": State.LEAVING},
}
"""What a bot may send in each state, and where it leads."""


class Session:
    """The referee's end of the conversation with one bot process."""

    __slots__ = (
        "_asked",
        "_flood_bytes",
        "_heard",
        "_last_id",
        "_pinged",
        "_quick_bytes",
        "_stale",
        "_tail",
        "dropped",
        "packed",
        "state",
    )

    def __init__(self, flood_bytes: int = FLOOD_BYTES) -> None:
        """`flood_bytes` is the most that a bot may send from one turn to the next."""
        self._flood_bytes = flood_bytes
        self._quick_bytes = min(flood_bytes, LINE_LIMIT)
        self.state = State.NEW
        self.dropped = 0
        """Answers that were late or given twice, since the session began."""
        self.packed = False
        """Whether the bot speaks MessagePack; its hello tells, where whole messages are heard."""
        self._tail = bytearray()
        self._asked: set[int] = set()
        self._last_id = 0
        self._heard = 0
        self._stale = 0
        self._pinged = False
        """Whether a pong is due."""

    # What the referee says.

    pack = staticmethod(encode)
    """Start, turn, over and error, as lines for one write. For a bot that is playing."""

    def hello(self, version: str) -> bytes:
        self._send("hello")
        return encode([Hello(PROTOCOL, version)])

    def bye(self) -> bytes:
        self._send("bye")
        return self.pack([Bye()])

    def ping(self) -> bytes:
        assert not self._asked, "a ping during the bot's turn"
        self._send("ping")
        # Its answer is asked for: on a link that is idle for days, pongs must not become a flood.
        self._heard = self._stale = 0
        self._pinged = True
        return self.pack([Ping()])

    def pack_what_can_be(self, messages: Sequence[ToBot]) -> bytes:
        """The same without events into which a variant's script has put something that the encoding
        does not know. For what follows a game."""
        try:
            return self.pack(messages)
        except Exception:
            plain = [replace(each, events=[]) if type(each) is Over else each for each in messages]
            return self.pack(plain)

    def frames(self, messages: Sequence[ToBot]) -> list[bytes]:
        """Each message by itself, in the encoding of the bot's hello."""
        encode_one = pack if self.packed else encode_whole
        return [encode_one(message) for message in messages]

    def ask(self, turns: int = 1) -> int:
        """A fresh turn id, open from now on; of several in a row, the first."""
        first = self._last_id + 1
        if turns == 1:
            self._asked.add(first)
        else:
            self._asked.update(range(first, first + turns))
        self._last_id += turns
        self._heard = 0
        return first

    @property
    def is_settled(self) -> bool:
        """Whether every turn was answered once and in time, and nothing else was said."""
        return not (self._asked or self._tail or self.dropped or self._stale)

    def withdraw(self, turn_id: int) -> None:
        """The turn is over without an answer; one that still comes is dropped."""
        self._asked.discard(turn_id)

    def _send(self, kind: str) -> None:
        self.state = SENT[self.state][kind]

    # What the bot says.

    def receive(self, data: bytes) -> Sequence[Event]:
        """The events in these bytes. Incomplete lines wait for the rest."""
        self._heard = heard = self._heard + len(data)
        if heard <= self._quick_bytes and self.state is PLAYING and not self._tail:
            answers = decode_plain_answers(data)
            if answers is not None:
                asked = self._asked
                if len(answers) == 1:
                    turn_id = answers[0].id
                    if turn_id in asked:
                        asked.remove(turn_id)
                        self._stale = 0
                        return answers
                else:
                    ids = {answer.id for answer in answers}
                    if len(ids) == len(answers) and ids <= asked:
                        asked -= ids
                        self._stale = 0
                        return answers
        return self._receive_strictly(data)

    def message(self, data: bytes) -> Sequence[Event]:
        """The events in one whole message, JSON or MessagePack, by the same rules as in lines."""
        self._heard = heard = self._heard + len(data)
        if heard <= self._quick_bytes and self.state is PLAYING:
            answer = decode_plain_packed(data) if self.packed else decode_plain_message(data)
            if answer is not None and answer.id in self._asked:
                self._asked.remove(answer.id)
                self._stale = 0
                return (answer,)
        return self._message_strictly(data)

    def unfinished(self) -> str:
        """What came without the end of its line, cut and escaped."""
        return excerpt(bytes(self._tail).strip())

    def end_of_input(self) -> Sequence[Event]:
        """The bot closed its end."""
        if self.state is State.LEAVING or self.state is State.BROKEN:
            return []
        where = " in the middle of a line" if self._tail else ""
        code = Ending.NO_START if self.state is State.GREETING else Ending.CRASH
        received = excerpt(bytes(self._tail))
        return [self._broken(code, f"the bot's standard output ended{where}", received)]

    def _receive_strictly(self, data: bytes) -> list[Event]:
        events: list[Event] = []
        most = self._flood_bytes
        # The beginning of a line counts for the turn in which it goes on: turns of other games may
        # follow one another for ever while a line does not end.
        self._heard = max(self._heard, len(self._tail) + len(data))
        flooded = self._heard > most
        if flooded:
            data = data[: len(data) - (self._heard - most)]
        start = 0
        while self.state is not State.BROKEN and self.state is not State.LEAVING:
            end = data.find(b"\n", start)
            if end < 0:
                self._tail += data[start:]
                break
            if end == start and not self._tail:
                # Blank lines come by the megabyte or not at all: skip a run of them in one go.
                found = _no_line_end(data, start)
                start = len(data) if found is None else found.start()
                continue
            line = bytes(self._tail) + data[start:end]
            self._tail.clear()
            start = end + 1
            event = self._line(line)
            if event is not None:
                events.append(event)
        if flooded and self.state in (State.GREETING, State.PLAYING):
            code = Ending.NO_HELLO if self.state is State.GREETING else Ending.FLOOD
            detail = f"more than {most} bytes since the last turn"
            events.append(self._broken(code, detail, excerpt(bytes(self._tail))))
        return events

    def _message_strictly(self, data: bytes) -> Sequence[Event]:
        greeting = self.state is State.GREETING
        if not greeting and self.state is not State.PLAYING:
            return ()
        most, packed = self._flood_bytes, is_packed(data)
        if self._heard > most:
            code = Ending.NO_HELLO if greeting else Ending.FLOOD
            return (self._broken(code, f"more than {most} bytes since the last turn"),)
        if greeting:
            self.packed = packed
        elif packed != self.packed and data[:1] in _BEGINNINGS:
            came, due = ("MessagePack", "JSON") if packed else ("JSON", "MessagePack")
            detail = f"{came} where {due} is due; keep to the encoding of your hello"
            return (self._broken(Ending.GARBLED, detail, excerpt(data)),)
        event = self._understand(data, decode_packed if self.packed else decode_line)
        if isinstance(event, Misbehaved):
            detail = event.detail.removesuffix(f"; {STDOUT_HINT}")
            event = Misbehaved(event.code, detail, event.received)
        return () if event is None else (event,)

    def _line(self, line: bytes) -> Event | None:
        line = line.removesuffix(b"\r")
        if not line.strip(b" \t\r"):
            return None
        return self._understand(line, decode_line)

    def _understand(
        self, line: bytes, decode: Callable[[bytes], tuple[str, BotMessage]]
    ) -> Event | None:
        try:
            kind, message = decode(line)
            if kind not in RECEIVED[self.state]:
                due = ", ".join(k for k in RECEIVED[self.state] if k != "anything else")
                raise Garbled(f"a {kind} where {due} is due")
        except Garbled as garbled:
            greeting = self.state is State.GREETING
            code = Ending.NO_HELLO if greeting else Ending.GARBLED
            return self._broken(code, str(garbled), excerpt(line))
        if isinstance(message, HelloReceived) and message.protocol != PROTOCOL:
            return self._broken(
                Ending.WRONG_PROTOCOL,
                f"the bot speaks protocol {message.protocol}, the referee {PROTOCOL}",
                excerpt(line),
            )
        self.state = RECEIVED[self.state][kind]
        if isinstance(message, MoveReceived | OddMoveReceived | ResignReceived):
            return self._answer(message, excerpt(line))
        if isinstance(message, PongReceived):
            asked, self._pinged = self._pinged, False
            return message if asked else self._count_stale(message)
        return message

    def _answer(
        self, answer: MoveReceived | OddMoveReceived | ResignReceived, received: str
    ) -> Event | None:
        if answer.id in self._asked:
            self._asked.remove(answer.id)
            self._stale = 0
            return answer
        if not 1 <= answer.id <= self._last_id:
            return self._broken(Ending.GARBLED, f"id {answer.id} was never given", received)
        self.dropped += 1
        return self._count_stale(None)

    def _count_stale(self, event: Event | None) -> Event | None:
        self._stale += 1
        if self._stale > STALE_LIMIT:
            return self._broken(
                Ending.FLOOD, f"more than {STALE_LIMIT} lines in a row that nobody asked for"
            )
        return event

    def _broken(self, code: Ending, detail: str, received: str = "") -> Misbehaved:
        self.state = State.BROKEN
        self._tail.clear()
        return Misbehaved(code, detail, received)
