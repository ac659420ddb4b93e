"""Tests of the protocol, and the few words that they share."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from hypothesis import settings

from referee.protocol.messages import Event
from referee.protocol.session import Session

HELLO = b'{"type":"hello"}\n'

quick = settings(max_examples=100)


def greeting() -> Session:
    """A session in which the referee has said hello."""
    session = Session()
    session.hello("test")
    return session


def playing(turns: int = 1) -> Session:
    """A session in which the bot has said hello and owes answers to the turns 1, 2, …"""
    session = greeting()
    session.receive(HELLO)
    for _ in range(turns):
        session.ask()
    return session


def feed(session: Session, pieces: Iterable[bytes]) -> list[Event]:
    """Everything that comes out of these pieces of a stream."""
    events: list[Event] = []
    for piece in pieces:
        events += session.receive(piece)
    return events


def one_by_one(stream: bytes) -> list[bytes]:
    return [stream[at : at + 1] for at in range(len(stream))]


def cut(stream: bytes, at: Iterable[int]) -> list[bytes]:
    """The stream, cut at these places, wherever they are within it."""
    places = sorted({0, len(stream), *(place % (len(stream) + 1) for place in at)})
    return [stream[a:b] for a, b in pairwise(places)]
