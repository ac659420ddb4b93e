"""Whose work is next: teams take turns, and each has one piece in hand at a time.

A build or a check can take minutes. First come, first served would let one team with slow builds
keep all the others waiting. Two teams with builds that sleep could do the same where two pieces of
work are in hand at once. So a piece that takes long makes room for another one.

Work of others on the same cores can make a bot late in its check. Such a check is taken once more,
alone: nothing else is in hand when it begins, and nothing begins beside it for a while.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
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
ALONE_S = 120.0
"""For so long nothing begins beside a piece that is to be alone: more than the check of an honest
bot takes. A bot that is late on purpose must not keep others waiting for longer."""


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
        self._accompanied: set[Team] = set()
        """Teams beside whose piece in hand there was another one."""
        self._alone: Team = None
        self._alone_until = -math.inf
        """Until when nothing begins beside the piece of `_alone`."""
        self._turns = 0
        self._last_turn: dict[Team, int] = {}

    def next(
        self,
        waiting: Iterable[tuple[Team, T]],
        now: float,
        alone: Callable[[T], bool] = lambda _: False,
    ) -> T | None:
        """The first piece of the team whose last turn is longest ago; None where all have to wait.

        `waiting` is in the order in which it came; `alone` says whether a piece is to be alone.
        """
        if now < self._alone_until:
            return None
        quick = sum(now - began < LONG_S for began in self._began.values())
        if quick >= self._at_once or len(self._began) >= MOST:
            return None
        first: dict[Team, T] = {}
        for team, piece in waiting:
            if team not in self._began:
                first.setdefault(team, piece)
        for team in sorted(first, key=lambda team: self._last_turn.get(team, 0)):
            if not self._began or not alone(first[team]):
                return first[team]
            if quick == len(self._began):
                return None  # It waits for the others, which end soon or make room.
        return None

    def had_company(self, team: Team) -> bool:
        """Whether there was ever other work in hand beside the piece of this team."""
        return team in self._accompanied

    def begin(self, team: Team, now: float, *, alone: bool = False) -> None:
        """A piece of this team is in hand from now on."""
        if self._began:
            self._accompanied |= {team, *self._began}
        if alone:
            self._alone, self._alone_until = team, now + ALONE_S
        self._turns += 1
        self._last_turn[team] = self._turns
        self._began[team] = now

    def end(self, team: Team) -> None:
        del self._began[team]
        self._accompanied.discard(team)
        if team == self._alone:
            self._alone_until = -math.inf
