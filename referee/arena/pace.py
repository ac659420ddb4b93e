"""How many turns a bot owes at a time.

Each turn's clock runs from its own write, so a bot that is sent 64 turns at once has to answer all
of them within the time of one. The pace finds out how many a bot can answer: it begins with one
turn, doubles while the slowest answer takes less than a quarter of its time, and halves when one
takes more than half. An honest bot that says `games_at_once` is therefore not late for it, and no
bot can think over one of its games in the time of all the others.
"""

from __future__ import annotations

QUICK, SLOW = 4, 2
"""The parts of a turn's time below which the pace doubles, and above which it halves."""


class Pace:
    """The number of turns that one process, or one connection, is sent at a time."""

    __slots__ = ("_changed_ns", "_most", "_reached", "turns")

    def __init__(self, most: int = 1) -> None:
        self._most = most
        self.turns = 1
        """As many may be open."""
        self._reached = 0
        """The most turns that were open since the number changed."""
        self._changed_ns = 0

    def limit(self, most: int) -> None:
        """So many games are played at once from now on."""
        self._most = most
        self.turns = min(self.turns, most)
        self._reached = 0

    def sent(self, open_turns: int) -> None:
        if open_turns > self._reached:
            self._reached = open_turns

    def answered(self, asked_ns: int, at_ns: int, limit_ns: int | None) -> None:
        """An answer came. Of several, the slowest one tells most; a turn that was written before
        the number changed tells nothing about it."""
        if not self._reached or asked_ns < self._changed_ns:
            return
        spent_ns, turns = at_ns - asked_ns, self.turns
        if limit_ns is None:
            self.turns = self._most
        elif spent_ns * SLOW > limit_ns:
            self._change(max(1, turns // 2), at_ns)
        elif spent_ns * QUICK < limit_ns and turns < self._most and self._reached >= turns:
            self._change(min(self._most, 2 * turns), at_ns)

    def _change(self, turns: int, at_ns: int) -> None:
        self.turns = turns
        self._changed_ns = at_ns
        self._reached = 0
