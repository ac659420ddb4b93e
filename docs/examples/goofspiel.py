"""Goofspiel: bid for prizes with cards that you can play only once.

Each player holds the bids 1 to 13. The prizes 1 to 13 are shuffled and turned up one at a time.
For each prize both choose a bid in secret and show them together. The higher bid wins the prize,
and both bids are gone. Equal bids win nothing and the prize is discarded. (Option carry: with
`yes` it is added to the next prize.) When the bids are gone, more points win the game.
"""

from msgspec import Struct

from referee.rules.numbers import up_to, without
from referee.rules.options import Option
from referee.rules.variant import Outcome, Variant


class Position(Struct, frozen=True):
    prizes: tuple[int, ...]  # all of them, in the order in which they turn up
    bids: tuple[tuple[int, ...], tuple[int, ...]]  # what each seat still holds
    points: tuple[int, int]
    turn: int = 0  # prizes that are gone
    carried: int = 0  # what equal bids have left in the pot


class Goofspiel(Variant[Position, int]):
    name = "goofspiel"
    summary = "bid 1–13 once each, both at once, for prizes 1–13 in random order; more points win"
    options = (
        Option(name="size", default=13, low=1, high=100, help="bids and prizes are 1 to this"),
        Option(name="carry", default="no", choices=("no", "yes"), help="a tie adds to the next"),
    )
    reasons = {"bids_gone": "no bids are left: more points win, level points are a draw"}
    hidden_chance = True  # nobody knows the prizes to come

    def setup(self, chance):
        numbers = up_to(self.number("size"))
        return Position(chance.shuffle(numbers), (numbers, numbers), (0, 0))

    def actors(self, position):
        return (0, 1) if position.bids[0] else ()

    def legal(self, position, seat):
        return position.bids[seat]

    def apply(self, position, plays, chance):
        (_, first), (_, second) = plays
        pot, points, carried = self.pot(position), list(position.points), 0
        if first != second:
            points[0 if first > second else 1] += pot
        elif self.settings["carry"] == "yes":
            carried = pot
        bids = (without(position.bids[0], first), without(position.bids[1], second))
        return Position(position.prizes, bids, tuple(points), position.turn + 1, carried)

    def pot(self, position):
        return position.carried + sum(position.prizes[position.turn : position.turn + 1])

    def view(self, position, seat):
        bids, points = position.bids, position.points
        return {
            "prize": self.pot(position),
            "gone": position.prizes[: position.turn],  # and never what comes after this prize
            "mine": {"bids": bids[seat], "points": points[seat]},
            "theirs": {"bids": bids[1 - seat], "points": points[1 - seat]},
        }

    def events(self, before, plays, after, seat):
        return [{"prize": self.pot(before), "mine": plays[seat][1], "theirs": plays[1 - seat][1]}]

    def outcome(self, position):
        if position.bids[0]:
            return None
        first, second = position.points
        return Outcome(None if first == second else int(second > first), "bids_gone")

    def scores(self, position):
        return position.points

    def longest(self):
        return 2 * self.number("size")
