"""Underdog: the higher number wins the round, unless the other is exactly one lower.

Each player holds the numbers 1 to 10 and may use each of them once. In every round both choose a
number in secret and reveal them together:

- the higher number wins the round and one point,
- but a number exactly one below the other wins instead: that is the underdog rule,
- equal numbers win nothing.

Both numbers are then gone. The first player with three points wins the game.

Rulings
- There is no wrap-around: 10 beats 1. (Option wrap: with `yes`, 1 against the highest number is
  the underdog too, and 10 against 1 loses. Not with fewer than three numbers.)
- The numbers run out before anyone has three points: more points win, level points are a draw.
  (Option exhausted: with `draw` such a game is always a draw.)

Best play
The game is symmetric, so best play is worth half a point to each side, and it has to be mixed: a
player who can be foreseen is beaten by the number one lower, every time. 10 loses to 9 alone, and
1 beats nothing but 2, so the value of a number depends on what the other still holds.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from referee.rules.chance import Chance
from referee.rules.numbers import Numbers, amount, listed, up_to, without
from referee.rules.options import Option
from referee.rules.variant import BOTH, Names, Outcome, Plays, Seat, Variant


class Position(Struct, frozen=True, gc=False):
    left: tuple[Numbers, Numbers]
    points: tuple[int, int]
    played: int
    """Rounds that are over."""


class Underdog(Variant[Position, int]):
    name = "underdog"
    summary = "1–10 once each, both at once: higher wins, exactly one lower beats it; first to 3"
    options = (
        Option(name="size", default=10, low=1, high=100, help="each player holds 1 to this number"),
        Option(name="points", default=3, low=1, high=100, help="points that win the game"),
        Option(name="wrap", default="no", choices=("no", "yes"), help="1 beats the highest number"),
        Option(
            name="exhausted",
            default="points",
            choices=("points", "draw"),
            help="numbers run out: more points win, or a draw",
        ),
    )
    reasons = {
        "points": "the winner has the points that win the game",
        "more_points": "the numbers ran out and the winner had more points",
        "level_points": "the numbers ran out with level points: a draw",
        "exhausted": "the numbers ran out, which the option exhausted makes a draw",
    }
    scores_mean = "points"

    def __init__(self, **given: object) -> None:
        super().__init__(**given)
        self._goal = self.number("points")
        # The distances at which the lower number wins; with wrap also the widest one there is.
        size = self.number("size")
        upsets = (1, size - 1) if self.settings["wrap"] == "yes" else (1,)
        numbers = up_to(size)
        self._start = Position((numbers, numbers), (0, 0), 0)
        self._results = [
            [_result(mine, theirs, upsets) for theirs in range(size + 1)]
            for mine in range(size + 1)
        ]

    def settle(self) -> None:
        size = self.number("size")
        if self.number("points") > size:
            raise self.bad_option("points", f"at most size, which is {size}: a round is one point")
        if self.settings["wrap"] == "yes" and size < 3:
            raise self.bad_option("wrap", "no where size is below 3")

    def setup(self, chance: Chance) -> Position:
        return self._start

    def actors(self, position: Position) -> tuple[Seat, ...]:
        first, second = position.points
        goal = self._goal
        return () if first >= goal or second >= goal or not position.left[0] else BOTH

    def legal(self, position: Position, seat: Seat) -> Numbers:
        return position.left[seat]

    def apply(self, position: Position, plays: Plays[int], chance: Chance) -> Position:
        (_, first), (_, second) = plays
        left_to_first, left_to_second = position.left
        points = position.points
        result = self._results[first][second]
        if result == "won":
            points = (points[0] + 1, points[1])
        elif result == "lost":
            points = (points[0], points[1] + 1)
        left = (without(left_to_first, first), without(left_to_second, second))
        return Position(left, points, position.played + 1)

    def view(self, position: Position, seat: Seat) -> dict[str, Any]:
        other = 1 - seat
        return {
            "round": position.played + 1,
            "mine": {"numbers": position.left[seat], "points": position.points[seat]},
            "theirs": {"numbers": position.left[other], "points": position.points[other]},
        }

    def events(
        self, before: Position, plays: Plays[int], after: Position, seat: Seat
    ) -> list[dict[str, Any]]:
        (_, mine), (_, theirs) = plays
        if seat:
            mine, theirs = theirs, mine
        result = self._results[mine][theirs]
        return [{"round": after.played, "mine": mine, "theirs": theirs, "result": result}]

    def outcome(self, position: Position) -> Outcome | None:
        first, second = position.points
        if first >= self._goal:
            return Outcome(0, "points")
        if second >= self._goal:
            return Outcome(1, "points")
        if position.left[0]:
            return None
        if self.settings["exhausted"] == "draw":
            return Outcome(None, "exhausted")
        if first == second:
            return Outcome(None, "level_points")
        return Outcome(0 if first > second else 1, "more_points")

    def scores(self, position: Position) -> tuple[int, int]:
        return position.points

    def longest(self) -> int:
        return 2 * self.number("size")

    # Text for people.

    def opening(self, position: Position, names: Names) -> list[str]:
        return [
            f"{names[0]} and {names[1]} hold 1 to {self.number('size')} each; "
            f"first to {amount(self._goal, 'point')}."
        ]

    def narrate(
        self,
        before: Position,
        plays: Plays[int],
        after: Position,
        names: Names,
        reader: Seat | None = None,
    ) -> list[str]:
        (_, first), (_, second) = plays
        result = self._results[first][second]
        if result == "tied":
            result = "Same number: nobody wins the round."
        else:
            winner = 0 if result == "won" else 1
            number, other = (first, second) if winner == 0 else (second, first)
            upset = "Underdog Rule Activated! " if number < other else ""
            result = f"{upset}{names[winner]} wins the round!"
        return [
            f"Round {after.played}",
            f"  {names[0]} chose: {first}",
            f"  {names[1]} chose: {second}",
            f"  {result}",
            f"  Current scores: {names[0]} {after.points[0]}, {names[1]} {after.points[1]}",
        ]

    def conclusion(self, position: Position, names: Names) -> list[str]:
        outcome = self.outcome(position)
        if outcome is None:
            return []
        first, second = position.points
        if outcome.winner is None:
            return [f"The numbers have run out: the game is a draw at {first} to {second}."]
        own, other = position.points[outcome.winner], position.points[1 - outcome.winner]
        if outcome.reason == "points":
            how = f"{names[outcome.winner]} has reached {amount(own, 'point')} and"
        else:
            how = f"The numbers have run out: {names[outcome.winner]}"
        return [f"{how} wins the game {own} to {other}!"]

    def prompt(self, position: Position, seat: Seat, names: Names) -> list[str]:
        other = 1 - seat
        return [
            f"Round {position.played + 1}. {names[other]} holds {listed(position.left[other])}.",
            f"{names[seat]}, enter your chosen number from your available numbers "
            f"{listed(position.left[seat])}: ",
        ]


def _result(mine: int, theirs: int, upsets: tuple[int, ...]) -> str:
    """How a round ends for the player who shows `mine`."""
    if mine == theirs:
        return "tied"
    higher = mine > theirs
    return "won" if higher != (abs(mine - theirs) in upsets) else "lost"
