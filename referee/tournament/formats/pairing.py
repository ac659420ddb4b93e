"""Who meets whom, and what came of it: the values that all formats speak in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from referee.tournament.spec import Spec, team_of


class Pairing(Struct, frozen=True):
    """Two players, one variant, a number of games."""

    round: int
    """From 1; always 1 where no pairing waits for results."""
    variant: str
    first: str
    second: str
    games: int
    replay: int = 0
    """Which meeting of the two in this round it is, from 0; more than one only in a knockout."""


class Score(Struct, frozen=True):
    """What came of a pairing so far."""

    played: int
    """Games with a record, unrated ones included."""
    first: float
    """Points, those for forfeits included."""
    second: float


Scores = Mapping[Pairing, Score]


class Meeting(Struct, frozen=True):
    """Two players once through all variants, as far as it was played."""

    first_points: float
    second_points: float
    complete: bool


class Tie(Struct, frozen=True, kw_only=True):
    """Two players in a round, for people to read."""

    first: str
    first_seed: int
    """From 1."""
    second: str | None
    """None: a bye."""
    second_seed: int | None
    meetings: tuple[Meeting, ...] = ()
    complete: bool = False
    winner: str | None = None
    """In a knockout, who goes on."""
    why: str = ""
    """How the winner was found; `drawn` where there is none, empty while it is open."""

    @property
    def first_points(self) -> float:
        return sum(meeting.first_points for meeting in self.meetings)

    @property
    def second_points(self) -> float:
        return sum(meeting.second_points for meeting in self.meetings)


class Round(Struct, frozen=True):
    """The ties that are played side by side."""

    number: int
    name: str
    ties: tuple[Tie, ...]


def may_meet(spec: Spec) -> Callable[[str, str], bool]:
    """Whether two players may meet: those of one team may not."""
    teams = team_of(spec)

    def different(first: str, second: str) -> bool:
        return first not in teams or teams[first] != teams.get(second)

    return different


def seeds(players: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """In seed order. Where all variants decide together everybody plays every one of them, so one
    list is as good as another."""
    return next(iter(players.values()), ())


def is_complete(pairing: Pairing, scores: Scores) -> bool:
    score = scores.get(pairing)
    return score is not None and score.played >= pairing.games


def all_complete(pairings: Iterable[Pairing], scores: Scores) -> bool:
    return all(is_complete(pairing, scores) for pairing in pairings)


def meeting(pairings: Iterable[Pairing], scores: Scores) -> Meeting:
    """The pairings of the same two in all variants, taken together."""
    each = [(pairing, scores.get(pairing, _NOTHING)) for pairing in pairings]
    return Meeting(
        sum(score.first for _, score in each),
        sum(score.second for _, score in each),
        all(score.played >= pairing.games for pairing, score in each),
    )


_NOTHING = Score(0, 0.0, 0.0)


def show_points(first: float, second: float) -> str:
    """`12–8`, `10.5–9.5`."""
    whole = first % 1 == second % 1 == 0
    return f"{first:.0f}–{second:.0f}" if whole else f"{first:.1f}–{second:.1f}"
