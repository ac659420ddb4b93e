"""The formats of a tournament, each a pure function of the spec and the results so far.

`pairings` gives all pairings that are determined by now, finished ones included. Nothing but
complete pairings is looked at, and the list only ever grows at its end: it is extended when all of
it is complete, never before. So it does not matter in which order, by how many workers or with how
many interruptions the games were played. The tournament is over when all of it is complete and
nothing is added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from referee.tournament.formats import gauntlet, knockout, round_robin, swiss
from referee.tournament.formats.pairing import (
    Meeting,
    Pairing,
    Round,
    Score,
    Scores,
    Tie,
    is_complete,
)
from referee.tournament.spec import Spec

__all__ = ["Meeting", "Pairing", "Round", "Score", "Tie", "bracket", "is_complete", "pairings"]

Players = Mapping[str, Sequence[str]]
"""Who plays, by variant as the spec calls it, in seed order."""

_PAIRINGS: dict[str, Callable[[Spec, Players, Scores], list[Pairing]]] = {
    "round-robin": round_robin.pairings,
    "gauntlet": gauntlet.pairings,
    "swiss": swiss.pairings,
    "knockout": knockout.pairings,
}
_BRACKETS: dict[str, Callable[[Spec, Players, Scores], list[Round]]] = {
    "swiss": swiss.rounds,
    "knockout": knockout.rounds,
}


def pairings(spec: Spec, players: Players, scores: Scores) -> list[Pairing]:
    """Every pairing that the results so far determine, in the order in which they came up."""
    return _PAIRINGS[spec.format](spec, players, scores)


def games_in_all(spec: Spec, players: Players, known: int) -> int:
    """All games of a tournament that goes on, where those of the pairings so far are known: the
    Swiss rounds to come count, too. How long a knockout takes is decided by results."""
    if spec.format != "swiss":
        return known
    to_come = (swiss.count_pairings(spec, len(names)) for names in players.values())
    return max(known, sum(to_come) * spec.games)


def has_rounds(spec: Spec) -> bool:
    """Whether the format draws rounds from results, so that there is a bracket to tell of."""
    return spec.format in _BRACKETS


def bracket(spec: Spec, players: Players, scores: Scores) -> list[Round]:
    """Who met whom in which round, and who went on why; empty where rounds mean nothing."""
    draw = _BRACKETS.get(spec.format)
    return [] if draw is None else draw(spec, players, scores)
