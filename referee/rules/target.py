"""Target: add to your score or multiply it, and be the first to hit the target exactly.

Each player starts with a score of zero and holds the numbers 1 to 9, each for one use. Who begins
is drawn by lot. In turn, a player chooses a number that is left and

- adds it to the own score (the move "+5"),
- or multiplies the own score by it (the move "*5"; zero stays zero).

The number is then gone. Who lands on the target, 50 unless agreed otherwise, wins at once. Who
lands beyond it falls back to half the target.

Rulings
- The lot is fair. (Option first: with `seat0` there is none and seat 0 begins.)
- Half of an odd target is rounded down, and multiplying beyond the target falls back too.
- A player who holds a number has to play one, even where every play goes beyond the target. One
  without numbers is skipped. (Both hold as many and play in turn, so it never comes to that.)
- Nobody holds a number any more: the higher score wins, level scores are a draw.

Best play
No play ever touches the other's score or numbers, so the game is a race that the other cannot
hinder. Its rules favour the player who begins: with the target 50 and the numbers 1 to 9, three
plays are enough, for example +6, *8, +2, and two are not, so the player who begins wins with the
fifth play of the game. The second player can only be as quick and hope for a slip. Twenty ways
lead to 50 in three plays; eight of them add up to ten and then play *5, and eight go beyond 50
on purpose, to 25, and then play *2.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from referee.rules.chance import Chance
from referee.rules.numbers import Numbers, up_to, without
from referee.rules.options import Option
from referee.rules.variant import Names, Outcome, Plays, Seat, Variant

_ALONE: tuple[tuple[Seat, ...], ...] = ((0,), (1,))
_TYPED = re.compile(
    r"(?:play\b)?\s*(?:([+*x×])\s*(\d{1,9})|(\d{1,9})\s*([+*x×]))\s*", re.IGNORECASE
)


class Position(Struct, frozen=True):
    left: tuple[Numbers, Numbers]
    score: tuple[int, int]
    mover: Seat
    """Who plays next, if the game goes on."""
    played: int
    """Plays so far, both seats counted."""


class Target(Variant[Position, str]):
    name = "target"
    summary = "1–9 once each, in turn: add or multiply; exactly 50 wins, beyond it falls to 25"
    options = (
        Option(name="target", default=50, low=1, high=1_000_000, help="the score that wins"),
        Option(name="size", default=9, low=2, high=100, help="each player holds 1 to this number"),
        Option(name="first", default="random", choices=("random", "seat0"), help="who begins"),
    )
    reasons = {
        "target": "the winner reached the target",
        "higher_score": "the numbers ran out and the winner had the higher score",
        "level_score": "the numbers ran out with level scores: a draw",
    }
    scores_mean = "score"
    move_type = str
    move_help = 'a string of + or * and a number, for example "+5" or "*5"'

    def __init__(self, **given: object) -> None:
        super().__init__(**given)
        self._target = self.number("target")
        numbers = range(self.number("size") + 1)
        self._plus = tuple(f"+{number}" for number in numbers)
        self._times = tuple(f"*{number}" for number in numbers)

    def setup(self, chance: Chance) -> Position:
        numbers = up_to(self.number("size"))
        mover = chance.pick(2) if self.settings["first"] == "random" else 0
        return Position((numbers, numbers), (0, 0), mover, 0)

    def actors(self, position: Position) -> tuple[Seat, ...]:
        mover = position.mover
        if not position.left[mover] or self._target in position.score:
            return ()
        return _ALONE[mover]

    def legal(self, position: Position, seat: Seat) -> list[str]:
        left, plus, times = position.left[seat], self._plus, self._times
        return [plus[number] for number in left] + [times[number] for number in left]

    def apply(self, position: Position, plays: Plays[str], chance: Chance) -> Position:
        ((seat, move),) = plays
        left, score = position.left, position.score
        number = int(move[1:])
        reached = self._reach(score[seat], move)
        if reached > self._target:
            reached = self._target // 2
        rest = without(left[seat], number)
        if seat:
            left, score = (left[0], rest), (score[0], reached)
        else:
            left, score = (rest, left[1]), (reached, score[1])
        other = 1 - seat
        return Position(left, score, other if left[other] else seat, position.played + 1)

    def _reach(self, score: int, move: str) -> int:
        """The score after a move, before a fall."""
        number = int(move[1:])
        return score + number if move[0] == "+" else score * number

    def view(self, position: Position, seat: Seat) -> dict[str, Any]:
        other = 1 - seat
        return {
            "target": self._target,
            "turn": position.played + 1,
            "mine": {"numbers": position.left[seat], "score": position.score[seat]},
            "theirs": {"numbers": position.left[other], "score": position.score[other]},
        }

    def events(
        self, before: Position, plays: Plays[str], after: Position, seat: Seat
    ) -> list[dict[str, Any]]:
        ((mover, move),) = plays
        return [
            {
                "by": "mine" if mover == seat else "theirs",
                "move": move,
                "score": after.score[mover],
                "overshot": self._reach(before.score[mover], move) > self._target,
            }
        ]

    def outcome(self, position: Position) -> Outcome | None:
        first, second = position.score
        if first == self._target:
            return Outcome(0, "target")
        if second == self._target:
            return Outcome(1, "target")
        if position.left[position.mover]:
            return None
        if first == second:
            return Outcome(None, "level_score")
        return Outcome(0 if first > second else 1, "higher_score")

    def scores(self, position: Position) -> tuple[int, int]:
        return position.score

    def longest(self) -> int:
        return 2 * self.number("size")

    # Text for people.

    def opening(self, position: Position, names: Names) -> list[str]:
        return [
            f"Target Score: {self._target}",
            f"{names[0]} and {names[1]} hold 1 to {self.number('size')} each. "
            f"{names[position.mover]} begins.",
        ]

    def narrate(
        self,
        before: Position,
        plays: Plays[str],
        after: Position,
        names: Names,
        reader: Seat | None = None,
    ) -> list[str]:
        ((seat, move),) = plays
        score, name = before.score[seat], names[seat]
        reached = self._reach(score, move)
        lines = [
            f"{name}'s Turn. Current Score: {score}",
            f"  {name} plays {move}: {score} {move[0].replace('*', '×')} {move[1:]} = {reached}",
        ]
        if reached > self._target:
            lines.append(f"  Overshot! {reached} is over {self._target}: back to half the target.")
        lines.append(f"  {name}'s new score is {after.score[seat]}")
        if after.mover == seat and self.actors(after):
            lines.append(f"  {names[1 - seat]} has no numbers left and is skipped.")
        return lines

    def conclusion(self, position: Position, names: Names) -> list[str]:
        outcome = self.outcome(position)
        if outcome is None:
            return []
        if outcome.reason == "target":
            assert outcome.winner is not None
            return [f"{names[outcome.winner]} has reached {self._target} and wins the game!"]
        first, second = position.score
        if outcome.winner is None:
            return [f"The numbers have run out: the game is a draw at {first} to {second}."]
        own, other = position.score[outcome.winner], position.score[1 - outcome.winner]
        return [
            f"The numbers have run out: {names[outcome.winner]} is closer to the target "
            f"and wins the game, {own} to {other}!"
        ]

    def prompt(self, position: Position, seat: Seat, names: Names) -> list[str]:
        other = 1 - seat
        return [
            f"Target Score: {self._target}. {names[other]}'s Score: {position.score[other]}. "
            f"{names[other]}'s Numbers: {_joined(position.left[other])}",
            f"{names[seat]}'s Turn. Current Score: {position.score[seat]}",
            f"Available Numbers: {_joined(position.left[seat])}",
            f"Choose an operation (+ or *) and a number, for example +{position.left[seat][0]}: ",
        ]

    def typed_move(self, typed: str) -> object:
        """`+5`, `5 +`, `* 5`, `x5` and `×5` are moves; anything else goes on as it is."""
        found = _TYPED.fullmatch(typed.strip())
        if found is None:
            return typed.strip()
        sign, number = found[1] or found[4], found[2] or found[3]
        return f"{'+' if sign == '+' else '*'}{int(number)}"


def _joined(numbers: Numbers) -> str:
    return ",".join(map(str, numbers)) or "none"
