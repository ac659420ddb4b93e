"""Knockout: whoever loses a tie is out, until one is left.

The bracket is the usual one: seeds 1 and 2 can only meet in the final, 1 to 4 only from the
semi-finals on, and so forth (1–8, 4–5, 2–7, 3–6). Where the players are no power of two, the top
seeds have a bye in the first round.

A tie is a number of meetings (`best_of`), each of them once through all variants, won by whoever
has more points in it. It ends as soon as nobody can catch up. A tie that is drawn goes on with one
more meeting at a time, at most `replays` of them; after that the higher seed goes on.

All that is sure to be needed is played at once, and the next step is taken when it is complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from referee.rules.numbers import amount
from referee.tournament.formats.pairing import (
    Meeting,
    Pairing,
    Round,
    Scores,
    Tie,
    all_complete,
    meeting,
    seeds,
    show_points,
)
from referee.tournament.spec import Spec

NAMES = {2: "final", 4: "semi-finals", 8: "quarter-finals"}
"""Rounds by the places in the bracket that are left."""


def pairings(spec: Spec, players: Mapping[str, Sequence[str]], scores: Scores) -> list[Pairing]:
    """All steps that are complete, and the one after them."""
    return [pairing for _, step in _play(spec, players, scores) for pairing in step]


def rounds(spec: Spec, players: Mapping[str, Sequence[str]], scores: Scores) -> list[Round]:
    """The bracket as far as it is known, for people."""
    found: dict[int, list[_Pair]] = {}
    for ties, _ in _play(spec, players, scores):
        if ties:
            found[ties[0].round] = ties
    names = seeds(players)
    places = len(draw(len(names)))
    return [
        Round(
            number,
            NAMES.get(left := places >> (number - 1), f"round of {left}"),
            tuple(tie.told(spec, names) for tie in ties),
        )
        for number, ties in found.items()
    ]


def draw(count: int) -> list[int]:
    """The places of the bracket from top to bottom, as seeds from 0; beyond `count` is nobody.

    Each doubling puts, beside every seed, the one that makes the sum of both that of first and
    last: so the best meet the last.
    """
    order = [0]
    while len(order) < count:
        last = 2 * len(order) - 1
        order = [each for seed in order for each in (seed, last - seed)]
    return order


class _Pair(Struct):
    """Two seeds in a round, and what they have played. The first is the higher seed."""

    round: int
    first: int
    second: int | None
    asked: int = 0
    """Meetings that were set down."""
    meetings: tuple[Meeting, ...] = ()

    def lead(self) -> int:
        """Meetings that the first has won more than the second."""
        return sum(
            (met.first_points > met.second_points) - (met.first_points < met.second_points)
            for met in self.meetings
        )

    def needed(self, spec: Spec) -> int:
        """How many meetings are sure to be needed next, once all before are complete."""
        if self.second is None:
            return 0
        left = spec.best_of - self.asked
        lead = abs(self.lead())
        if left > 0:
            # At best the leader wins them all, and nothing is decided before that.
            return 0 if lead > left else min(left, (left - lead) // 2 + 1)
        return 1 if lead == 0 and -left < spec.replays else 0

    def winner(self) -> int:
        """Who goes on, once no meeting is needed any more."""
        return self.first if self.second is None or self.lead() >= 0 else self.second

    def told(self, spec: Spec, names: Sequence[str]) -> Tie:
        played = all(met.complete for met in self.meetings)
        complete = len(self.meetings) == self.asked and played and not self.needed(spec)
        return Tie(
            first=names[self.first],
            first_seed=self.first + 1,
            second=None if self.second is None else names[self.second],
            second_seed=None if self.second is None else self.second + 1,
            meetings=self.meetings,
            complete=complete,
            winner=names[self.winner()] if complete else None,
            why=self._why(spec) if complete else "",
        )

    def _why(self, spec: Spec) -> str:
        if self.second is None:
            return "bye"
        lead = self.lead()
        replays = max(self.asked - spec.best_of, 0)
        if lead == 0:
            return (
                f"higher seed after {amount(replays, 'drawn replay')}"
                if replays
                else ("higher seed after a draw")
            )
        if replays:
            return f"won replay {replays}"
        points = [(met.first_points, met.second_points) for met in self.meetings]
        if lead < 0:
            points = [(second, first) for first, second in points]
        if spec.best_of == 1:
            return show_points(*points[0])
        won = sum(ours > theirs for ours, theirs in points)
        lost = sum(ours < theirs for ours, theirs in points)
        return f"{won}–{lost}, best of {spec.best_of}"


def _play(
    spec: Spec, players: Mapping[str, Sequence[str]], scores: Scores
) -> Iterator[tuple[list[_Pair], list[Pairing]]]:
    """Step by step: the ties of the round, and the pairings that come up."""
    names = seeds(players)
    left: list[int | None] = [seed if seed < len(names) else None for seed in draw(len(names))]
    number = 0
    while len(left) > 1:
        number += 1
        ties = [_pair(number, *left[at : at + 2]) for at in range(0, len(left), 2)]
        while step := _step(spec, players, ties, scores):
            yield ties, step
            if not all_complete(step, scores):
                return
        left = [tie.winner() for tie in ties]


def _pair(number: int, one: int | None, other: int | None) -> _Pair:
    """In seed order. Only a lower seed can be missing, so the first is always there."""
    first, *second = sorted(seed for seed in (one, other) if seed is not None)
    return _Pair(number, first, second[0] if second else None)


def _step(
    spec: Spec, players: Mapping[str, Sequence[str]], ties: Sequence[_Pair], scores: Scores
) -> list[Pairing]:
    """The next meetings of all ties that are open, and what is known of them."""
    names = seeds(players)
    found: list[Pairing] = []
    for tie in ties:
        if tie.second is None:
            continue
        first, second = names[tie.first], names[tie.second]
        for _ in range(tie.needed(spec)):
            pairs = [
                Pairing(tie.round, variant, first, second, spec.games, tie.asked)
                for variant in players
            ]
            found += pairs
            tie.asked += 1
            tie.meetings = (*tie.meetings, meeting(pairs, scores))
    return found
