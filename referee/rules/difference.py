"""Difference: the higher number wins the round and scores the difference.

Each player holds the numbers 1 to 5 and may use each of them once. In each of five rounds both
choose a number in secret and reveal them together:

- the higher number wins the round, and as many points as it is higher,
- equal numbers are a tied round without points.

Both numbers are then gone. After the last round more points win the game. Where points are level,
more rounds won decide, and after that the last round.

Rulings
- Still level after all three: a draw. Five tied rounds end so, and so do one or two rounds each
  with a tied last one.
- The last round is the final one that is played, even where it is tied, not the last one that
  somebody won. (Option last_round: with `no` it breaks no tie, and level rounds are a draw.)
- Fewer rounds can be played than there are numbers (option rounds); what is left stays unused.

Best play
Where every number gets used, both players spend the same sum, so points are always level at the
end and the rounds won decide. The game is symmetric and worth half a point to each side.
With last_round=no a player who picks at random among the numbers left gets exactly half a point
on average, whatever the other does: that is best play. By default it is not, since the last round
breaks ties: against random play, keeping 5 for the end gets 19/30 and the best answer 11/16.
Points count only where there are fewer rounds than numbers.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from referee.rules.chance import Chance
from referee.rules.numbers import Numbers, amount, listed, up_to, without
from referee.rules.options import Option
from referee.rules.variant import BOTH, Names, Outcome, Plays, Seat, Variant


class Position(Struct, frozen=True):
    left: tuple[Numbers, Numbers]
    points: tuple[int, int]
    won: tuple[int, int]
    """Rounds won by each seat."""
    last: Seat | None
    """Who won the latest round; None if it was tied."""
    played: int
    """Rounds that are over."""


class Difference(Variant[Position, int]):
    name = "difference"
    summary = "1–5 once each, both at once: higher scores the difference; ties: rounds, last round"
    options = (
        Option(name="size", default=5, low=2, high=100, help="each player holds 1 to this number"),
        Option(name="rounds", default=None, low=1, high=100, help="rounds in a game, if not size"),
        Option(
            name="last_round",
            default="yes",
            choices=("yes", "no"),
            help="its winner wins a game that is level in points and rounds",
        ),
    )
    reasons = {
        "points": "the winner has more points",
        "rounds_won": "points are level and the winner won more rounds",
        "last_round": "points and rounds are level and the winner won the last round",
        "level": "points and rounds are level and no last round decides: a draw",
    }
    scores_mean = "points"

    def __init__(self, **given: object) -> None:
        super().__init__(**given)
        self._rounds = self.number("rounds")
        self._last_counts = self.settings["last_round"] == "yes"

    def settle(self) -> None:
        size = self.number("size")
        self.settings.setdefault("rounds", size)
        if self.number("rounds") > size:
            raise self.bad_option("rounds", f"at most size, which is {size}: a round uses a number")

    def setup(self, chance: Chance) -> Position:
        numbers = up_to(self.number("size"))
        return Position((numbers, numbers), (0, 0), (0, 0), None, 0)

    def actors(self, position: Position) -> tuple[Seat, ...]:
        return BOTH if position.played < self._rounds else ()

    def legal(self, position: Position, seat: Seat) -> Numbers:
        return position.left[seat]

    def apply(self, position: Position, plays: Plays[int], chance: Chance) -> Position:
        (_, first), (_, second) = plays
        left, points, won = position.left, position.points, position.won
        last: Seat | None = None
        if first > second:
            points = (points[0] + first - second, points[1])
            won = (won[0] + 1, won[1])
            last = 0
        elif second > first:
            points = (points[0], points[1] + second - first)
            won = (won[0], won[1] + 1)
            last = 1
        return Position(
            (without(left[0], first), without(left[1], second)),
            points,
            won,
            last,
            position.played + 1,
        )

    def view(self, position: Position, seat: Seat) -> dict[str, Any]:
        other = 1 - seat
        left, points, won = position.left, position.points, position.won
        return {
            "round": position.played + 1,
            "rounds": self._rounds,
            "mine": {"numbers": left[seat], "points": points[seat], "rounds_won": won[seat]},
            "theirs": {"numbers": left[other], "points": points[other], "rounds_won": won[other]},
        }

    def events(
        self, before: Position, plays: Plays[int], after: Position, seat: Seat
    ) -> list[dict[str, Any]]:
        mine, theirs = plays[seat][1], plays[1 - seat][1]
        if mine == theirs:
            result = "tied"
        else:
            result = "won" if mine > theirs else "lost"
        return [
            {
                "round": after.played,
                "mine": mine,
                "theirs": theirs,
                "result": result,
                "points": abs(mine - theirs),
            }
        ]

    def outcome(self, position: Position) -> Outcome | None:
        if position.played < self._rounds:
            return None
        first, second = position.points
        if first != second:
            return Outcome(0 if first > second else 1, "points")
        first, second = position.won
        if first != second:
            return Outcome(0 if first > second else 1, "rounds_won")
        if self._last_counts and position.last is not None:
            return Outcome(position.last, "last_round")
        return Outcome(None, "level")

    def scores(self, position: Position) -> tuple[int, int]:
        return position.points

    def longest(self) -> int:
        return 2 * self._rounds

    # Text for people.

    def opening(self, position: Position, names: Names) -> list[str]:
        return [
            f"{names[0]} and {names[1]} hold 1 to {self.number('size')} each and play "
            f"{amount(self._rounds, 'round')}."
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
        if after.last is None:
            result = "Same number: the round is a tie. No points."
        else:
            gained = abs(first - second)
            result = f"{names[after.last]} wins the round! Points gained: {gained}"
        return [
            f"Round {after.played}",
            f"  {names[0]} plays {first}.",
            f"  {names[1]} plays {second}.",
            f"  {result}",
            f"  Points: {names[0]} {after.points[0]}, {names[1]} {after.points[1]}",
        ]

    def conclusion(self, position: Position, names: Names) -> list[str]:
        outcome = self.outcome(position)
        if outcome is None:
            return []
        final = [
            f"Final scores: {names[0]} {amount(position.points[0], 'point')}, "
            f"{names[1]} {amount(position.points[1], 'point')}."
        ]
        if outcome.winner is None:
            rounds = f"{position.won[0]} to {position.won[1]}"
            return [*final, f"Points are level and so are the rounds, {rounds}: a draw."]
        own, other = position.won[outcome.winner], position.won[1 - outcome.winner]
        how = {
            "points": "has more points",
            "rounds_won": f"won more rounds, {own} to {other},",
            "last_round": "won the last round",
        }[outcome.reason]
        return [*final, f"{names[outcome.winner]} {how} and is the winner!"]

    def prompt(self, position: Position, seat: Seat, names: Names) -> list[str]:
        other = 1 - seat
        return [
            f"Round {position.played + 1} of {self._rounds}. "
            f"{names[other]} holds {listed(position.left[other])}.",
            f"{names[seat]}, select your number from {listed(position.left[seat])}: ",
        ]
