"""Files for the readers, and games in a form that can be compared."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

import pytest

from referee.ratings.games import SINGLE, Games
from referee.results.blocks import BadResults, Blocks
from referee.results.collected import Collected
from referee.results.csv_file import CsvReader
from referee.results.reading import Kind, Results, read_file

Told = list[tuple[str, str, int]]
"""First, second, and half points of the first."""


def read(data: bytes | str, kind: Kind | None = None) -> Results:
    """What a file with this in it holds."""
    collected = Collected()
    raw = data if isinstance(data, bytes) else data.encode()
    read_file(io.BufferedReader(io.BytesIO(raw)), collected, kind)
    return Results(collected.games(), dict(collected.skipped))


def read_csv(data: bytes, *, quick: bool, size: int = 1 << 20) -> Results:
    """One of the two ways to read CSV, in blocks of this size."""
    collected = Collected()
    CsvReader(collected, quick=quick).read(Blocks(io.BytesIO(data), size))
    collected.end_file()
    return Results(collected.games(), dict(collected.skipped))


def told(games: Games) -> Told:
    """The games in their order, the players by name."""
    return [
        (games.players[first], games.players[second], points)
        for first, second, points in zip(
            games.first.tolist(), games.second.tolist(), games.points.tolist(), strict=True
        )
    ]


def pairs(games: Games) -> list[int | None]:
    """Which games are pairs: numbered as they appear, None for a single game."""
    seen: dict[int, int] = {}
    return [
        None if pair == SINGLE else seen.setdefault(pair, len(seen)) for pair in games.pair.tolist()
    ]


def everything(results: Results) -> object:
    games, skipped = results
    return games.players, told(games), pairs(games), skipped


def refused(data: bytes | str, kind: Kind | None = None) -> str:
    """The sentence with which a file is refused."""
    with pytest.raises(BadResults) as bad:
        read(data, kind)
    return str(bad.value)


def lines(rows: Iterable[Sequence[str]], end: str = "\n") -> bytes:
    """Plain CSV, written without a csv module."""
    return "".join(",".join(row) + end for row in rows).encode()
