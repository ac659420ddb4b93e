"""Games that are told move by move, on their way from whoever plays them to the coordinator.

How a game ended, its record tells.
"""

from __future__ import annotations

from msgspec import Struct

from referee.arena.happenings import Began, Moved


class LiveBegan(Struct, frozen=True, kw_only=True, tag="live began"):
    chunk: int
    game: str
    variant: str
    players: tuple[str, str]
    """In seat order."""
    lines: list[str]


class LiveMoved(Struct, frozen=True, kw_only=True, tag="live moved"):
    chunk: int
    game: str
    move_number: int
    """How many moves there are now."""
    lines: list[str]
    """What happened, as far as both seats know it."""


LiveReport = LiveBegan | LiveMoved


def live_report(happening: Began | Moved) -> LiveReport:
    match happening:
        case Began(chunk, game, variant, players, lines):
            return LiveBegan(chunk=chunk, game=game, variant=variant, players=players, lines=lines)
        case Moved(chunk, game, number, lines):
            return LiveMoved(chunk=chunk, game=game, move_number=number, lines=lines)
