"""Knockout: the bracket, ties of several meetings, replays, and always one winner."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.tournament.formats import Pairing, Score, Tie, bracket, pairings
from referee.tournament.formats.knockout import draw
from referee.tournament.spec import Spec
from tests.tournament.playing import by_round, drawn, play, players, scored, seed, stronger_wins


def knockout(best_of: int = 1, replays: int = 3, games: int = 2, variants: int = 1) -> Spec:
    return Spec(
        name="k",
        variants=("underdog", "duel")[:variants],
        format="knockout",
        games=games,
        best_of=best_of,
        replays=replays,
    )


class Luck:
    """Results by chance, the same ones for the same pairing; often drawn."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __call__(self, pairing: Pairing) -> float:
        luck = random.Random(f"{self._number}/{pairing}")
        return pairing.games * luck.choice([0.0, 0.5, 0.5, 1.0])


# The bracket.


def test_the_draw() -> None:
    assert draw(1) == [0]
    assert draw(2) == [0, 1]
    assert draw(4) == [0, 3, 1, 2]
    assert draw(8) == [0, 7, 3, 4, 1, 6, 2, 5]
    assert draw(5) == draw(8)


@pytest.mark.parametrize("size", [2, 4, 8, 16, 32, 64])
def test_the_best_meet_as_late_as_can_be(size: int) -> None:
    """If the higher seed always wins, the last 2ⁿ are the first 2ⁿ seeds."""
    known, scores = play(knockout(), players(size), stronger_wins)
    left = size
    for round_ in by_round(known).values():
        names = {name for each in round_ for name in (each.first, each.second)}
        assert names == {f"p{number}" for number in range(1, left + 1)}
        assert {seed(each.first) + seed(each.second) for each in round_} == {left + 1}
        left //= 2
    assert bracket(knockout(), players(size), scores)[-1].ties[0].winner == "p1"


def test_the_top_seeds_have_the_byes() -> None:
    known = pairings(knockout(), players(5), {})
    assert [(each.first, each.second) for each in known] == [("p4", "p5")]
    ties = bracket(knockout(), players(5), {})[0].ties
    assert [(tie.first, tie.second, tie.why) for tie in ties] == [
        ("p1", None, "bye"),
        ("p4", "p5", ""),
        ("p2", None, "bye"),
        ("p3", None, "bye"),
    ]


def test_round_names() -> None:
    _, scores = play(knockout(), players(17), stronger_wins)
    rounds = bracket(knockout(), players(17), scores)
    assert [each.name for each in rounds] == [
        *("round of 32", "round of 16", "quarter-finals", "semi-finals", "final"),
    ]
    assert [each.number for each in rounds] == [1, 2, 3, 4, 5]


def test_nobody_and_one_player() -> None:
    nobody: list[dict[str, list[str]]] = [{}, {"underdog": []}, players(1)]
    for entered in nobody:
        assert pairings(knockout(), entered, {}) == []
        assert bracket(knockout(), entered, {}) == []


# Ties.


def tie_after(spec: Spec, *points: float) -> tuple[Tie, int]:
    """The tie of two players after meetings with these points of the first, and how many meetings
    are set down by then."""
    entered = players(2, spec.variants)
    scores: dict[Pairing, Score] = {}
    for number, each in enumerate(points):
        for pairing in pairings(spec, entered, scores):
            if pairing.replay == number:
                scores[pairing] = scored(pairing, each)
    known = pairings(spec, entered, scores)
    assert len(scores) == len(points) * len(spec.variants), "a meeting too many"
    return bracket(spec, entered, scores)[0].ties[0], len(known) // len(spec.variants)


@pytest.mark.parametrize(
    ("best_of", "replays", "points", "winner", "why", "meetings"),
    [
        (1, 3, (), None, "", 1),
        (1, 3, (2,), "p1", "2–0", 1),
        (1, 3, (0.5,), "p2", "1.5–0.5", 1),
        (1, 3, (1,), None, "", 2),
        (1, 3, (1, 0), "p2", "won replay 1", 2),
        (1, 3, (1, 1, 1, 1.5), "p1", "won replay 3", 4),
        (1, 3, (1, 1, 1, 1), "p1", "higher seed after 3 drawn replays", 4),
        (1, 1, (1, 1), "p1", "higher seed after 1 drawn replay", 2),
        (1, 0, (1,), "p1", "higher seed after a draw", 1),
        # Two meetings of three are sure to be needed, and are set down at once.
        (3, 3, (), None, "", 2),
        (3, 3, (2,), None, "", 2),
        (3, 3, (2, 2), "p1", "2–0, best of 3", 2),
        (3, 3, (2, 0), None, "", 3),
        (3, 3, (2, 0, 0), "p2", "2–1, best of 3", 3),
        (3, 3, (2, 1), None, "", 3),
        (3, 3, (2, 1, 1), "p1", "1–0, best of 3", 3),
        (3, 3, (2, 1, 0), None, "", 4),
        (3, 3, (2, 1, 0, 0), "p2", "won replay 1", 4),
        (2, 0, (), None, "", 2),
        (2, 0, (2, 0), "p1", "higher seed after a draw", 2),
        (5, 0, (), None, "", 3),
        (5, 0, (2, 2, 2), "p1", "3–0, best of 5", 3),
        (5, 0, (1, 1, 1), None, "", 5),
        (5, 0, (2, 2, 1), None, "", 4),
    ],
)
def test_a_tie(
    best_of: int,
    replays: int,
    points: tuple[float, ...],
    winner: str | None,
    why: str,
    meetings: int,
) -> None:
    tie, known = tie_after(knockout(best_of, replays), *points)
    assert (tie.winner, tie.why, known) == (winner, why, meetings)
    assert tie.complete == (winner is not None)


