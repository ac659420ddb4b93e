"""Whole messages: MessagePack as strict as JSON, and one encoding for a conversation."""

from __future__ import annotations

import json
import math
from typing import Any

import msgpack  # type: ignore[import-untyped]
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from referee.clock import Clock
from referee.protocol.codec import Garbled
from referee.protocol.messages import (
    FLOOD_BYTES,
    LINE_LIMIT,
    NESTING_LIMIT,
    STALE_LIMIT,
    Bye,
    Error,
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
    Start,
    ToBot,
    Turn,
)
from referee.protocol.packed import is_packed, pack, read_packed
from referee.protocol.session import Session, State
from tests.protocol import greeting, quick

TO_BOT: list[ToBot] = [
    Hello(1, "0.1"),
    Start("1-1", "deck", 1, {"cards": 3}, 0, ("a", "b"), Clock(move_ms=100), 2**53 - 1),
    Turn("1-1", 7, {"hand": [1, 2]}, [{"type": "x"}], [1, 2], 99),
    Over("1-1", "win", "rules", (), (1, 0), []),
    Error("garbled", "é", None, None),
    Ping(),
    Bye(),
]


def as_json(fields: object) -> bytes:
    return json.dumps(fields).encode()


def as_packed(fields: object) -> bytes:
    data: bytes = msgpack.packb(fields)
    return data


def playing(*, packed: bool, turns: int = 1) -> Session:
    session = greeting()
    hello = {"type": "hello", "name": "x"}
    (event,) = session.message(as_packed(hello) if packed else as_json(hello))
    assert isinstance(event, HelloReceived)
    assert session.packed is packed
    for _ in range(turns):
        session.ask()
    return session


def broken(session: Session, data: bytes) -> Misbehaved:
    (event,) = session.message(data)
    assert isinstance(event, Misbehaved)
    assert session.state is State.BROKEN
    assert session.message(data) == ()
    return event


@pytest.mark.parametrize("message", TO_BOT, ids=lambda message: type(message).__name__)
def test_both_encodings_say_the_same(message: ToBot) -> None:
    (told,) = playing(packed=False).frames([message])
    (packed,) = playing(packed=True).frames([message])
    assert json.loads(told) == msgpack.unpackb(packed)
    assert packed == pack(message)
    assert is_packed(packed) and not is_packed(told)
    assert b"\n" not in told


@pytest.mark.parametrize("encode", [as_json, as_packed])
@pytest.mark.parametrize(
    ("fields", "event"),
    [
        ({"id": 1, "move": 5}, MoveReceived(1, 5)),
        ({"move": "+5", "id": 1}, MoveReceived(1, "+5")),
        ({"type": "move", "id": 1, "move": 5}, MoveReceived(1, 5, "move")),
        ({"id": 1, "move": 5, "x": {"y": [None, True, 1.5]}}, MoveReceived(1, 5)),
        ({"id": 1, "move": 5.0}, OddMoveReceived(1, 5.0)),
        ({"id": 1, "move": True}, OddMoveReceived(1, True)),
        ({"id": 1, "move": None}, OddMoveReceived(1, None)),
        ({"id": 1, "move": 5, "note": "hm"}, OddMoveReceived(1, 5, "hm")),
        ({"type": "resign", "id": 1}, ResignReceived(1)),
        ({"type": "pong"}, PongReceived()),
    ],
)
def test_what_a_bot_may_say(encode: Any, fields: dict[str, Any], event: Event) -> None:
    session = playing(packed=encode is as_packed)
    assert list(session.message(encode(fields))) == [event]
    assert session.state is State.PLAYING


