"""Gauntlet: the challengers meet all others but team mates, and nobody else meets.

In rounds, so that a table in progress is fair: in each round every challenger meets another one of
the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from referee.tournament.formats.pairing import Pairing, Scores, may_meet
from referee.tournament.spec import Spec


def pairings(spec: Spec, players: Mapping[str, Sequence[str]], _: Scores) -> list[Pairing]:
    """All of them; no result is waited for."""
    challenging, different = challengers(spec, players), may_meet(spec)
    most = max((len(names) for names in players.values()), default=0)
    found: list[Pairing] = []
    for number in range(most):
        for variant, names in players.items():
            ours = [name for name in names if name in challenging]
            others = [name for name in names if name not in challenging]
            if number >= len(others):
                continue
            found += [
                Pairing(1, variant, name, other, spec.games)
                for at, name in enumerate(ours)
                if different(name, other := others[(number + at) % len(others)])
            ]
    return found


def challengers(spec: Spec, players: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Those of the spec, or else the first of all players."""
    first = next((names[0] for names in players.values() if names), None)
    return frozenset(spec.challengers or ([] if first is None else [first]))
