"""Chance as recorded choices.

A variant never owns a random generator. Where the rules call for luck it asks the
`Chance` that it is handed, and every outcome is kept in the order in which it was used.
So a game replays from its record alone: `Recorded` hands the same outcomes out again, and
refuses a record whose outcomes do not fit the questions.

`Seeded` draws from SHAKE-256 of the seed. That stream is the same on every machine, in every
Python version and in every other language, which `random.Random` does not promise for shuffles.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

Outcome = int | list[int]
"""What one question to chance gave: a number, or the order of the shuffled items."""


class BadChance(Exception):
    """Recorded outcomes that do not answer the questions the rules ask."""


class Chance(Protocol):
    """What a variant may ask of luck."""

    outcomes: list[Outcome]

    def pick(self, count: int) -> int:
        """One of 0 … count - 1, each as likely as the others."""

    def shuffle(self, items: Iterable[int]) -> tuple[int, ...]:
        """The items in random order, each order as likely as the others."""


class Seeded:
    """Fresh luck from a seed; remembers what it gave."""

    __slots__ = ("_pool", "_seed", "_taken", "outcomes")

    def __init__(self, seed: str) -> None:
        self.outcomes: list[Outcome] = []
        self._seed = seed
        self._pool = b""
        self._taken = 0

    def pick(self, count: int) -> int:
        outcome = self._below(count)
        self.outcomes.append(outcome)
        return outcome

    def shuffle(self, items: Iterable[int]) -> tuple[int, ...]:
        cards = list(items)
        for last in range(len(cards) - 1, 0, -1):
            other = self._below(last + 1)
            cards[last], cards[other] = cards[other], cards[last]
        self.outcomes.append(cards)
        return tuple(cards)

    def _below(self, count: int) -> int:
        # 32 bits a draw; values past the last whole multiple of `count` would make the low
        # outcomes likelier, so they are drawn again.
        fair = (1 << 32) - (1 << 32) % count
        while True:
            value = int.from_bytes(self._take(4), "big")
            if value < fair:
                return value % count

    def _take(self, size: int) -> bytes:
        if self._taken + size > len(self._pool):
            # SHAKE is an extendable-output function: a longer digest starts with the shorter one.
            longer = max(64, 2 * len(self._pool))
            self._pool = hashlib.shake_256(self._seed.encode()).digest(longer)
        taken = self._pool[self._taken : self._taken + size]
        self._taken += size
        return taken


class Recorded:
    """The luck of a finished game, handed out once more."""

    __slots__ = ("_used", "outcomes")

    def __init__(self, outcomes: Sequence[object]) -> None:
        self.outcomes: list[Outcome] = list(outcomes)  # type: ignore[arg-type]  # checked at use
        self._used = 0

    def pick(self, count: int) -> int:
        outcome = self._next()
        if type(outcome) is not int or not 0 <= outcome < count:
            raise BadChance(f"chance[{self._used - 1}] is {outcome!r}, not one of 0 to {count - 1}")
        return outcome

    def shuffle(self, items: Iterable[int]) -> tuple[int, ...]:
        outcome = self._next()
        expected = Counter(items)
        if (
            type(outcome) is not list
            or any(type(card) is not int for card in outcome)
            or Counter(outcome) != expected
        ):
            raise BadChance(
                f"chance[{self._used - 1}] is not an order of the {expected.total()} cards"
            )
        return tuple(outcome)

    def finish(self) -> None:
        """Say so where the record holds more luck than the game used."""
        if self._used < len(self.outcomes):
            raise BadChance(
                f"chance holds {len(self.outcomes)} outcomes, the game used {self._used}"
            )

    def _next(self) -> object:
        if self._used == len(self.outcomes):
            raise BadChance(f"the game needs more than the {self._used} outcomes in chance")
        self._used += 1
        return self.outcomes[self._used - 1]
