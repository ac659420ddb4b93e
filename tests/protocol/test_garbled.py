"""Every way to break the protocol with one line, and the sentence that its author reads."""

from __future__ import annotations

import pytest

from referee.protocol.messages import (
    LINE_LIMIT,
    HelloReceived,
    Misbehaved,
    MoveReceived,
    OddMoveReceived,
)
from referee.protocol.session import State
from referee.verdict import Ending
from tests.protocol import feed, greeting, one_by_one, playing

DIGITS = b"9" * 5000
STDOUT_HINT = "stdout is for the protocol; log to stderr"
DUE = "where a whole number is due"
ECHO = f"{DUE}; echo the turn's id"
TYPES = "a bot sends hello, move, resign or pong"
NO_MESSAGE = f"an object with neither type nor id and move; {STDOUT_HINT}"


def padded(length: int) -> bytes:
    """A good answer of this many bytes."""
    head, tail = b'{"id":1,"move":2,"x":"', b'"}'
    return head + b"x" * (length - len(head) - len(tail)) + tail


def nested(levels: int) -> bytes:
    """A good answer that is nested this deep."""
    return b'{"id":1,"move":2,"x":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"


def not_json(what: str, column: int) -> str:
    return f"not JSON ({what} at column {column}); {STDOUT_HINT}"


GARBLED: dict[str, tuple[bytes, str]] = {
    "NaN": (b'{"id":1,"move":NaN}', "NaN is not JSON"),
    "Infinity": (b'{"id":1,"move":Infinity}', "Infinity is not JSON"),
    "-Infinity": (b'{"id":1,"move":-Infinity}', "-Infinity is not JSON"),
    "NaN, ignored": (b'{"id":1,"move":2,"x":NaN}', "NaN is not JSON"),
    "1e999": (b'{"id":1,"move":1e999}', 'the number "1e999" is too large'),
    "-1e999": (b'{"id":1,"move":-1e999}', 'the number "-1e999" is too large'),
    "1e999, ignored": (b'{"id":1,"move":2,"x":[1e999]}', 'the number "1e999" is too large'),
    "id twice": (b'{"id":1,"move":2,"id":1}', 'the key "id" appears twice'),
    "id twice, escaped": (b'{"\\u0069d":1,"id":1,"move":2}', 'the key "id" appears twice'),
    "move twice": (b'{"id":1,"move":2,"move":2}', 'the key "move" appears twice'),
    "key twice, ignored": (b'{"id":1,"move":2,"x":1,"x":1}', 'the key "x" appears twice'),
    "key twice, nested": (b'{"id":1,"move":{"a":1,"a":1}}', 'the key "a" appears twice'),
    "key twice, both": (b'{"id":1,"move":2,"x":[{"":1,"":1}]}', 'the key "" appears twice'),
    "surrogate": (b'{"id":1,"move":"\\ud800"}', "a lone surrogate in a string"),
    "surrogate, ignored": (b'{"id":1,"move":2,"x":"\\udc00"}', "a lone surrogate in a string"),
    "surrogate, key": (b'{"id":1,"move":2,"\\ud800":1}', "a lone surrogate in a string"),
    "5000 digits": (b'{"id":1,"move":%b}' % DIGITS, "an integer beyond ±2^53 (5000 digits)"),
    "-5000 digits": (b'{"id":1,"move":-%b}' % DIGITS, "an integer beyond ±2^53 (5000 digits)"),
    "5000 digits, id": (b'{"id":%b,"move":2}' % DIGITS, "an integer beyond ±2^53 (5000 digits)"),
    "2^53+1": (b'{"id":1,"move":9007199254740993}', "an integer beyond ±2^53 (16 digits)"),
    "-2^53-1": (b'{"id":1,"move":-9007199254740993}', "an integer beyond ±2^53 (16 digits)"),
    "2^53+1, ignored": (
        b'{"id":1,"move":2,"x":9007199254740993}',
        "an integer beyond ±2^53 (16 digits)",
    ),
    "id true": (b'{"id":true,"move":2}', f"id is true {ECHO}"),
    "id null": (b'{"id":null,"move":2}', f"id is null {ECHO}"),
    "id 1.0": (b'{"id":1.0,"move":2}', f"id is a number {ECHO}"),
    "id text": (b'{"id":"1","move":2}', f"id is a string {ECHO}"),
    "id list": (b'{"id":[1],"move":2}', f"id is a list {ECHO}"),
    "id object": (b'{"id":{},"move":2}', f"id is an object {ECHO}"),
    "id of resign": (b'{"type":"resign","id":false}', f"id is false {ECHO}"),
    "number": (b"5", f"a number where an object is due; {STDOUT_HINT}"),
    "fraction": (b"5.5", f"a number where an object is due; {STDOUT_HINT}"),
    "string": (b'"move 5"', f"a string where an object is due; {STDOUT_HINT}"),
    "list": (b"[1,5]", f"a list where an object is due; {STDOUT_HINT}"),
    "true": (b"true", f"true where an object is due; {STDOUT_HINT}"),
    "null": (b"null", f"null where an object is due; {STDOUT_HINT}"),
    "33 levels": (nested(33), "nested deeper than 32 levels"),
    "60,000 levels": (b'{"id":1,"move":' + b"[" * 60_000, "nested deeper than 32 levels"),
    "60,000 objects": (b'{"":' * 16_000, "nested deeper than 32 levels"),
    "64 KiB + 1": (padded(LINE_LIMIT + 1), "a line of 65537 bytes; the limit is 65536"),
    "bad UTF-8": (b'{"id":1,"move":"\xff"}', "not UTF-8: byte 0xff at position 16"),
    "bad UTF-8, ignored": (b'{"id":1,"move":2,"x":"\xc3("}', "not UTF-8: byte 0xc3 at position 22"),
    "surrogate as UTF-8": (
        b'{"id":1,"move":"\xed\xa0\x80"}',
        "not UTF-8: byte 0xed at position 16",
    ),
    "UTF-16": ('{"id":1}'.encode("utf-16"), "not UTF-8: byte 0xff at position 0"),
    "NUL": (b"\0", not_json("expecting value", 1)),
    "NUL after": (b'{"id":1,"move":2}\0', not_json("extra data", 18)),
    "NUL within": (b'{"id":1,"move":"\0"}', not_json("invalid control character", 17)),
    "BOM": (
        b'\xef\xbb\xbf{"id":1,"move":2}',
        "a byte order mark before the object; write UTF-8 without one",
    ),
    "stray text": (b"thinking ...", not_json("expecting value", 1)),
    "stray number": (b"5 is my move", not_json("extra data", 3)),
    "stray object": (b'{"depth":3}', NO_MESSAGE),
    "empty object": (b"{}", NO_MESSAGE),
    "two on a line": (b'{"id":1,"move":2}{"id":1,"move":2}', not_json("extra data", 18)),
    "two, a space between": (b'{"id":1,"move":2} {"id":1,"move":2}', not_json("extra data", 19)),
    "cut off": (b'{"id":1,"move":', not_json("expecting value", 16)),
    "string cut off": (b'{"id":1,"move":"a', not_json("unterminated string starting", 16)),
    "tab in a string": (b'{"id":1,"move":"\t"}', not_json("invalid control character", 17)),
    "plus sign": (b'{"id":1,"move":+2}', not_json("expecting value", 16)),
    "no id": (b'{"move":2}', "an answer without an id; echo the id of the turn"),
    "no id in a resign": (b'{"type":"resign"}', "an answer without an id; echo the id of the turn"),
    "no id in a move": (b'{"type":"move"}', "an answer without an id; echo the id of the turn"),
    "no move": (b'{"id":1}', "an answer without a move"),
    "unknown type": (b'{"type":"start"}', f'type is "start"; {TYPES}'),
    "capital type": (b'{"type":"Move","id":1,"move":2}', f'type is "Move"; {TYPES}'),
    "type null": (b'{"type":null,"id":1,"move":2}', f"type is null; {TYPES}"),
    "type list": (b'{"type":["move"],"id":1,"move":2}', f'type is ["move"]; {TYPES}'),
    "long type": (b'{"type":"%b"}' % (b"x" * 99), f'type is "{"x" * 58}…; {TYPES}'),
    "id never given": (b'{"id":2,"move":2}', "id 2 was never given"),
    "id 0": (b'{"id":0,"move":2}', "id 0 was never given"),
    "id -1": (b'{"type":"resign","id":-1}', "id -1 was never given"),
    "hello twice": (b'{"type":"hello"}', "a hello where move, resign, pong is due"),
}

