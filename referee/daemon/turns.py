"""Whose work is next: teams take turns, and each has one piece in hand at a time.

A build or a check can take minutes. First come, first served would let one team with slow builds
keep all the others waiting. Two teams with builds that sleep could do the same where two pieces of
work are in hand at once. So a piece that takes long makes room for another one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")
Team = int | None
"""The number of a team; None is the organisers, who count as one."""
FEWEST, MOST = 2, 8
"""Pieces of work that are in hand at once, over all teams. Each may fill gigabytes of memory."""
LONG_S = 30.0
"""After which a piece makes room for another one, as long as fewer than `MOST` are in hand. Most
pieces end sooner: they share the cores with no more than `places` others, and a bot is not checked
beside so many that it is late."""


def places(jobs: int) -> int:
    """How many pieces of work, but for long ones, a machine with so many workers has in hand."""
    return min(max(jobs, FEWEST), MOST)


class Turns:
    """Who has work in hand, and who had a turn when.

    >>> turns = Turns(2)
    >>> turns.begin(1, now=0.0)
    >>> turns.next([(1, "a"), (1, "b"), (2, "c")], now=0.1)
    'c'
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._began: dict[Team, float] = {}
        """When the piece began that a team has in hand."""
        self._turns = 0
        self._last_turn: dict[Team, int] = {}

    def next(self, waiting: Iterable[tuple[Team, T]], now: float) -> T | None:
        """The first piece of the team whose last turn is longest ago; None where all have to wait.

        `waiting` is in the order in which it came.
        """
        quick = sum(now - began < LONG_S for began in self._began.values())
        if quick >= self._at_once or len(self._began) >= MOST:
            return None
        first: dict[Team, T] = {}
        for team, piece in waiting:
            if team not in self._began:
                first.setdefault(team, piece)
        if not first:
            return None
        return first[min(first, key=lambda team: self._last_turn.get(team, 0))]

    def begin(self, team: Team, now: float) -> None:
        """A piece of this team is in hand from now on."""
        self._turns += 1
        self._last_turn[team] = self._turns
        self._began[team] = now

    def end(self, team: Team) -> None:
        del self._began[team]
