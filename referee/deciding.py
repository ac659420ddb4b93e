"""A match that ends as soon as a sequential test is decided."""

from __future__ import annotations

from msgspec import Struct

from referee.ratings.sprt import Decision, Sprt
from referee.record import Record


class SprtResult(Struct, frozen=True, kw_only=True):
    """How a match that was to decide something was decided."""

    test: Sprt
    pairs: list[int]
    """Whole pairs by points of the first player: 0, ½, 1, 1½, 2."""
    llr: float
    lower: float
    upper: float
    decision: str
    """`accept H0`, `accept H1`, or `continue` where the games ran out before."""


class SprtWatch:
    """Counts whole pairs and looks at the test now and then: a look costs as much as some games."""

    def __init__(self, test: Sprt, first: str) -> None:
        self._test = test
        self._first = first
        self._open: dict[int, float] = {}
        """Points of the first game of a pair."""
        self._pairs = [0] * 5
        self._next_look = 1

    def decided_by(self, record: Record) -> bool:
        if not record.rated:
            return False
        points = record.points()[0 if record.players[0] == self._first else 1]
        # Two games with swapped seats, also where chance is hidden and each has its own.
        pair = (int(record.game) + 1) // 2
        other = self._open.pop(pair, None)
        if other is None:
            self._open[pair] = points
            return False
        self._pairs[round(2 * (points + other))] += 1
        count = sum(self._pairs)
        if count < self._next_look:
            return False
        self._next_look = count + 1 + count // 100
        return self._test.decide(self._pairs) is not Decision.CONTINUE

    def result(self) -> SprtResult:
        test = self._test
        return SprtResult(
            test=test,
            pairs=self._pairs,
            llr=test.llr(self._pairs),
            lower=test.lower,
            upper=test.upper,
            decision=test.decide(self._pairs).value,
        )