BAD_HELLO: dict[str, tuple[bytes, str]] = {
    "protocol true": (b'{"type":"hello","protocol":true}', f"protocol is true {DUE}"),
    "protocol null": (b'{"type":"hello","protocol":null}', f"protocol is null {DUE}"),
    "protocol text": (b'{"type":"hello","protocol":"1"}', f"protocol is a string {DUE}"),
    "games true": (
        b'{"type":"hello","games_at_once":true}',
        "games_at_once is true where 1 to 10000 is due",
    ),
    "games 0": (
        b'{"type":"hello","games_at_once":0}',
        "games_at_once is 0 where 1 to 10000 is due",
    ),
    "games 10001": (
        b'{"type":"hello","games_at_once":10001}',
        "games_at_once is 10001 where 1 to 10000 is due",
    ),
    "games text": (
        b'{"type":"hello","games_at_once":"2"}',
        'games_at_once is "2" where 1 to 10000 is due',
    ),
    "variants text": (b'{"type":"hello","variants":"duel"}', "variants must be a list of names"),
    "variants numbers": (b'{"type":"hello","variants":[1]}', "variants must be a list of names"),
    "name number": (b'{"type":"hello","name":5}', "name is a number where text is due"),
    "name long": (
        b'{"type":"hello","name":"%b"}' % (b"x" * 61),
        "name is longer than 60 characters",
    ),
    "token long": (
        b'{"type":"hello","token":"%b"}' % (b"x" * 1001),
        "token is longer than 1000 characters",
    ),
    "version number": (b'{"type":"hello","version":2.0}', "version is a number where text is due"),
    "author list": (b'{"type":"hello","author":["Ann"]}', "author is a list where text is due"),
    "move first": (b'{"id":1,"move":2}', "a move where hello is due"),
    "resign first": (b'{"type":"resign","id":1}', "a resign where hello is due"),
    "pong first": (b'{"type":"pong"}', "a pong where hello is due"),
    "banner": (b"my bot 1.0", not_json("expecting value", 1)),
    "no type": (b'{"name":"mine"}', NO_MESSAGE),
    "bad UTF-8": (b'{"type":"hello","name":"\xff"}', "not UTF-8: byte 0xff at position 24"),
}