GARBLED = {
    "dup": (b"\x83\xa2id\x01\xa4move\x05\xa2id\x01", "the key 'id' appears twice"),
    "dup, ignored": (b"\x84\xa2id\x01\xa4move\x05\xa1x\x01\xa1x\x01", "the key 'x' appears twice"),
    "dup, inside": (b"\x81\xa1x\x82\xa1y\x01\xa1y\x01", "the key 'y' appears twice"),
    "number as key": (b"\x83\xa2id\x01\xa4move\x05\x07\x01", "a key that is no text"),
    "bytes as key": (b"\x82\xc4\x02id\x01\xa4move\x05", "a key that is no text"),
    "list as key": (b"\x82\xa2id\x01\x90\x05", "a key that is no text"),
    "map as key": (b"\x82\xa2id\x01\x80\x05", "a key that is no text"),
    "bytes": (b"\x82\xa2id\x01\xa4move\xc4\x01x", "bytes where JSON has nothing like it"),
    "ext": (b"\x83\xa2id\x01\xa4move\x05\xa1x\xd4\x05\x00", "an extension where JSON has nothing"),
    "date": (b"\x83\xa2id\x01\xa4move\x05\xa1x\xd6\xff\0\0\0\0", "an extension where JSON has"),
    "bad date": (b"\x83\xa2id\x01\xa4move\x05\xa1x\xd5\xff\0\0", "not MessagePack"),
    "NaN": (as_packed({"id": 1, "move": math.nan}), "the number nan is not JSON"),
    "Infinity": (as_packed({"id": 1, "move": 1, "x": [-math.inf]}), "the number -inf is not JSON"),
    "2^53+1": (as_packed({"id": 1, "move": 2**53 + 1}), "an integer beyond ±2^53 (16 digits)"),
    "-2^63": (as_packed({"id": 1, "x": -(2**63)}), "an integer beyond ±2^53 (19 digits)"),
    "2^64-1, id": (as_packed({"id": 2**64 - 1, "move": 1}), "an integer beyond ±2^53 (20 digits)"),
    "not UTF-8": (b"\x82\xa2id\x01\xa4move\xa1\xff", "a string that is not UTF-8"),
    "surrogate": (b"\x82\xa2id\x01\xa4move\xa3\xed\xa0\x80", "a string that is not UTF-8"),
    "cut off": (
        as_packed({"id": 1, "move": 5})[:-1],
        "not MessagePack: it ends too early or holds an unknown code",
    ),
    "never used": (b"\x81\xa2id\xc1", "not MessagePack"),
    "list without end": (b"\x81\xa1x\xdd\xff\xff\xff\xff", "not MessagePack"),
    "map without end": (b"\xdf\xff\xff\xff\xff\xa1x\x01", "not MessagePack"),
    "text without end": (b"\x81\xa1x\xdb\xff\xff\xff\xff", "not MessagePack"),
    "two objects": (as_packed({"id": 1, "move": 5}) * 2, "something follows the map"),
    "id text": (as_packed({"id": "1", "move": 5}), "id is a string where"),
    "no move": (as_packed({"id": 1}), "an answer without"),
    "empty": (b"\x80", "an object with"),
    "unknown type": (as_packed({"type": "chat"}), 'type is "chat"; '),
    "hello": (as_packed({"type": "hello"}), "a hello where move, resign, pong is due"),
    "JSON": (
        b'{"id":1,"move":5}',
        "JSON where MessagePack is due; keep to the encoding of your hello",
    ),
    "print": (b"hello world", "no MessagePack map where an object"),
    "nothing": (b"", "no MessagePack map where an object"),
    "never given": (as_packed({"id": 2, "move": 5}), "id 2 was never given"),
}


@pytest.mark.parametrize("name", GARBLED)
def test_garbled(name: str) -> None:
    data, told = GARBLED[name]
    event = broken(playing(packed=True), data)
    assert event.code == "garbled"
    assert event.detail.startswith(told)
    assert "stdout" not in event.detail


def test_json_is_as_strict_in_messages_as_in_lines() -> None:
    for data, told in [
        (b'{"id":1,"move":5,"id":1}', 'the key "id" appears twice'),
        (b'{"id":1,"move":NaN}', "NaN is not JSON"),
        (b'{"id":1,"move":5}{"id":1,"move":5}', "not JSON (extra data at column 18)"),
        (b"", "not JSON (expecting value at column 1)"),
        (as_packed({"id": 1, "move": 5}), "MessagePack where JSON is due"),
    ]:
        event = broken(playing(packed=False), data)
        assert (event.code, event.detail[: len(told)]) == ("garbled", told)
        assert "stdout" not in event.detail


