"""However the bytes arrive, whole, one by one or cut anywhere, the events are the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.protocol.messages import (
    FLOOD_BYTES,
    STALE_LIMIT,
    Event,
    HelloReceived,
    Misbehaved,
    MoveReceived,
    OddMoveReceived,
    PongReceived,
    ResignReceived,
)
from referee.protocol.session import Session, State
from tests.protocol import HELLO, cut, feed, greeting, one_by_one, playing, quick

TURNS = 4
STALE = b'{"id":1,"move":5}\n'


def four_turns() -> Session:
    return playing(TURNS)


def heard(
    start: Callable[[], Session], pieces: Iterable[bytes]
) -> tuple[list[Event], int, State, list[Event]]:
    """All that a session has to say of a stream: events, drops, state, and its end."""
    session = start()
    events = feed(session, pieces)
    return events, session.dropped, session.state, list(session.end_of_input())


GOOD = {
    "one": b'{"id":1,"move":5}\n',
    "four": b"".join(b'{"id":%d,"move":5}\n' % turn for turn in (2, 1, 4, 3)),
    "typed": b'{"type":"move","id":1,"move":5}\n{"id":2,"move":"+5"}\n',
    "windows": b'{"id":1,"move":5}\r\n{"id":2,"move":5}\r\n',
    "blank lines": b'\n \n{"id":1,"move":5}\n\r\n\r\r\n{"id":2,"move":5}\n\n',
    "every kind": b'{"type":"pong"}\n{"id":1,"move":5,"note":"n"}\n{"type":"resign","id":2}\n',
    "escapes": b'{"\\u0069d":1,"move":"\\u002b5"}\n',
    "no end": b'{"id":1,"move":5}\n{"id":2,"move":5}',
}
MIXED = {
    "twice": b'{"id":1,"move":5}\n{"id":1,"move":6}\n{"id":2,"move":5}\n',
    "stale": STALE * STALE_LIMIT + b'{"id":2,"move":5}\n' + STALE * 3,
    "stale and blank": STALE + (STALE + b"\n") * (STALE_LIMIT + 5),
    "stale and odd blank": STALE + (STALE + b"\r\r\n") * (STALE_LIMIT + 5),
    "odd moves": b'{"id":1,"move":true}\n{"id":2,"move":5.0}\n{"id":3,"move":[1]}\n',
    "then garbled": b'{"id":1,"move":5}\noops\n{"id":2,"move":5}\n',
    "then never given": b'{"id":1,"move":5}\n{"id":5,"move":5}\n{"id":2,"move":5}\n',
    "then hello": b'{"id":1,"move":5}\n{"type":"hello"}\n',
}
HOSTILE = {
    "over two lines": b'{"id":1,\n"move":5}\n',
    "two on a line": b'{"id":1,"move":5}{"id":2,"move":5}\n',
    "two on a line, spaced": b'{"id":1,"move":5} {"id":2,"move":5}\n',
    "shifted": b'{"id":1,\n"move":5}{"id":2,"move":5}\n',
    "brace before the end": b'{"id":1,"move":"}\n"}\n',
    "key twice": b'{"id":1,"id":2,"move":5}\n',
    "not UTF-8": b'{"id":1,"move":5}\n{"id":2,"move":"\xff"}\n',
    "cut UTF-8": b'{"id":1,"move":"\xe2\x82"}\n',
    "BOM": b'\xef\xbb\xbf{"id":1,"move":5}\n',
    "NUL": b'{"id":1,"move":5}\n\0\n',
    "lone return": b'{"id":1,"move":5}\r{"id":2,"move":5}\n',
    "other spaces": b'\x0b{"id":1,"move":5}\n',
    "deep": b'{"id":1,"move":' + b"[" * 2000 + b"\n",
    "after a fault": b"oops\n" * 50,
}
STREAMS = {**GOOD, **MIXED, **HOSTILE}


@pytest.mark.parametrize("name", STREAMS)
def test_whole_and_byte_by_byte(name: str) -> None:
    stream = STREAMS[name]
    assert heard(four_turns, one_by_one(stream)) == heard(four_turns, [stream])


@pytest.mark.parametrize("name", STREAMS)
def test_line_by_line(name: str) -> None:
    stream = STREAMS[name]
    assert heard(four_turns, stream.splitlines(keepends=True)) == heard(four_turns, [stream])


@pytest.mark.parametrize("name", GOOD)
def test_a_good_stream_has_no_fault(name: str) -> None:
    events, dropped, state, _ = heard(four_turns, [GOOD[name]])
    assert events
    assert not any(isinstance(event, Misbehaved) for event in events)
    assert (dropped, state) == (0, State.PLAYING)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_stream_has_one(name: str) -> None:
    events, _, state, _ = heard(four_turns, [HOSTILE[name]])
    assert [event for event in events if isinstance(event, Misbehaved)] == events[-1:]
    assert state is State.BROKEN


answers = st.builds(
    str.format,
    st.sampled_from(
        [
            '{{"id":{0},"move":{1}}}',
            '{{"type":"move","id":{0},"move":{1}}}',
            '{{"id":{0},"move":"+{1}"}}',
            '{{"id":{0},"move":{1},"note":"n"}}',
            '{{"type":"resign","id":{0}}}',
            '{{ "id": {0},\t"move": {1} }}',
            '{{"id":{0},"move":{1}.0}}',
        ]
    ),
    st.integers(1, TURNS),
    st.integers(0, 9),
)
rest = st.sampled_from(["", " ", '{"type":"pong"}', "\r", "\t"])
junk = st.sampled_from(
    [
        "oops",
        "{}",
        "5",
        '{"id":5,"move":1}',
        '{"id":1,\n"move":1}',
        '{"id":1,"move":1}{"id":2,"move":1}',
        '{"type":"hello"}',
        '{"id":1,"id":1,"move":1}',
        '{"id":1,"move":NaN}',
        '{"id":1,"move":"\\ud800"}',
        "\ufeff{}",
    ]
)
ends = st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n"])
cuts = st.lists(st.integers(0, 500), max_size=12)


def streams(lines: st.SearchStrategy[str]) -> st.SearchStrategy[bytes]:
    return st.lists(st.tuples(lines, ends), max_size=8).map(
        lambda parts: "".join(line + end for line, end in parts).encode()
    )


@given(streams(answers | rest), cuts)
@quick
def test_good_streams_cut_anywhere(stream: bytes, at: list[int]) -> None:
    whole = heard(four_turns, [stream])
    assert whole[2] is State.PLAYING
    assert heard(four_turns, cut(stream, at)) == whole
    assert heard(four_turns, one_by_one(stream)) == whole


@given(streams(answers | rest | junk), cuts)
@quick
def test_mixed_streams_cut_anywhere(stream: bytes, at: list[int]) -> None:
    whole = heard(four_turns, [stream])
    assert heard(four_turns, cut(stream, at)) == whole
    assert heard(four_turns, one_by_one(stream)) == whole


@given(streams(answers), st.lists(st.tuples(st.integers(0, 300), st.binary(max_size=3))), cuts)
@quick
def test_damaged_streams_cut_anywhere(
    stream: bytes, damage: list[tuple[int, bytes]], at: list[int]
) -> None:
    damaged = bytearray(stream)
    for place, patch in damage:
        start = place % (len(damaged) + 1)
        damaged[start : start + len(patch)] = patch
    whole = heard(four_turns, [bytes(damaged)])
    assert heard(four_turns, cut(bytes(damaged), at)) == whole


@given(st.binary(max_size=200), st.booleans(), cuts)
@quick
def test_arbitrary_bytes_give_faults_or_events_and_nothing_else(
    noise: bytes, playing_already: bool, at: list[int]
) -> None:
    start = four_turns if playing_already else greeting
    for stream in (noise, noise + b"\n", b'{"id":1,"move":' + noise + b"}\n", HELLO + noise):
        whole = heard(start, [stream])
        assert heard(start, cut(stream, at)) == whole
        check(whole[0], playing_already)


def check(events: list[Event], playing_already: bool) -> None:
    """One hello at most, no answer that nobody asked for or that came twice, a fault at the end."""
    ids = []
    for number, event in enumerate(events):
        if isinstance(event, MoveReceived | OddMoveReceived | ResignReceived):
            ids.append(event.id)
        elif isinstance(event, HelloReceived):
            assert number == 0
            assert not playing_already
        elif isinstance(event, Misbehaved):
            assert number == len(events) - 1
            assert event.detail
            assert event.received.isprintable()
        else:
            assert isinstance(event, PongReceived)
    assert len(ids) == len(set(ids))
    assert set(ids) <= set(range(1, TURNS + 1))


@pytest.mark.parametrize(
    "stream",
    [
        (b" " * 127 + b"\n") * (FLOOD_BYTES // 128) + b"\n" * 10,
        b"x" * (FLOOD_BYTES + 10),
        STALE + b" " * (FLOOD_BYTES - len(STALE)) + STALE,
        (b" " * 60_000 + STALE) * 20,
        STALE + (b" " * 60_000 + STALE) * 20,
    ],
    ids=["blank lines", "one line", "a line at the limit", "long lines", "long stale lines"],
)
def test_floods_cut_anywhere(stream: bytes) -> None:
    whole = heard(four_turns, [stream])
    assert isinstance(whole[0][-1], Misbehaved)
    near = FLOOD_BYTES - 5
    ways = [
        [stream[:near], *one_by_one(stream[near:])],
        [stream[at : at + 16_384] for at in range(0, len(stream), 16_384)],
        [stream[at : at + 99_991] for at in range(0, len(stream), 99_991)],
        cut(stream, [FLOOD_BYTES]),
        cut(stream, [FLOOD_BYTES + 1]),
    ]
    for pieces in ways:
        assert heard(four_turns, pieces) == whole
