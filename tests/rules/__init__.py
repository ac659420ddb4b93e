"""Tests of the rules, and the two words that they share."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from referee.rules.chance import Chance, Recorded
from referee.rules.variant import Variant

P = TypeVar("P")
M = TypeVar("M", int, str)


def play(variant: Variant[P, M], position: P, *moves: object, chance: Chance | None = None) -> P:
    """The position after these moves: one for whose turn it is, or a pair where both play."""
    luck = Recorded([]) if chance is None else chance
    for move in moves:
        seats = variant.actors(position)
        given = move if isinstance(move, tuple) else (move,)
        plays = tuple(
            (seat, variant.read_move(position, seat, raw))
            for seat, raw in zip(seats, given, strict=True)
        )
        position = variant.apply(position, plays, luck)
    return position


def wire(value: object) -> Any:
    """What a bot reads once the value has gone through JSON."""
    return msgspec.json.decode(msgspec.json.encode(value))
