"""Which games are played, in which order, with which luck: decided before the first of them.

A pairing is played in pairs of games: the same chance, the seats swapped. The chance of a pair
comes from the seed, the variant, the pairing and the pair's number, so any single game can be
played again. The bots' own seeds come from another branch of the same tree: they tell nothing of
it, but whoever guesses the seed can check the guess by them. So tournaments have a secret salt in
their root (tournament/salt.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from msgspec import Struct

ATTEMPTS = 3
"""A game that a stall or a bug of the referee spoilt is played at most this often."""


class GameOrder(Struct, frozen=True):
    """One game to be played."""

    game: str
    pair: int
    swapped: bool
    """Whether the second bot of the pairing has seat 0."""
    leg: int
    """Both bots are started anew between legs."""
    chance_seed: str
    bot_seeds: tuple[int, int]
    """In seat order."""
    attempt: int = 1

    def again(self) -> GameOrder:
        return GameOrder(
            self.game,
            self.pair,
            self.swapped,
            self.leg,
            self.chance_seed,
            self.bot_seeds,
            self.attempt + 1,
        )


def pairing_games(
    seed: str, variant: str, first: str, second: str, games: int, *, hidden_chance: bool
) -> list[GameOrder]:
    """The games of one pairing in the order in which they are played."""
    branch = f"{seed}/{variant}/{first}/{second}"
    return game_orders(branch, range(1, games + 1), hidden_chance=hidden_chance)


def game_orders(
    branch: str, numbers: Iterable[int], *, hidden_chance: bool, prefix: str = ""
) -> list[GameOrder]:
    """These games of a pairing, by their numbers from 1, in the order in which they are played.

    The branch is the pairing's own in the tree of luck. Where chance is hidden, a bot that lives
    through both games of a pair would know the other hand: all first games are one leg, all second
    games another.
    """
    orders = [
        GameOrder(
            game=f"{prefix}{number}",
            pair=(number + 1) // 2,
            swapped=number % 2 == 0,
            leg=(number + 1) % 2 if hidden_chance else 0,
            chance_seed=f"{branch}/{(number + 1) // 2}",
            bot_seeds=_bot_seeds(branch, number),
        )
        for number in numbers
    ]
    return sorted(orders, key=lambda order: order.leg)


def fresh_orders(branch: str, numbers: Iterable[int], *, prefix: str = "") -> list[GameOrder]:
    """These games of a pairing, each with chance of its own: for hidden chance and lasting bots.

    Bots that connected from elsewhere cannot be started anew between two legs: the second game of
    a pair would be played by somebody who has seen the other hand. So there are no pairs here, and
    a game counts alone; seats are swapped all the same.
    """
    return [
        GameOrder(
            game=f"{prefix}{number}",
            pair=number,
            swapped=number % 2 == 0,
            leg=0,
            chance_seed=f"{branch}/game {number}",
            bot_seeds=_bot_seeds(branch, number),
        )
        for number in numbers
    ]


def _bot_seeds(branch: str, number: int) -> tuple[int, int]:
    digest = hashlib.blake2b(f"{branch}#{number}".encode(), digest_size=16, person=b"bots").digest()
    # 53 bits: every language can hold them, those whose only number is a double too.
    return int.from_bytes(digest[:8], "big") >> 11, int.from_bytes(digest[8:], "big") >> 11
