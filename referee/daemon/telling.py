"""What live events tell: how games ended, and what is counted."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from referee.daemon.orders import Counters
from referee.store.rows import GameRow


class _End(Struct):
    """What of a record is told of the end of its game."""

    variant: str
    players: list[str]
    winner: int | None
    scores: list[Any]


_decoder = msgspec.msgpack.Decoder(_End)


def ended(label: str, game: GameRow) -> dict[str, Any]:
    """The fields of the event of a game that is over."""
    end = _decoder.decode(game.record)
    return {
        "game": f"{label}/{game.pairing}-{game.number}",
        "variant": end.variant,
        "players": end.players,
        "winner": end.winner,
        "ending": game.ending,
        "scores": end.scores,
    }


Count = float | dict[str, int]
"""A number, or numbers by why."""


def hall_counts(counters: Counters) -> dict[str, Count]:
    return {
        "connected": counters.connected,
        "away": counters.away,
        "open_games": counters.open_games,
        "answers": counters.answers,
        "refused": counters.refused,
        "dropped": counters.dropped,
    }
