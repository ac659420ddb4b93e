"""Which games are played, in which order, with which luck: decided before the first of them.

A pairing is played in pairs of games: the same chance, the seats swapped. (Where bots of strangers
could profit from the first game in the second, they have the swapped seats in common and nothing
else.) The chance of a pair comes from the seed, the variant, the pairing and the pair's number, so
any single game can be played again. The bots' own seeds come from another branch of the same tree:
they tell nothing of it, but whoever guesses the seed can check the guess by them. So tournaments
have a secret salt in their root (tournament/salt.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

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
    block: int
    """Bots that keep something from game to game are started anew between blocks."""
    chance_seed: str
    bot_seeds: tuple[int, int]
    """In seat order."""
    attempt: int = 1
    own_chance: bool = False
    """Whether no other game has its chance, not even this game when it is played again."""
    replayed_anew: bool = False
    """Whether both bots are started anew before this game is played again."""

    def again(self) -> GameOrder:
        """The same game for the next attempt."""
        attempt = self.attempt + 1
        seed = f"{self.chance_seed}/attempt {attempt}" if self.own_chance else self.chance_seed
        return replace(self, attempt=attempt, chance_seed=seed)


def pairing_games(
    seed: str,
    variant: str,
    first: str,
    second: str,
    games: int,
    *,
    hidden_chance: bool,
    strangers: bool = True,
) -> list[GameOrder]:
    """The games of one pairing in the order in which they are played."""
    branch = f"{seed}/{variant}/{first}/{second}"
    numbers = range(1, games + 1)
    return game_orders(branch, numbers, hidden_chance=hidden_chance, strangers=strangers)


def game_orders(
    branch: str,
    numbers: Iterable[int],
    *,
    hidden_chance: bool,
    strangers: bool = True,
    prefix: str = "",
    block: int = 0,
    each_anew: bool = False,
) -> list[GameOrder]:
    """These games of a pairing, by their numbers from 1, in the order in which they are played.

    `block` is the number of games that a process plays which keeps something from game to game: 0
    is all of them. `each_anew` starts both bots anew for every game.

    The branch is the pairing's own in the tree of luck. Where chance is hidden, a bot that knows
    the first game of a pair would know the other hand in the second one. Bots of strangers pass
    on what they know: one that connects from elsewhere lives on, and one that is started anew can
    leave word for itself in the caches of the machine. So each of their games has chance of its
    own and counts alone; seats are swapped all the same. Sample bots pass on nothing: all first
    games are one leg, all second games another.
    """
    own_chance = hidden_chance and strangers
    shared_secret = hidden_chance and not strangers
    orders = [
        GameOrder(
            game=f"{prefix}{number}",
            pair=number if own_chance else (number + 1) // 2,
            swapped=number % 2 == 0,
            leg=number if each_anew else (number + 1) % 2 if shared_secret else 0,
            block=(number - 1) // block if block else 0,
            chance_seed=f"{branch}/game {number}"
            if own_chance
            else f"{branch}/{(number + 1) // 2}",
            bot_seeds=_bot_seeds(branch, number),
            own_chance=own_chance,
            replayed_anew=each_anew or shared_secret,
        )
        for number in numbers
    ]
    return sorted(orders, key=lambda order: (order.block, order.leg))


def _bot_seeds(branch: str, number: int) -> tuple[int, int]:
    digest = hashlib.blake2b(f"{branch}#{number}".encode(), digest_size=16, person=b"bots").digest()
    # 53 bits: every language can hold them, those whose only number is a double too.
    return int.from_bytes(digest[:8], "big") >> 11, int.from_bytes(digest[8:], "big") >> 11
