"""Whose work is next: teams take turns, and each has only so much in hand at once.

A build or a check can take minutes. First come, first served would let one team with slow builds
keep all the others waiting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")
Team = int | None
"""The number of a team; None is the organisers, who count as one."""
A_TEAM = 1
"""Pieces of work that a team has in hand at once."""
FEWEST, MOST = 2, 8
"""Pieces of work that are in hand at once, over all teams."""


def places(jobs: int) -> int:
    """How many pieces of work a machine with so many workers has in hand at once."""
    return min(max(jobs, FEWEST), MOST)


class Turns:
    """Who has work in hand, and who had a turn when.

    >>> turns = Turns(2)
    >>> turns.begin(1)
    >>> turns.next([(1, "a"), (1, "b"), (2, "c")])
    'c'
    """

    def __init__(self, at_once: int, a_team: int = A_TEAM) -> None:
        self._at_once = at_once
        self._a_team = a_team
        self._in_hand: Counter[Team] = Counter()
        self._turns = 0
        self._last_turn: dict[Team, int] = {}

    def next(self, waiting: Iterable[tuple[Team, T]]) -> T | None:
        """The first piece of the team whose last turn is longest ago; None where all have to wait.

        `waiting` is in the order in which it came.
        """
        if self._in_hand.total() >= self._at_once:
            return None
        first: dict[Team, T] = {}
        for team, piece in waiting:
            if self._in_hand[team] < self._a_team:
                first.setdefault(team, piece)
        if not first:
            return None
        return first[min(first, key=lambda team: self._last_turn.get(team, 0))]

    def begin(self, team: Team) -> None:
        """A piece of this team is in hand from now on."""
        self._turns += 1
        self._last_turn[team] = self._turns
        self._in_hand[team] += 1

    def end(self, team: Team) -> None:
        self._in_hand[team] -= 1