@pytest.mark.parametrize("name", GARBLED)
def test_a_garbled_line(name: str) -> None:
    line, detail = GARBLED[name]
    session = playing()
    (event,) = session.receive(line + b"\n")
    assert isinstance(event, Misbehaved)
    assert (event.code, event.detail) == (Ending.GARBLED, detail)
    assert session.state is State.BROKEN
    assert len(event.received) <= 1000
    assert event.received.isprintable()


@pytest.mark.parametrize("name", [name for name, (line, _) in GARBLED.items() if len(line) < 6000])
def test_a_garbled_line_byte_by_byte(name: str) -> None:
    line, _ = GARBLED[name]
    assert feed(playing(), one_by_one(line + b"\n")) == playing().receive(line + b"\n")


@pytest.mark.parametrize("name", BAD_HELLO)
def test_a_bad_hello(name: str) -> None:
    line, detail = BAD_HELLO[name]
    (event,) = greeting().receive(line + b"\n")
    assert isinstance(event, Misbehaved)
    assert (event.code, event.detail) == (Ending.NO_HELLO, detail)


def test_another_protocol() -> None:
    (event,) = greeting().receive(b'{"type":"hello","protocol":2}\n')
    assert event == Misbehaved(
        Ending.WRONG_PROTOCOL,
        "the bot speaks protocol 2, the referee 1",
        '{"type":"hello","protocol":2}',
    )


FINE: dict[str, tuple[bytes, MoveReceived | OddMoveReceived]] = {
    "exactly 64 KiB": (padded(LINE_LIMIT), MoveReceived(1, 2)),
    "exactly 64 KiB and \\r": (padded(LINE_LIMIT) + b"\r", MoveReceived(1, 2)),
    "32 levels": (nested(32), MoveReceived(1, 2)),
    "brackets in a string": (b'{"id":1,"move":"%b"}' % (b"[" * 99), MoveReceived(1, "[" * 99)),
    "2^53": (b'{"id":1,"move":9007199254740992}', MoveReceived(1, 2**53)),
    "-2^53": (b'{"id":1,"move":-9007199254740992}', MoveReceived(1, -(2**53))),
    "a pair of surrogates": (b'{"id":1,"move":"\\ud83d\\ude00"}', MoveReceived(1, "😀")),
    "unknown fields": (b'{"x":{"y":[1,2.5,null]},"move":2,"id":1}', MoveReceived(1, 2)),
    "spaces": (b' \t{ "id" : 1 , "move" : 2 } \r', MoveReceived(1, 2)),
    "5.0": (b'{"id":1,"move":5.0}', OddMoveReceived(1, 5.0)),
    "true": (b'{"id":1,"move":true}', OddMoveReceived(1, True)),
    "null": (b'{"id":1,"move":null}', OddMoveReceived(1, None)),
    "list": (b'{"id":1,"move":[5]}', OddMoveReceived(1, [5])),
    "note": (b'{"id":1,"move":2,"note":"why"}', OddMoveReceived(1, 2, "why")),
    "long note": (
        b'{"id":1,"move":2,"note":"%b"}' % (b"x" * 201),
        OddMoveReceived(1, 2, "x" * 200),
    ),
    "long note of characters of three bytes": (
        f'{{"id":1,"move":2,"note":"{100 * "€"}"}}'.encode(),
        OddMoveReceived(1, 2, 66 * "€"),
    ),
    "a note of numbers": (b'{"id":1,"move":2,"note":[1]}', MoveReceived(1, 2)),
    "empty note": (b'{"id":1,"move":2,"note":""}', MoveReceived(1, 2)),
}


@pytest.mark.parametrize("name", FINE)
def test_a_line_that_is_fine(name: str) -> None:
    line, expected = FINE[name]
    assert playing().receive(line + b"\n") == [expected]


def test_a_full_hello() -> None:
    line = (
        b'{"type":"hello","protocol":1,"name":"%b","token":"t","version":"2","author":"Ann",'
        b'"variants":["duel"],"games_at_once":10000,"more":[]}\n'
    )
    assert greeting().receive(line % (b"x" * 60)) == [
        HelloReceived(1, "x" * 60, "t", "2", "Ann", ("duel",), 10_000)
    ]


def test_a_hello_of_nulls_is_a_bare_hello() -> None:
    line = b'{"type":"hello","name":null,"token":null,"variants":null,"games_at_once":null}\n'
    assert greeting().receive(line) == [HelloReceived()]
