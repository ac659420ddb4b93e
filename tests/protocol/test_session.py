"""One bot's conversation: what may be said when, what is dropped, what is too much."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from referee.protocol.messages import (
    FLOOD_BYTES,
    PROTOCOL,
    STALE_LIMIT,
    HelloReceived,
    Misbehaved,
    MoveReceived,
    PongReceived,
    ResignReceived,
)
from referee.protocol.session import RECEIVED, SENT, Session, State
from referee.verdict import Ending
from tests.protocol import HELLO, feed, greeting, playing

PONG = b'{"type":"pong"}\n'
BLANK = b" " * 127 + b"\n"
BLANKS = BLANK * (FLOOD_BYTES // len(BLANK))
"""As many bytes as are allowed, in lines that say nothing."""


def answer(turn_id: int, move: int = 5) -> bytes:
    return b'{"id":%d,"move":%d}\n' % (turn_id, move)


def left() -> Session:
    session = playing()
    session.bye()
    return session


def broken() -> Session:
    session = playing()
    session.receive(b"oops\n")
    return session


IN_STATE: dict[State, Callable[[], Session]] = {
    State.NEW: Session,
    State.GREETING: greeting,
    State.PLAYING: lambda: playing(0),
    State.LEAVING: left,
    State.BROKEN: broken,
}


@pytest.mark.parametrize("state", State)
def test_each_state_can_be_reached(state: State) -> None:
    assert IN_STATE[state]().state is state


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("kind", ["hello", "ping", "bye"])
def test_the_referee_says_only_what_the_table_allows(state: State, kind: str) -> None:
    session = IN_STATE[state]()
    say: dict[str, Callable[[], bytes]] = {
        "hello": lambda: session.hello("1.2"),
        "ping": session.ping,
        "bye": session.bye,
    }
    if state is State.LEAVING or kind not in SENT.get(state, {}):
        with pytest.raises((KeyError, AssertionError)):
            say[kind]()
        assert session.state is state
    else:
        said = msgspec.json.decode(say[kind]())
        assert said["type"] == kind
        assert session.state is SENT[state][kind]


@pytest.mark.parametrize("state", [State.GREETING, State.PLAYING])
@pytest.mark.parametrize("kind", ["hello", "move", "resign", "pong"])
def test_the_bot_says_only_what_the_table_allows(state: State, kind: str) -> None:
    session = greeting() if state is State.GREETING else playing()
    line = b'{"type":"%b","id":1,"move":5}\n' % kind.encode()
    (event,) = session.receive(line)
    if kind in RECEIVED[state]:
        assert not isinstance(event, Misbehaved)
        assert session.state is RECEIVED[state][kind]
    else:
        assert isinstance(event, Misbehaved)
        assert session.state is RECEIVED[state]["anything else"] is State.BROKEN


def test_the_table_speaks_of_every_message_and_state() -> None:
    reached = {
        state for leads in (SENT, RECEIVED) for each in leads.values() for state in each.values()
    }
    assert reached | {State.NEW} == set(State)


def test_the_referee_speaks_first_and_says_what_it_speaks() -> None:
    assert msgspec.json.decode(Session().hello("1.2")) == {
        "type": "hello",
        "protocol": PROTOCOL,
        "referee": "1.2",
    }


def test_a_bare_hello_is_enough() -> None:
    session = greeting()
    assert session.receive(HELLO) == [HelloReceived()]
    assert session.state is State.PLAYING


def test_no_ping_during_a_turn() -> None:
    session = playing(1)
    with pytest.raises(AssertionError):
        session.ping()
    session.receive(answer(1))
    assert session.ping() == b'{"type":"ping"}\n'
    assert session.receive(PONG) == [PongReceived()]


def test_ids_rise() -> None:
    session = playing(0)
    assert [session.ask() for _ in range(3)] == [1, 2, 3]
    session.receive(answer(2))
    assert session.ask() == 4


def test_answers_may_come_in_any_order() -> None:
    session = playing(3)
    assert session.receive(answer(3) + answer(1)) == [MoveReceived(3, 5), MoveReceived(1, 5)]
    assert session.receive(b'{"type":"resign","id":2}\n') == [ResignReceived(2)]
    assert session.dropped == 0


def test_a_line_waits_for_its_end() -> None:
    session = playing(1)
    assert session.receive(b'{"id":1,') == []
    assert session.receive(b'"move":5}') == []
    assert session.receive(b"\n") == [MoveReceived(1, 5)]


# What is dropped.


def test_an_old_id_is_dropped_and_counted() -> None:
    session = playing(1)
    session.receive(answer(1))
    session.ask()
    assert session.receive(answer(1, 7)) == []
    assert session.dropped == 1
    assert session.receive(answer(2)) == [MoveReceived(2, 5)]


def test_a_second_answer_in_the_same_chunk_is_dropped() -> None:
    session = playing(2)
    events = session.receive(answer(1, 5) + answer(1, 6) + answer(2, 7))
    assert events == [MoveReceived(1, 5), MoveReceived(2, 7)]
    assert session.dropped == 1


@pytest.mark.parametrize(
    "second",
    [
        answer(1, 6),
        b'{"type":"resign","id":1}\n',
        b'{"id":1,"move":null}\n',
        b'{"id":1,"move":6,"note":"too late"}\n',
    ],
)
def test_a_second_answer_in_another_chunk_is_dropped(second: bytes) -> None:
    session = playing(2)
    assert feed(session, [answer(1), second]) == [MoveReceived(1, 5)]
    assert session.dropped == 1
    assert session.state is State.PLAYING


def test_an_answer_to_a_withdrawn_turn_is_dropped() -> None:
    session = playing(2)
    session.withdraw(1)
    session.withdraw(1)
    assert session.receive(answer(1) + answer(2)) == [MoveReceived(2, 5)]
    assert session.dropped == 1


@pytest.mark.parametrize("blank", [b"\n", b"\r\n", b" \t \n", b"\r\r\n", b"\n\n\n"])
def test_blank_lines_are_ignored(blank: bytes) -> None:
    session = playing(1)
    assert feed(session, [blank, blank + answer(1) + blank, blank]) == [MoveReceived(1, 5)]
    assert session.dropped == 0


# What is too much.


@pytest.mark.parametrize("line", [PONG, answer(1)])
def test_the_stale_limit(line: bytes) -> None:
    session = playing(1)
    session.receive(answer(1))
    session.receive(line * STALE_LIMIT)
    assert session.state is State.PLAYING
    (event,) = session.receive(line)
    assert event == Misbehaved(Ending.FLOOD, "more than 100 lines in a row that nobody asked for")


def test_an_answer_that_is_due_starts_the_stale_count_anew() -> None:
    session = playing(3)
    session.receive(answer(1) + answer(1) * STALE_LIMIT + answer(2))
    session.receive(answer(1) * STALE_LIMIT + answer(3) + answer(3) * STALE_LIMIT)
    assert session.state is State.PLAYING
    assert session.dropped == 3 * STALE_LIMIT


def test_a_blank_line_does_not() -> None:
    session = playing(1)
    events = feed(session, [answer(1), *[answer(1), b"\n"] * (STALE_LIMIT + 1)])
    assert isinstance(events[-1], Misbehaved)


def test_a_turn_does_not() -> None:
    session = playing(1)
    session.receive(answer(1) * (STALE_LIMIT + 1))
    session.ask()
    (event,) = session.receive(answer(1))
    assert isinstance(event, Misbehaved)


@pytest.mark.parametrize("noise", [BLANKS, b"x" * FLOOD_BYTES], ids=["blank", "line"])
def test_the_flood_limit(noise: bytes) -> None:
    session = playing(1)
    assert session.receive(noise) == []
    (event,) = session.receive(b"\n")
    assert isinstance(event, Misbehaved)
    assert event.code == Ending.FLOOD
    assert event.detail == "more than 1048576 bytes since the last turn"


def test_a_turn_starts_the_flood_count_anew() -> None:
    session = playing(1)
    assert session.receive(BLANKS) == []
    session.ask()
    assert session.receive(BLANKS[len(BLANK) :]) == []
    assert session.receive(answer(2)) == [MoveReceived(2, 5)]


def test_what_came_before_the_flood_counts() -> None:
    events = playing(1).receive(answer(1) + BLANKS)
    assert events[0] == MoveReceived(1, 5)
    assert isinstance(events[1], Misbehaved)
    assert len(events) == 2


def test_what_came_behind_the_flood_does_not() -> None:
    events = playing(1).receive(BLANKS + answer(1))
    assert [type(event) for event in events] == [Misbehaved]


def test_a_flood_instead_of_a_hello() -> None:
    (event,) = greeting().receive(b" " * (FLOOD_BYTES + 1))
    assert isinstance(event, Misbehaved)
    assert event.code == Ending.NO_HELLO


# The end.


@pytest.mark.parametrize(
    "fault",
    [b"oops\n", b'{"id":9,"move":5}\n', HELLO, b"x" * (FLOOD_BYTES + 1)],
    ids=["text", "id", "hello", "flood"],
)
def test_everything_after_a_fault_is_silent(fault: bytes) -> None:
    session = playing(1)
    (event,) = session.receive(fault)
    assert isinstance(event, Misbehaved)
    assert (
        feed(session, [answer(1), b"oops\n", b"\n", b"x" * FLOOD_BYTES, b"x" * FLOOD_BYTES]) == []
    )
    assert session.end_of_input() == []
    assert session.state is State.BROKEN


def test_a_fault_silences_the_rest_of_its_chunk() -> None:
    session = playing(2)
    events = session.receive(answer(1) + b"oops\n" + answer(2))
    assert [type(event) for event in events] == [MoveReceived, Misbehaved]


def test_everything_after_bye_is_silent() -> None:
    session = left()
    assert feed(session, [answer(1), b"oops\n", b"x" * (FLOOD_BYTES + 1), b"x" * FLOOD_BYTES]) == []
    assert session.end_of_input() == []
    assert session.dropped == 0


@pytest.mark.parametrize(
    ("session", "said", "code", "detail"),
    [
        (playing, b"", Ending.CRASH, "the bot's standard output ended"),
        (
            playing,
            b'{"id":1,"mo',
            Ending.CRASH,
            "the bot's standard output ended in the middle of a line",
        ),
        (greeting, b"", Ending.NO_START, "the bot's standard output ended"),
    ],
)
def test_the_end_of_input(
    session: Callable[[], Session], said: bytes, code: Ending, detail: str
) -> None:
    heard = session()
    heard.receive(said)
    assert heard.end_of_input() == [Misbehaved(code, detail, said.decode())]
    assert heard.state is State.BROKEN
