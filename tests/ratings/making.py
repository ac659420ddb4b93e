"""Games for the tests: written out, or played by players whose strength is known."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from referee.ratings.games import SINGLE, Games
from referee.ratings.rating import PlayerRating, Ratings

Row = tuple[str, str, int, int]
"""Seat 0, seat 1, half points of seat 0, pair."""


def from_rows(rows: Iterable[Row], players: Sequence[str] | None = None) -> Games:
    rows = list(rows)
    names = list(players or dict.fromkeys(name for row in rows for name in row[:2]))
    index = {name: number for number, name in enumerate(names)}
    return Games(
        players=names,
        first=np.array([index[row[0]] for row in rows], np.int32),
        second=np.array([index[row[1]] for row in rows], np.int32),
        points=np.array([row[2] for row in rows], np.int8),
        pair=np.array([row[3] for row in rows], np.int64),
    )


def rows_of(games: Games) -> list[Row]:
    return [
        (games.players[first], games.players[second], points, pair)
        for first, second, points, pair in zip(
            *(column.tolist() for column in games[1:]), strict=True
        )
    ]


def written(text: str, players: Sequence[str] | None = None) -> Games:
    """`"a-b W, b-c DD"`: the first in seat 0, one letter a single game."""
    rows: list[Row] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        names, results = part.split()
        first, second = names.split("-")
        rows += [(first, second, "LDW".index(result), SINGLE) for result in results]
    return from_rows(rows, players)


def simulated(
    elo: Sequence[float],
    pairs: int,
    luck: random.Random,
    *,
    draws: float = 0.2,
    advantage: float = 0.0,
    shared: float = 0.0,
) -> Games:
    """A round-robin of pairs of games.

    In a share of the pairs both games go by the same luck of seat 0, so that what one player gains
    by it in the one game it loses in the other; each game on its own keeps its expected score.
    """
    rows: list[Row] = []
    for low, high in combinations(range(len(elo)), 2):
        for pair in range(pairs):
            same = luck.random() if luck.random() < shared else None
            for first, second in ((low, high), (high, low)):
                mean = 1 / (1 + 10 ** ((elo[second] - elo[first] - advantage) / 400))
                draw = draws * 2 * min(mean, 1 - mean)
                fate = luck.random() if same is None else same
                points = 2 if fate < mean - draw / 2 else 1 if fate < mean + draw / 2 else 0
                rows.append((f"p{first}", f"p{second}", points, pair))
    return from_rows(rows, [f"p{number}" for number in range(len(elo))])


def by_name(ratings: Ratings) -> dict[str, PlayerRating]:
    return {player.name: player for player in ratings.players}


def elo_of(ratings: Ratings) -> dict[str, float]:
    return {player.name: player.elo for player in ratings.players if player.elo is not None}


def numbers_in(value: object) -> Iterable[float]:
    """Every number in what msgspec.to_builtins made."""
    if isinstance(value, dict):
        for part in value.values():
            yield from numbers_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from numbers_in(part)
    elif isinstance(value, float | int):
        yield float(value)


def slow_reference(
    rows: Iterable[Row],
    *,
    anchors: dict[str, float] | None = None,
    advantage: bool = False,
    prior: bool = False,
) -> tuple[dict[str, float], float]:
    """The most likely Elo, one unknown at a time until nothing moves: slow, and no linear algebra.

    With a prior, `*` is the average opponent; without anchors the mean of the others is 0.
    """
    games: dict[tuple[str, str], list[float]] = {}
    for first, second, points, _ in rows:
        seen = games.setdefault((first, second), [0.0, 0.0])
        seen[0] += 1
        seen[1] += points / 2
    names = sorted({name for pair in games for name in pair})
    if prior:
        # Half a draw in each seat.
        games |= {(name, "*"): [0.5, 0.25] for name in names}
        games |= {("*", name): [0.5, 0.25] for name in names}
    nats = 400 / math.log(10)
    theta = {name: (anchors or {}).get(name, 0.0) / nats for name in [*names, "*"]}
    seat = 0.0

    def newton(unknown: str | None) -> float:
        slope = curve = 0.0
        for (one, other), (number, points) in games.items():
            sign = 1 if unknown is None else (one == unknown) - (other == unknown)
            if sign:
                p = 1 / (1 + math.exp(theta[other] - theta[one] - seat))
                slope += sign * (points - number * p)
                curve += number * p * (1 - p)
        return max(-1.0, min(1.0, slope / curve)) if curve else 0.0

    free = [name for name in [*names, *"*" * prior] if name not in (anchors or {})]
    for _ in range(20_000):
        moved = 0.0
        for name in free:
            step = newton(name)
            theta[name] += step
            moved = max(moved, abs(step))
        if advantage:
            step = newton(None)
            seat += step
            moved = max(moved, abs(step))
        if moved < 1e-13:
            break
    mean = 0.0 if anchors else sum(theta[name] for name in names) / len(names)
    return {name: (theta[name] - mean) * nats for name in names}, seat * nats
