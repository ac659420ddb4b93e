"""Whoever plays chunks for a coordinator, wherever they are: what it has to be able to do.

The coordinator gives an order to a hand that is idle and hears what hands have to say. Worker
processes on this machine are one crew (workers.py), a cluster is another (referee/cluster).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

from msgspec import Struct

from referee.tournament.chunk import Order, Report


class LostWorker(Exception):
    """A hand ended without being asked to; the message says how."""


class Hand(Protocol):
    """One that works at one order at a time."""

    order: Order | None
    """What it is at work on."""

    def give(self, order: Order) -> None: ...


class Place(Struct, frozen=True, kw_only=True):
    """A machine, or a part of one, that plays; for whoever watches."""

    name: str
    hands: int
    games: int
    """Since this run began."""
    games_per_s: float


class Muster(Struct, frozen=True, kw_only=True):
    """A crew at this moment; for whoever watches."""

    places: tuple[Place, ...]
    in_flight: int
    """Chunks that are being played."""


class Crew(Protocol):
    """All hands."""

    def __len__(self) -> int: ...

    def idle(self) -> Sequence[Hand]: ...

    def hear(self, timeout_s: float) -> Iterator[tuple[Hand, list[Report] | LostWorker]]:
        """Who has said what, or was lost. A lost hand is replaced; its order is on it still."""

    def muster(self) -> Muster | None:
        """None where there is nothing to tell beyond how many there are."""

    def levels(self) -> Collection[str]:
        """How bots were confined so far, where that is not settled by the spec alone."""

    def close(self) -> None: ...
