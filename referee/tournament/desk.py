"""What is still to be played, handed out in pieces. No I/O.

Pieces are handed out when a worker is free, never dealt in advance, and pairings take turns, so
that a table in progress is fair and one slow bot holds up nobody else. What a worker did not get
to comes back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from referee.tournament.chunk import spans

SMALLEST = 64
LARGEST = 20_000
"""Games in a piece, unless so few are left that every worker gets fewer. A worker gives back what
it has no time for, so large pieces harm nobody."""


class Desk:
    """The games of all pairings that are not played yet."""

    def __init__(self) -> None:
        self._left: dict[int, list[tuple[int, int]]] = {}
        self._turns: deque[int] = deque()
        self.waiting = 0
        """Games that nobody plays yet."""

    def add(self, pairing: int, numbers: Iterable[tuple[int, int]]) -> None:
        """Games to be played, or to be played after all."""
        added = list(numbers)
        if not added:
            return
        if pairing not in self._left:
            self._turns.append(pairing)
        # A piece is a few ranges: sorting them again is no work.
        self._left[pairing] = sorted(self._left.get(pairing, []) + added)
        self.waiting += sum(high - low + 1 for low, high in added)

    def pairings(self) -> list[int]:
        """Those with games that nobody plays yet."""
        return list(self._turns)

    def take(
        self, hands: int, may_play: Callable[[int], bool] | None = None
    ) -> tuple[int, tuple[tuple[int, int], ...]] | None:
        """The next piece, where so many play at a time: a pairing and ranges of its game numbers.
        Pieces get smaller towards the end. `may_play` says which pairings can be played now."""
        pairing = next((each for each in self._turns if may_play is None or may_play(each)), None)
        if pairing is None:
            return None
        self._turns.remove(pairing)
        share = -(-self.waiting // hands)
        wanted = min(max(-(-share // 2), min(SMALLEST, share)), LARGEST)
        wanted += wanted % 2
        ranges = self._left.pop(pairing)
        taken: list[tuple[int, int]] = []
        while ranges and wanted > 0:
            low, high = ranges.pop(0)
            cut = min(high, low + wanted - 1)
            if cut < high:
                # Not between the two games of a pair.
                cut -= cut % 2 if cut > low else 0
                ranges.insert(0, (cut + 1, high))
            taken.append((low, cut))
            wanted -= cut - low + 1
        if ranges:
            self._left[pairing] = ranges
            self._turns.append(pairing)
        self.waiting -= sum(high - low + 1 for low, high in taken)
        return pairing, tuple(taken)


def missing(games: int, played: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The numbers from 1 to `games` that are in none of these ranges."""
    there = {number for low, high in played for number in range(low, high + 1)}
    return spans([number for number in range(1, games + 1) if number not in there])
