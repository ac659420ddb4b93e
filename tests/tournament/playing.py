"""Tournaments on paper: players, results by a rule, and all pairings to the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from referee.tournament.formats import Pairing, Score, pairings
from referee.tournament.spec import Spec

SALT = "5a" * 16
"""For tournaments that are dealt the same games."""
Result = Callable[[Pairing], float]
"""The points of the first player in a pairing."""


def players(count: int, variants: Sequence[str] = ("underdog",)) -> dict[str, list[str]]:
    return {variant: [f"p{number}" for number in range(1, count + 1)] for variant in variants}


def scored(pairing: Pairing, points: float) -> Score:
    return Score(pairing.games, points, pairing.games - points)


def stronger_wins(pairing: Pairing) -> float:
    """`p1` beats `p2` beats `p3` …"""
    return float(pairing.games if seed(pairing.first) < seed(pairing.second) else 0)


def drawn(pairing: Pairing) -> float:
    return pairing.games / 2


def seed(name: str) -> int:
    return int(name[1:])


def play(
    spec: Spec, entered: Mapping[str, Sequence[str]], result: Result
) -> tuple[list[Pairing], dict[Pairing, Score]]:
    """All pairings of a whole tournament, and their scores."""
    scores: dict[Pairing, Score] = {}
    for _ in range(10_000):
        known = pairings(spec, entered, scores)
        new = [pairing for pairing in known if pairing not in scores]
        if not new:
            return known, scores
        scores |= {pairing: scored(pairing, result(pairing)) for pairing in new}
    raise AssertionError("the tournament has no end")


def by_round(known: Sequence[Pairing]) -> dict[int, list[Pairing]]:
    rounds: dict[int, list[Pairing]] = {}
    for pairing in known:
        rounds.setdefault(pairing.round, []).append(pairing)
    return rounds