def test_nesting_has_an_end() -> None:
    def nested(levels: int) -> bytes:
        return b"\x83\xa2id\x01\xa4move\x05\xa1x" + b"\x91" * (levels - 2) + b"\x90"

    assert read_packed(nested(NESTING_LIMIT))["id"] == 1
    for levels in (NESTING_LIMIT + 1, 400, 60_000):
        with pytest.raises(Garbled, match="nested deeper than 32 levels"):
            read_packed(nested(levels))


def test_length_has_an_end() -> None:
    head = b"\x83\xa2id\x01\xa4move\x05\xa1x\xda"
    fits = LINE_LIMIT - len(head) - 2
    for extra, good in ((0, True), (1, False)):
        data = head + (fits + extra).to_bytes(2, "big") + b"y" * (fits + extra)
        (event,) = playing(packed=True).message(data)
        assert isinstance(event, MoveReceived) is good
        if isinstance(event, Misbehaved):
            assert event.detail == f"a message of {LINE_LIMIT + 1} bytes; the limit is {LINE_LIMIT}"


@pytest.mark.parametrize("encode", [as_json, as_packed])
def test_late_and_second_answers_are_dropped_and_counted(encode: Any) -> None:
    session = playing(packed=encode is as_packed, turns=2)
    session.withdraw(1)
    assert session.message(encode({"id": 1, "move": 5})) == ()
    assert session.message(encode({"id": 2, "move": 5})) == (MoveReceived(2, 5),)
    assert session.message(encode({"id": 2, "move": 6})) == ()
    assert session.dropped == 2


@pytest.mark.parametrize("encode", [as_json, as_packed])
def test_what_nobody_asked_for_is_a_flood_in_the_end(encode: Any) -> None:
    session = playing(packed=encode is as_packed)
    for _ in range(STALE_LIMIT):
        assert session.message(encode({"type": "pong"})) == (PongReceived(),)
    assert broken(session, encode({"type": "pong"})).code == "flood"


@pytest.mark.parametrize("encode", [as_json, as_packed])
def test_too_many_bytes_are_a_flood(encode: Any) -> None:
    session = playing(packed=encode is as_packed)
    data = encode({"type": "pong", "x": "y" * 60_000})
    for _ in range(FLOOD_BYTES // len(data)):
        assert session.message(data) == (PongReceived(),)
    assert broken(session, data).code == "flood"


def test_no_hello_and_a_wrong_protocol() -> None:
    for data in (b"", b"oops", as_packed([1]), as_packed({"id": 1, "move": 5})):
        assert broken(greeting(), data).code == "no_hello"
    for encode in (as_json, as_packed):
        assert broken(greeting(), encode({"type": "hello", "protocol": 2})).code == "wrong_protocol"


@quick
@given(st.binary(max_size=200))
def test_any_bytes_give_events_or_a_fault(data: bytes) -> None:
    for packed in (False, True):
        for event in playing(packed=packed).message(data):
            assert isinstance(event, Event)
        assert all(isinstance(event, Event) for event in greeting().message(data))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "move", "type", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)
DEEP: list[Any] = []
for _ in range(NESTING_LIMIT):
    DEEP = [DEEP]


@quick
@given(st.dictionaries(st.sampled_from(["id", "move", "type", "note"]), VALUES, max_size=4))
@example({"id": [2**60], "move": 2**64 - 1})
@example({"id": 2**60, "move": DEEP})
def test_both_encodings_are_judged_alike(fields: dict[str, Any]) -> None:
    def heard(encode: Any) -> list[tuple[object, ...]]:
        events = playing(packed=encode is as_packed).message(encode(fields))
        return [(e.code, e.detail) if isinstance(e, Misbehaved) else (e,) for e in events]

    try:
        data = json.dumps(fields, allow_nan=False)
    except (TypeError, ValueError):
        ((code, _),) = heard(as_packed)
        assert code == "garbled"
    else:
        assert heard(lambda _: data.encode()) == heard(as_packed)
