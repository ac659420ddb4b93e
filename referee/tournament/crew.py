"""Whoever plays chunks: what a dispatcher needs of them.

A pool plays chunks, one in each of its slots. Worker processes on this machine are one pool
(workers.py), a cluster is another (referee/cluster), and the hall, where bots from elsewhere meet,
is a third (referee/daemon/reception.py). A crew is a pool of workers: the dispatcher hears what
they have to say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from referee.tournament.chunk import Chunk, Order, Report

Place = Literal["workers", "hall"]
"""A kind of pool. Bots that can be started meet among workers; a bot that has connected from
elsewhere plays in the hall."""


class LostWorker(Exception):
    """A hand ended without being asked to; the message says how."""


class Slot(Protocol):
    """Room for one chunk."""

    @property
    def at_hand(self) -> Collection[int]:
        """Bots whose processes are kept here."""

    def give(self, order: Chunk, /) -> bool:
        """Whether it is played; where a bot has left meanwhile, it goes back unplayed."""


class Pool(Protocol):
    """Whoever plays chunks."""

    @property
    def place(self) -> Place: ...

    def idle(self) -> Sequence[Slot]:
        """Room for chunks at this moment."""

    def absent(self) -> Collection[int]:
        """Bots that cannot play here now."""


class Hand(Protocol):
    """One that works at one order at a time."""

    order: Order | None
    """What it is at work on."""

    @property
    def at_hand(self) -> Collection[int]:
        """Bots whose processes are kept here."""

    def give(self, order: Order, /) -> bool:
        """Always True: where nobody is there to take it, `hear` tells so in a moment."""


class MachineStatus(Struct, frozen=True, kw_only=True):
    """A machine, or a part of one, that plays; for whoever watches."""

    name: str
    hands: int
    games: int
    """Since this run began."""
    games_per_s: float


class Muster(Struct, frozen=True, kw_only=True):
    """A crew at this moment; for whoever watches."""

    places: tuple[MachineStatus, ...]
    in_flight: int
    """Chunks that are being played."""


class Crew(Pool, Protocol):
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