def test_all_variants_decide_together() -> None:
    spec = knockout(variants=2, games=4)
    first, second = pairings(spec, players(2, spec.variants), {})
    assert (first.variant, second.variant) == ("underdog", "duel")
    scores = {first: Score(4, 1.5, 2.5), second: Score(4, 4, 0)}
    tie = bracket(spec, players(2, spec.variants), scores)[0].ties[0]
    assert (tie.winner, tie.why) == ("p1", "5.5–2.5")
    level = {first: Score(4, 1.5, 2.5), second: Score(4, 2.5, 1.5)}
    assert [each.replay for each in pairings(spec, players(2, spec.variants), level)] == [
        0,
        0,
        1,
        1,
    ]


def test_void_games_count_for_nobody() -> None:
    """A meeting without a single point is complete, and drawn."""
    pairing = pairings(knockout(), players(2), {})[0]
    known = pairings(knockout(), players(2), {pairing: Score(2, 0.0, 0.0)})
    assert [each.replay for each in known] == [0, 1]


def test_nothing_but_draws() -> None:
    known, scores = play(knockout(replays=2), players(8), drawn)
    assert len(known) == 7 * 3
    final = bracket(knockout(replays=2), players(8), scores)[-1].ties[0]
    assert (final.winner, final.why) == ("p1", "higher seed after 2 drawn replays")


# Whatever the results.


@settings(max_examples=120)
@given(
    st.integers(2, 40),
    st.integers(1, 4),
    st.integers(0, 3),
    st.integers(1, 2),
    st.integers(0, 1_000_000),
)
def test_one_winner_and_one_tie_less_than_players(
    count: int, best_of: int, replays: int, variants: int, number: int
) -> None:
    spec = knockout(best_of, replays, variants=variants)
    entered = players(count, spec.variants)
    known, scores = play(spec, entered, Luck(number))
    rounds = bracket(spec, entered, scores)
    assert len(rounds) == (count - 1).bit_length()
    assert len(rounds[-1].ties) == 1
    ties = [tie for each in rounds for tie in each.ties if tie.second is not None]
    assert len(ties) == count - 1
    assert all(tie.complete and tie.winner in (tie.first, tie.second) for tie in ties)
    losers = [tie.second if tie.winner == tie.first else tie.first for tie in ties]
    assert {*losers, rounds[-1].ties[0].winner} == set(entered["underdog"])
    for before, after in pairwise(rounds):
        # Only neighbours among those who are left meet.
        through = [tie.winner for tie in before.ties]
        pairs = [{tie.first, tie.second} for tie in after.ties]
        assert pairs == [set(through[at : at + 2]) for at in range(0, len(through), 2)]
    for tie in ties:
        least, most = best_of // 2 + 1, best_of + replays
        assert least <= len(tie.meetings) <= most
        assert tie.first_seed < (tie.second_seed or 0)
    assert len(known) == len(set(known)) == variants * sum(len(tie.meetings) for tie in ties)
    assert pairings(spec, entered, dict(reversed(list(scores.items())))) == known


@settings(max_examples=60)
@given(st.integers(2, 12), st.integers(1, 4), st.integers(0, 1_000_000))
def test_the_list_only_grows_at_its_end(count: int, best_of: int, number: int) -> None:
    spec = knockout(best_of)
    known, scores = play(spec, players(count), Luck(number))
    for end in range(len(known) + 1):
        so_far = pairings(spec, players(count), {each: scores[each] for each in known[:end]})
        assert known[: len(so_far)] == so_far
        assert len(so_far) >= min(end + 1, len(known))


def test_a_tie_that_is_not_complete_decides_nothing() -> None:
    first, second = pairings(knockout(), players(4), {})
    begun = {first: Score(2, 2.0, 0.0), second: Score(1, 1.0, 0.0)}
    assert pairings(knockout(), players(4), begun) == [first, second]
    ties = bracket(knockout(), players(4), begun)[0].ties
    assert [(tie.winner, tie.complete) for tie in ties] == [("p1", True), (None, False)]
    assert (ties[1].first_points, ties[1].second_points) == (1.0, 0.0)
