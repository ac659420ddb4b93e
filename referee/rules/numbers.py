"""Sets of numbers as sorted tuples: what the number games are played with."""

from __future__ import annotations

from functools import lru_cache

Numbers = tuple[int, ...]


def up_to(size: int) -> Numbers:
    return tuple(range(1, size + 1))


@lru_cache(maxsize=1 << 16)
def without(numbers: Numbers, number: int) -> Numbers:
    """The numbers less one copy of `number`. The sets of a small game come again and again."""
    at = numbers.index(number)
    return numbers[:at] + numbers[at + 1 :]


def listed(numbers: Numbers) -> str:
    return "[" + ", ".join(map(str, numbers)) + "]"


def amount(count: int, thing: str, things: str = "") -> str:
    """`1 point`, `2 points`; `things` is the plural where it is another."""
    return f"{count} {thing}" if count == 1 else f"{count} {things or f'{thing}s'}"
