"""A bot's side of a conversation, in any pieces, with whatever the referee does in between.

The input is what the bot sends. A byte 0x1f in it is a moment at which the referee does something,
and the byte behind it says what (DEEDS); so an input can be read, and cut by hand.

What must hold: only events come out; a fault is the last of them; an answer is to a turn that was
open; the state moves as the table in session.py says; what is kept of a line is bounded; and
however the bytes between two deeds arrive, the events are the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from referee.protocol.messages import (
    FLOOD_BYTES,
    LARGEST_INT,
    LINE_LIMIT,
    NOTE_LIMIT,
    Event,
    HelloReceived,
    Misbehaved,
    MoveReceived,
    OddMoveReceived,
    PongReceived,
    ResignReceived,
)
from referee.protocol.session import RECEIVED, Session, State
from referee.verdict import Ending

MARK = b"\x1f"
DEEDS = {
    b"a": "ask one turn",
    b"m": "ask many turns",
    b"w": "withdraw the oldest turn",
    b"p": "ping",
    b"b": "say bye",
    b"x": "none, but what follows is repeated beyond the limit of a line",
}
MANY = 64
LONG = b"x"
MOST_LONG = 4
SMALL_FLOOD = 1000
"""The most that a bot may send from turn to turn, unless long lines are to be tried."""
LONGEST_RECEIVED = 4 * 200 * 10
"""An excerpt has 200 bytes, and each may be written as an escape."""
BLAME = {
    State.GREETING: {Ending.NO_HELLO, Ending.WRONG_PROTOCOL},
    State.PLAYING: {Ending.GARBLED, Ending.FLOOD},
}

Cut = Callable[[bytes], Iterator[bytes]]


class Moment(NamedTuple):
    """What could be seen of a session after one deed and the bytes behind it."""

    events: list[Event]
    state: State
    dropped: int
    unfinished: str


def try_it(data: bytes) -> None:
    script = list(_script(data))
    most = FLOOD_BYTES if MARK + LONG in data else SMALL_FLOOD
    whole = _talk(script, _whole, most)
    for cut in (_small_pieces, _lines):
        heard = _talk(script, cut, most)
        assert heard == whole, f"{cut.__name__} gives other events than the whole"


def _script(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Deeds, each with the bytes that the bot sends after it."""
    first, *others = data.split(MARK)
    yield b"", first
    long = 0
    for part in others:
        deed, sent = part[:1], part[1:]
        if sent and deed == LONG and long < MOST_LONG:
            long += 1
            sent *= LINE_LIMIT // len(sent) + 1
        yield deed, sent


def _whole(sent: bytes) -> Iterator[bytes]:
    yield sent


def _small_pieces(sent: bytes) -> Iterator[bytes]:
    size = 1 + len(sent) % 3 + len(sent) // 500
    for at in range(0, len(sent), size):
        yield sent[at : at + size]


def _lines(sent: bytes) -> Iterator[bytes]:
    """Three lines at a time, or halves where there are fewer: the quick way takes several."""
    lines = sent.splitlines(keepends=True)
    step = 1 + max(2, len(lines) // 50)
    for at in range(0, len(lines), step):
        yield b"".join(lines[at : at + step])


def _talk(script: Sequence[tuple[bytes, bytes]], cut: Cut, most: int) -> list[Moment]:
    session = Session(most)
    session.hello("fuzz")
    turns: set[int] = set()
    seen: list[Moment] = []
    for deed, sent in script:
        _do(session, deed, turns)
        events: list[Event] = []
        for piece in cut(sent):
            before = session.state
            new = list(session.receive(piece))
            _check(new, before, session, turns)
            kept = len(session._tail)
            assert kept <= most, f"{kept} bytes of one line are kept"
            events += new
        seen.append(Moment(events, session.state, session.dropped, session.unfinished()))
    before = session.state
    last = list(session.end_of_input())
    assert len(last) == (before in (State.GREETING, State.PLAYING))
    assert all(isinstance(event, Misbehaved) for event in last)
    seen.append(Moment(last, session.state, session.dropped, session.unfinished()))
    return seen


def _do(session: Session, deed: bytes, turns: set[int]) -> None:
    """What the arena may do at this moment; nothing where it would not."""
    if session.state is not State.PLAYING:
        return
    if deed in (b"a", b"m"):
        count = 1 if deed == b"a" else MANY
        first = session.ask(count)
        turns.update(range(first, first + count))
    elif deed == b"w" and turns:
        session.withdraw(min(turns))
        turns.remove(min(turns))
    elif deed == b"p" and not turns:
        session.ping()
    elif deed == b"b":
        session.bye()


def _check(events: list[Event], before: State, session: Session, turns: set[int]) -> None:
    state = before
    for number, event in enumerate(events):
        if isinstance(event, Misbehaved):
            assert number == len(events) - 1, "something was heard after a fault"
            assert event.code in BLAME[state], f"{event.code} while {state}"
            assert event.detail.isprintable()
            assert event.received.isprintable()
            assert len(event.received) < LONGEST_RECEIVED
            state = State.BROKEN
        else:
            _check_message(event, state, turns)
            state = State.PLAYING
    assert session.state is state, f"{session.state} where {state} is due"
    assert state is before or state in RECEIVED[before].values()


def _check_message(event: Event, state: State, turns: set[int]) -> None:
    if isinstance(event, HelloReceived):
        assert state is State.GREETING
        assert 1 <= event.games_at_once <= 10_000
        return
    assert state is State.PLAYING
    if isinstance(event, PongReceived):
        return
    assert isinstance(event, MoveReceived | OddMoveReceived | ResignReceived)
    assert type(event.id) is int
    assert event.id in turns, f"an answer to turn {event.id}, which is not open"
    turns.remove(event.id)
    if isinstance(event, MoveReceived):
        assert type(event.move) in (int, str)
        assert isinstance(event.move, str) or abs(event.move) <= LARGEST_INT
    elif isinstance(event, OddMoveReceived):
        assert len((event.note or "").encode()) <= NOTE_LIMIT
        json.dumps(event.move, allow_nan=False, ensure_ascii=False).encode()
