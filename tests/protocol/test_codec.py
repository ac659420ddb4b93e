"""The fast way and the strict way through the codec agree on every line."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from referee.protocol.codec import (
    BotMessage,
    Garbled,
    decode_line,
    decode_plain_answers,
    excerpt,
    read_object,
)
from referee.protocol.messages import LARGEST_INT, MoveReceived
from tests.protocol import quick

numbers = st.one_of(
    st.integers(-3, 12),
    st.integers(-LARGEST_INT - 2, LARGEST_INT + 2),
    st.sampled_from([2**53, 2**53 + 1, -(2**53), -(2**53) - 1, 2**64, 10**30]),
).map(str)
odd_numbers = st.sampled_from(
    ["-0", "0.0", "5.0", "5e0", "1e999", "NaN", "-Infinity", "01", "+1", ".5", "5.", "0x5", "1_0"]
)
texts = st.one_of(
    st.text(max_size=8).map(json.dumps),
    st.text(max_size=8).map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.sampled_from(
        [
            '"+5"',
            '"a:b"',
            '"}"',
            '"{"',
            '"\\u0041"',
            '"\\ud800"',
            '"\\ud83d\\ude00"',
            '"\\udc00\\ud800"',
            '"\\/\\b\\u003a"',
            '"\\x"',
            '"\t"',
            '"\x7f"',
            '"\n"',
            "'5'",
            '"',
        ]
    ),
)
others = st.sampled_from(["true", "false", "null", "[]", "[1]", "{}", '{"id":1}', '{"a":1,"a":2}'])
values = st.one_of(numbers, odd_numbers, texts, others)
keys = st.sampled_from(
    ['"id"', '"move"', '"type"', '"note"', '"x"', '"i\\u0064"', '"ID"', "id", '"id "', '"":""']
)
pairs = st.one_of(
    st.tuples(st.just('"id"'), st.one_of(numbers, values)),
    st.tuples(st.just('"move"'), values),
    st.tuples(st.just('"type"'), st.sampled_from(['"move"', '"resign"', '"m\\u006fve"', "null"])),
    st.tuples(keys, values),
)
gaps = st.sampled_from(["", "", "", "", " ", "\t", "\r", "\n", "\x0b", "\xa0", "\0"])


@st.composite
def odd_objects(draw: st.DrawFn) -> str:
    """Something that resembles an answer: keys missing, twice or unknown, and spaces anywhere."""
    fields = draw(st.lists(pairs, min_size=1, max_size=4))
    gap = draw(gaps)
    return f"{gap}{{{','.join(f'{key}{gap}:{value}' for key, value in fields)}{gap}}}{draw(gaps)}"


plain_moves = st.one_of(
    st.integers(-LARGEST_INT, LARGEST_INT).map(str),
    st.from_regex(r'"[+*]\d{1,3}"', fullmatch=True),
)
plain_answers = st.builds(
    str.format,
    st.sampled_from(
        [
            '{{"id":{0},"move":{1}}}',
            '{{"type":"move","id":{0},"move":{1}}}',
            '{{"move":{1},"id":{0}}}',
        ]
    ),
    st.integers(1, LARGEST_INT),
    plain_moves,
)
ends = st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n", " ", "", "\r"])
streams = st.lists(
    st.tuples(st.one_of(plain_answers, plain_answers, odd_objects()), ends), min_size=1, max_size=4
).map(lambda lines: "".join(line + end for line, end in lines).encode() + b"\n")


def strictly(data: bytes) -> list[BotMessage] | None:
    """What `decode_line` makes of the lines that are not blank; None where one is garbled."""
    lines = [line for line in data.split(b"\n") if line.strip(b" \t\r")]
    try:
        return [decode_line(line)[1] for line in lines]
    except Garbled:
        return None


@given(streams)
@example(b'{"id":1,\n"move":2}\n')
@example(b'{"id":1,"move":2}{"id":2,"move":2}\n')
@example(b'{"id":1,"move":2} {"id":2,"move":2}\n')
@example(b'{"id":1,\n"move":2}{"id":2,"move":2}\n')
@example(b'{"id":1,"move":"}"}\n{"id":2,\n"move":2}{"id":3,"move":2}\n')
@example(b'{"id":1,"move":2,"type":"move"}\n')
@example(b'{"id":1,"move":"\xff"}\n')
@example(b'{"id":1,"move":"\\ud800"}\n')
@example(b'{"id":1,"move":":"}\n{"id":2,"move":2,"type":"move"}\n')
@example(b"")
@example(b"\r")
@example(b"\n")
@example(b"\r\n \n")
@example(b'{"id":1,"move":2}')
@example(b'{"id":1,"move":2}\n{"id":2,"move":2}')
@quick
def test_the_fast_way_says_nothing_or_the_same(data: bytes) -> None:
    answers = decode_plain_answers(data)
    if answers is not None:
        assert answers
        assert answers == strictly(data)


@given(st.lists(plain_answers, min_size=1, max_size=5))
@quick
def test_plain_answers_go_the_fast_way(lines: list[str]) -> None:
    data = "".join(f"{line}\n" for line in lines).encode()
    answers = decode_plain_answers(data)
    assert answers is not None
    assert answers == strictly(data)


@given(st.lists(st.binary(max_size=12), max_size=4).map(b"\n".join))
@quick
def test_arbitrary_bytes(noise: bytes) -> None:
    for data in (noise + b"\n", b'{"id":1,"move":' + noise + b"}\n", b'{"id":1,' + noise + b"}\n"):
        answers = decode_plain_answers(data)
        assert answers is None or answers == strictly(data)


@given(odd_objects())
@quick
def test_an_odd_line_is_a_message_or_garbled(line: str) -> None:
    with suppress(Garbled):
        kind, message = decode_line(line.encode())
        assert kind in ("move", "resign")
        if isinstance(message, MoveReceived):
            assert type(message.id) is int
            assert type(message.move) in (int, str)


json_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-LARGEST_INT, LARGEST_INT),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=3))
@settings(quick, max_examples=50)
def test_any_good_object_is_read_as_it_is(value: dict[str, object]) -> None:
    for line in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert read_object(line.encode()) == value


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"plain", "plain"),
        (b"\x1b[31mred\x00\r", "\\x1b[31mred\\x00\\r"),
        (b"\xff\xfe", "\\xff\\xfe"),
        ("é – 😀".encode(), "é – 😀"),
        (b"x" * 201, "x" * 200 + "…"),
        (b"x" * 200, "x" * 200),
        ("\u202eright to left".encode(), "\\u202eright to left"),
    ],
)
def test_an_excerpt_is_fit_for_a_terminal(data: bytes, shown: str) -> None:
    assert excerpt(data) == shown


@given(st.binary(max_size=300))
@quick
def test_any_excerpt_is_printable_and_short(data: bytes) -> None:
    shown = excerpt(data)
    assert shown.isprintable()
    assert len(shown) <= 4 * 200 + 1
