"""Duel: attack with one number, block with another; what gets through costs life.

Each player has 20 life points and holds the numbers 1 to 10, each for two uses, in attack or in
defence alike. Who attacks first is drawn by lot. A round goes like this:

- the attacker plays a number, which the defender sees,
- the defender answers with a number that is as high or higher, and nothing happens,
- or with a lower one, and loses the difference in life points.

Then the roles swap. A player whose life points fall to zero or below loses the game.

Rulings
- The lot is fair. (Option first: with `seat0` there is none and seat 0 attacks first.)
- Both players use one number a round, so both run out together, after round 20. Then more life
  points win, and level ones are a draw. (Option exhausted: with `draw` such a game is always a
  draw; life must then be within reach of the attacks.)
- Life points below zero are recorded as they are.

Best play
Nothing is hidden once the lot is drawn, so every position has a best move and nobody need mix. A
player who always attacks with the lowest number left, and blocks with the lowest number that
blocks, never loses a life point: number by number, such a hand stays at least as high as the
other's, so it can block whatever comes. Either player can do that, so best play on both sides is a
draw, and wins are made of the other's mistakes. A higher number is never worse to keep than a
lower one, so among the numbers that block the lowest is always best. An attack costs at most 9
life points: two never kill, and no game is over before its fifth round.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from referee.rules.chance import Chance
from referee.rules.numbers import Numbers, amount, without
from referee.rules.options import Option
from referee.rules.variant import Names, Outcome, Plays, Seat, Variant

_ALONE: tuple[tuple[Seat, ...], ...] = ((0,), (1,))


class Position(Struct, frozen=True):
    left: tuple[Numbers, Numbers]
    """The numbers of each seat, listed once for each use left."""
    life: tuple[int, int]
    attacker: Seat
    attack: int | None
    """The attack that waits for its answer."""
    played: int
    """Rounds that are over."""


class Duel(Variant[Position, int]):
    name = "duel"
    summary = "20 life, 1–10 twice each: attack, then defend in sight of it; the difference hurts"
    options = (
        Option(name="size", default=10, low=2, high=100, help="each player holds 1 to this number"),
        Option(name="uses", default=2, low=1, high=10, help="times that each number can be used"),
        Option(name="life", default=20, low=1, high=10_000, help="life points at the start"),
        Option(
            name="first", default="random", choices=("random", "seat0"), help="who attacks first"
        ),
        Option(
            name="exhausted",
            default="life",
            choices=("life", "draw"),
            help="numbers run out: more life points win, or a draw",
        ),
    )
    reasons = {
        "life": "the loser's life points fell to zero or below",
        "more_life": "the numbers ran out and the winner had more life points",
        "level_life": "the numbers ran out with level life points: a draw",
        "exhausted": "the numbers ran out, which the option exhausted makes a draw",
    }
    scores_mean = "life points"

    def settle(self) -> None:
        if self.settings["exhausted"] == "draw":
            numbers = self._numbers()
            attacks = (len(numbers) + 1) // 2
            most = sum(numbers[-attacks:]) - sum(numbers[:attacks])
            if self.number("life") > most:
                raise self.bad_option(
                    "life", f"at most {most} where exhausted is draw: no player can deal more"
                )

    def _numbers(self) -> Numbers:
        uses = self.number("uses")
        return tuple(number for number in range(1, self.number("size") + 1) for _ in range(uses))

    def setup(self, chance: Chance) -> Position:
        numbers, life = self._numbers(), self.number("life")
        attacker = chance.pick(2) if self.settings["first"] == "random" else 0
        return Position((numbers, numbers), (life, life), attacker, None, 0)

    def actors(self, position: Position) -> tuple[Seat, ...]:
        if position.attack is not None:
            return _ALONE[1 - position.attacker]
        first, second = position.life
        if first <= 0 or second <= 0 or not position.left[0]:
            return ()
        return _ALONE[position.attacker]

    def legal(self, position: Position, seat: Seat) -> Numbers:
        return tuple(dict.fromkeys(position.left[seat]))

    def apply(self, position: Position, plays: Plays[int], chance: Chance) -> Position:
        ((seat, number),) = plays
        left, life, attack = position.left, position.life, position.attack
        rest = without(left[seat], number)
        left = (left[0], rest) if seat else (rest, left[1])
        if attack is None:
            return Position(left, life, seat, number, position.played)
        if attack > number:
            damage = attack - number
            life = (life[0], life[1] - damage) if seat else (life[0] - damage, life[1])
        return Position(left, life, seat, None, position.played + 1)

    def view(self, position: Position, seat: Seat) -> dict[str, Any]:
        other = 1 - seat
        return {
            "round": position.played + 1,
            "role": "attack" if seat == position.attacker else "defend",
            "attack": position.attack,
            "mine": {"numbers": position.left[seat], "life": position.life[seat]},
            "theirs": {"numbers": position.left[other], "life": position.life[other]},
        }

    def events(
        self, before: Position, plays: Plays[int], after: Position, seat: Seat
    ) -> list[dict[str, Any]]:
        number, attack = plays[0][1], before.attack
        if attack is None:
            if seat == before.attacker:
                return []
            return [{"round": before.played + 1, "role": "defend", "attack": number}]
        attacking = seat == before.attacker
        return [
            {
                "round": after.played,
                "role": "attack" if attacking else "defend",
                "mine": attack if attacking else number,
                "theirs": number if attacking else attack,
                "damage": attack - number if attack > number else 0,
            }
        ]

    def outcome(self, position: Position) -> Outcome | None:
        first, second = position.life
        if first <= 0:
            return Outcome(1, "life")
        if second <= 0:
            return Outcome(0, "life")
        if position.attack is not None or position.left[0]:
            return None
        if self.settings["exhausted"] == "draw":
            return Outcome(None, "exhausted")
        if first == second:
            return Outcome(None, "level_life")
        return Outcome(0 if first > second else 1, "more_life")

    def scores(self, position: Position) -> tuple[int, int]:
        return position.life

    def longest(self) -> int:
        return 2 * self.number("size") * self.number("uses")

    # Text for people.

    def opening(self, position: Position, names: Names) -> list[str]:
        return [
            f"{names[0]} and {names[1]} have {amount(self.number('life'), 'life point')} each "
            f"and hold 1 to {self.number('size')}, {amount(self.number('uses'), 'use')} of each.",
            f"{names[position.attacker]} attacks first.",
        ]

    def narrate(
        self,
        before: Position,
        plays: Plays[int],
        after: Position,
        names: Names,
        reader: Seat | None = None,
    ) -> list[str]:
        ((seat, number),) = plays
        if before.attack is None:
            return [f"Round {before.played + 1}", f"  {names[seat]} attacks with {number}."]
        damage = before.attack - number
        if damage > 0:
            result = f"Attack Successful! {names[seat]} takes {damage} damage."
        else:
            result = "Attack Blocked! No damage dealt."
        lines = [
            f"  {names[seat]} defends with {number}.",
            f"  {result}",
            f"  Life points: {names[0]} {after.life[0]}, {names[1]} {after.life[1]}",
        ]
        if self.actors(after):
            lines.append(f"  Roles have switched. It's now {names[seat]}'s turn to attack.")
        return lines

    def conclusion(self, position: Position, names: Names) -> list[str]:
        outcome = self.outcome(position)
        if outcome is None:
            return []
        if outcome.winner is None:
            first, second = position.life
            return [f"The numbers have run out: the game is a draw at {first} to {second}."]
        winner, loser = names[outcome.winner], names[1 - outcome.winner]
        own, other = position.life[outcome.winner], position.life[1 - outcome.winner]
        if outcome.reason == "life":
            return [f"{loser} is at {amount(other, 'life point')}: {winner} wins the game!"]
        return [f"The numbers have run out: {winner} wins with more life points, {own} to {other}!"]

    def prompt(self, position: Position, seat: Seat, names: Names) -> list[str]:
        other, life = 1 - seat, position.life
        if position.attack is None:
            ask = f"{names[seat]}, choose your attack number"
        else:
            attack = f"{names[other]} attacked with {position.attack}"
            ask = f"{names[seat]}, {attack}. Choose your defense number"
        return [
            f"Round {position.played + 1}. Life points: {names[seat]} {life[seat]}, "
            f"{names[other]} {life[other]}.",
            f"{names[other]} holds {_uses(position.left[other])}.",
            f"{ask} (available numbers and remaining uses: {_uses(position.left[seat])}): ",
        ]


def _uses(left: Numbers) -> str:
    """`1×2, 2×1`: two uses of 1 are left and one of 2."""
    return ", ".join(f"{number}×{left.count(number)}" for number in dict.fromkeys(left)) or "none"
