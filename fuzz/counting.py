"""What a reader of results made of a file, in a form that can be compared, and checked on the way.

What must hold of any file: players are different and in order, every game is between two of them,
and every pair has a number of its own.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import NamedTuple, Protocol

from referee.ratings.games import SINGLE, Games
from referee.results.blocks import BLOCK, Blocks
from referee.results.collected import Collected


class _Reader(Protocol):
    def read(self, blocks: Blocks) -> None: ...


class Counted(NamedTuple):
    """All that a file holds."""

    players: list[str]
    games: list[tuple[str, str, int, int | None]]
    """First, second, half points of the first, and which pair: numbered as they appear."""
    skipped: dict[str, int]


def read_with(reader: Callable[[Collected], _Reader], data: bytes, size: int = BLOCK) -> Counted:
    """A file by one reader, in blocks of this size. Raises BadResults."""
    collected = Collected()
    reader(collected).read(Blocks(io.BytesIO(data), size))
    collected.end_file()
    games = collected.games()
    _check(games)
    seen: dict[int, int] = {}
    return Counted(
        games.players,
        [
            (
                games.players[first],
                games.players[second],
                points,
                None if pair == SINGLE else seen.setdefault(pair, len(seen)),
            )
            for first, second, points, pair in zip(
                games.first.tolist(),
                games.second.tolist(),
                games.points.tolist(),
                games.pair.tolist(),
                strict=True,
            )
        ],
        {why: count for why, count in collected.skipped.items() if count},
    )


def _check(games: Games) -> None:
    assert games.players == sorted(set(games.players))
    assert all(name and name == name.strip() for name in games.players)
    assert not (games.first == games.second).any(), "somebody plays against itself"
    assert set(games.points.tolist()) <= {0, 1, 2}
    assert games.pair.min(initial=SINGLE) == SINGLE
