"""The session over ZeroMQ's frames: no socket here, only the bytes that a DEALER sends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import msgpack

from referee.protocol.framed import FramedSession
from referee.protocol.messages import (
    FLOOD_BYTES,
    STALE_LIMIT,
    Event,
    HelloReceived,
    Misbehaved,
    MoveReceived,
    Turn,
)
from referee.protocol.session import State
from referee.protocol.zmtp import COMMAND, GREETING, MORE, command, frame, ready
from tests.facts import Naming
from tests.protocol import cut, feed, one_by_one, quick

TOKEN = "5ecret"
HELLO = b'{"type":"hello","token":"5ecret"}'
OPENING = GREETING + ready(b"DEALER")
TURN = Turn("1", 1, {}, [], [1, 2], None)


class Bot:
    """A session, and what it has sent back by itself."""

    def __init__(self, flood_bytes: int = FLOOD_BYTES) -> None:
        self.session = FramedSession(flood_bytes, token=TOKEN)
        self.replies = bytearray()
        self.session.reply = self.replies.extend
        assert self.session.hello("test") == GREETING


def playing(hello: bytes = HELLO, turns: int = 4) -> Bot:
    bot = Bot()
    (event,) = bot.session.receive(OPENING + frame(hello))
    assert isinstance(event, HelloReceived)
    bot.session.ask(turns)
    bot.replies.clear()
    return bot


def fault(events: list[Event]) -> tuple[str, str]:
    event = events[-1]
    assert isinstance(event, Misbehaved)
    return event.code, event.detail


def test_the_handshake_and_the_hello_are_answered() -> None:
    bot = Bot()
    assert bot.session.receive(GREETING[:11]) == []
    assert not bot.replies, "the whole greeting is waited for"
    assert bot.session.receive(GREETING[11:]) == []
    assert bytes(bot.replies) == ready(b"ROUTER")
    bot.replies.clear()
    (hello,) = bot.session.receive(ready(b"DEALER") + frame(HELLO))
    assert isinstance(hello, HelloReceived)
    assert bytes(bot.replies) == frame(b'{"type":"hello","protocol":1,"referee":"test"}')
    assert bot.session.state is State.PLAYING


def test_the_referee_keeps_to_the_encoding_of_the_hello() -> None:
    packed = playing(msgpack.encode({"type": "hello", "token": TOKEN}))
    sent = packed.session.pack([TURN, TURN])
    half = len(sent) // 2
    assert sent[:half] == sent[half:]
    assert msgpack.decode(sent[2:half])["legal"] == [1, 2]
    assert packed.session.bye() == frame(msgpack.encode({"type": "bye"}))
    assert playing().session.bye() == frame(b'{"type":"bye"}')


def test_a_long_message_has_a_long_frame() -> None:
    turn = Turn("1", 1, {"text": "x" * 300}, [], None, None)
    sent = playing().session.pack([turn])
    assert sent[0] == 2
    assert int.from_bytes(sent[1:9], "big") == len(sent) - 9


STREAMS = {
    "answers": [frame(b'{"id":1,"move":5}'), frame(b'{\n "id": 2,\n "move": 5\n}')],
    "a long one": [frame(b'{"id":1,"move":5,"note":"' + b"n" * 500 + b'"}')],
    "a heartbeat between": [frame(b'{"id":1,"move":5}'), command(b"PING", b"\0\x05ctx")],
    "then garbled": [frame(b'{"id":1,"move":5}'), frame(b"oops"), frame(b'{"id":2,"move":5}')],
    "then parts": [frame(b'{"id":1,"move":5}'), frame(b"", MORE), frame(b"{}")],
    "half": [frame(b'{"id":1,"move":5}'), frame(b'{"id":2,"move":5}')[:-3]],
}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS.keys())
@given(places=st.lists(st.integers(0, 5_000), max_size=8))
@quick
def test_however_it_is_cut(stream: list[bytes], places: list[int]) -> None:
    data = b"".join(stream)
    whole, pieces, bytewise = playing(), playing(), playing()
    expected = feed(whole.session, [data]), whole.replies, whole.session.unfinished()
    assert expected[0]
    assert (
        feed(pieces.session, cut(data, places)),
        pieces.replies,
        pieces.session.unfinished(),
    ) == expected
    assert (
        feed(bytewise.session, one_by_one(data)),
        bytewise.replies,
        bytewise.session.unfinished(),
    ) == expected


@given(st.binary(max_size=300))
@quick
def test_arbitrary_bytes_are_at_most_a_fault(data: bytes) -> None:
    for bot, before in ((Bot(), b""), (Bot(), OPENING), (playing(), b"")):
        for event in bot.session.receive(before + data):
            assert isinstance(event, Event)


@pytest.mark.parametrize(
    ("opening", "detail"),
    [
        (b'{"type":"hello"}\n', "what came is not ZeroMQ; connect a DEALER socket"),
        (GREETING[:10] + b"\x01\x05\0\0", "ZMTP 1, of an old library, where version 3 is due"),
        (
            GREETING[:12] + b"CURVE".ljust(20, b"\0") + bytes(32),
            "the mechanism 'CURVE' where none is due: set no keys here",
        ),
        (GREETING + ready(b"REQ"), "a socket of type 'REQ' where a DEALER is due"),
        (GREETING + frame(HELLO), "a message before the handshake of ZeroMQ was over"),
        (GREETING + command(b"PING", b"\0\0"), "no READY where the handshake of ZeroMQ is due"),
        (GREETING + frame(b"", COMMAND), "no READY where the handshake of ZeroMQ is due"),
        (
            GREETING + command(b"READY", b"\x08Identity\0\0\0\0"),
            "a READY of ZeroMQ that names no type of socket",
        ),
        (OPENING + b"\x40\0", "a frame that ZeroMQ does not know"),
        (
            OPENING + b"\x02" + (2**40).to_bytes(8, "big"),
            "a message of 1099511627776 bytes; the limit is 65536",
        ),
    ],
)
def test_a_connection_that_begins_badly(opening: bytes, detail: str) -> None:
    bot = Bot()
    assert fault(list(bot.session.receive(opening))) == ("no_hello", detail)
    assert bot.session.receive(frame(HELLO)) == []


@pytest.mark.parametrize("token", [None, "", "5ecret ", "geheim", "ß" * 20])
def test_a_hello_without_the_token(token: str | None) -> None:
    bot = Bot()
    hello = {"type": "hello"} if token is None else {"type": "hello", "token": token}
    code, detail = fault(list(bot.session.receive(OPENING + frame(msgpack.encode(hello)))))
    assert code == "no_hello"
    assert detail.startswith(
        "the hello carries " + ("no token" if token is None else "a wrong token")
    )


def test_a_hello_that_is_said_again_changes_nothing() -> None:
    bot = playing()
    assert bot.session.receive(frame(HELLO)) == []
    assert bytes(bot.replies) == frame(b'{"type":"hello","protocol":1,"referee":"test"}')
    assert bot.session.receive(frame(b'{"id":1,"move":5}')) == [MoveReceived(1, 5)]
    code, detail = fault(list(bot.session.receive(frame(HELLO) * (STALE_LIMIT + 1))))
    assert code == "flood"
    assert detail == Naming(STALE_LIMIT, "lines")


def test_heartbeats_are_answered_and_too_many_are_a_flood() -> None:
    bot = playing()
    ping = command(b"PING", b"\0\x05" + b"0123456789abcdef")
    assert bot.session.receive(ping) == []
    assert bytes(bot.replies) == command(b"PONG", b"0123456789abcdef")
    assert bot.session.receive(ping * (STALE_LIMIT * 10)) == [], "one a second, for a while"
    found: list[Event] = []
    for _ in range(FLOOD_BYTES // (len(ping) * 1000) + 1):
        found += bot.session.receive(ping * 1000)
    code, detail = fault(found)
    assert code == "flood"
    assert detail == Naming(FLOOD_BYTES, "last turn")


def test_the_end_of_the_connection() -> None:
    bot = playing()
    assert bot.session.receive(frame(b'{"id":1,"move":5}')[:9]) == []
    code, detail = fault(list(bot.session.end_of_input()))
    assert code == "crash"
    assert detail == Naming("connection ended", "middle of a message")
    assert fault(list(Bot().session.end_of_input())) == ("no_start", "the bot's connection ended")


def test_a_message_that_has_only_begun_is_not_settled() -> None:
    bot = playing(turns=0)
    bot.session.ping()
    pong = frame(b'{"type":"pong"}')
    assert len(bot.session.receive(pong + pong[:1])) == 1
    assert not bot.session.is_settled
    assert len(bot.session.receive(pong[1:])) == 1
