"""What is still to be played, handed out in pieces. No I/O.

Pieces are handed out when a worker is free, never dealt in advance, and pairings take turns, so
that a table in progress is fair and one slow bot holds up nobody else. What a worker did not get
to comes back.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from itertools import islice

from referee.tournament.chunk import spans

SMALLEST = 64
LARGEST = 20_000
"""Games in a piece, unless so few are left that every worker gets fewer. A worker gives back what
it has no time for, so large pieces harm nobody."""

NEAR = 100
"""Pairings whose turn is near: one of them may come before its turn."""


class Desk:
    """The games of all pairings that are not played yet."""

    def __init__(self) -> None:
        self._left: dict[int, list[tuple[int, int]]] = {}
        self._turns: deque[int] = deque()
        self._pieces: Counter[int] = Counter()
        """How many of each pairing were handed out."""
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
        self,
        hands: int,
        may_play: Callable[[int], bool] | None = None,
        block_of: Callable[[int], int] | None = None,
        cost: Callable[[int], int] | None = None,
    ) -> tuple[int, tuple[tuple[int, int], ...]] | None:
        """The next piece, where so many play at a time: a pairing and ranges of its game numbers.
        Pieces get smaller towards the end.

        `may_play` says which pairings can be played now. `block_of` gives the number of games after
        which a pairing may be cut, 0 for any even one. `cost` gives what it costs to begin with a
        pairing, 0 for nothing: of those whose turn is near, a cheap one comes first, unless it has
        had more pieces than the one whose turn it is.
        """
        pairing = self._choose(may_play, cost)
        if pairing is None:
            return None
        self._turns.remove(pairing)
        self._pieces[pairing] += 1
        share = -(-self.waiting // hands)
        wanted = min(max(-(-share // 2), min(SMALLEST, share)), LARGEST)
        wanted += wanted % 2
        ranges = self._left.pop(pairing)
        taken = _cut(ranges, wanted, block_of(pairing) if block_of is not None else 0)
        if ranges:
            self._left[pairing] = ranges
            self._turns.append(pairing)
        self.waiting -= sum(high - low + 1 for low, high in taken)
        return pairing, tuple(taken)

    def _choose(
        self, may_play: Callable[[int], bool] | None, cost: Callable[[int], int] | None
    ) -> int | None:
        able: Iterable[int] = self._turns
        if may_play is not None:
            able = filter(may_play, able)
        near = islice(able, NEAR)
        chosen = next(near, None)
        if chosen is None or cost is None:
            return chosen
        pieces = self._pieces
        most, least = pieces.get(chosen, 0), cost(chosen)
        for each in near if least else ():
            if pieces.get(each, 0) <= most and (each_cost := cost(each)) < least:
                chosen, least = each, each_cost
                if not least:
                    break
        return chosen


def _cut(ranges: list[tuple[int, int]], wanted: int, block: int) -> list[tuple[int, int]]:
    """About so many games off the front of these ranges, to the end of a block or of a pair."""
    last = ranges[0][0] - 1
    taken: list[tuple[int, int]] = []
    while ranges and (wanted > 0 or (block and (ranges[0][0] - 1) // block == (last - 1) // block)):
        low, high = ranges.pop(0)
        cut = last = min(high, low + max(wanted, 1) - 1)
        if cut < high:
            if block:
                cut = min(high, -(-cut // block) * block)
            elif cut > low:
                cut -= cut % 2
        if cut < high:
            ranges.insert(0, (cut + 1, high))
        taken.append((low, cut))
        last = cut
        wanted -= cut - low + 1
    return taken


def missing(games: int, played: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The numbers from 1 to `games` that are in none of these ranges."""
    there = {number for low, high in played for number in range(low, high + 1)}
    return spans([number for number in range(1, games + 1) if number not in there])
