"""The pairing that tells most, by simulation: whose ratings get narrow, and who waits how long."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

from referee.ladder.informative import FLOOR, Beliefs, Chooser, Score, Turns, believe

GAMES = 10
Scores = dict[tuple[int, int], Score]
TraceFunction = Callable[[FrameType, str, Any], Any]


def everybody(players: int) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    return ~np.eye(players, dtype=np.bool_)


def play(
    scores: Scores, one: int, other: int, strength: dict[int, float], luck: random.Random
) -> None:
    """GAMES games of two players, by the model."""
    low, high = min(one, other), max(one, other)
    p = 1 / (1 + np.exp(strength[high] - strength[low]))
    won = sum(luck.random() < p for _ in range(GAMES))
    games, half = scores.get((low, high), Score(0, 0))
    scores[low, high] = Score(games + GAMES, half + 2 * won)


def season(
    pick: Callable[[Beliefs, random.Random], tuple[int, int]], *, rounds: int, seed: int
) -> tuple[float, Beliefs, dict[int, float]]:
    """The summed variance after so many choices, the last beliefs and the truth.

    Twelve players of whom half come late, as on a ladder where versions are handed in.
    """
    luck = random.Random(seed)
    strength = {player: luck.gauss(0, 1.5) for player in range(1, 13)}
    scores: Scores = {}
    beliefs = None
    for turn in range(rounds):
        there = range(1, 7) if turn < rounds // 2 else range(1, 13)
        beliefs = believe(list(there), scores, beliefs)
        play(scores, *pick(beliefs, luck), strength, luck)
    beliefs = believe(list(strength), scores).of(list(strength))
    return float(np.trace(beliefs.covariance)), beliefs, strength


def by_information(beliefs: Beliefs, _: random.Random) -> tuple[int, int]:
    chooser = Chooser(beliefs.of(beliefs.players), GAMES)
    found = chooser.choose(everybody(len(beliefs.players)))
    assert found is not None
    return found


def by_chance(beliefs: Beliefs, luck: random.Random) -> tuple[int, int]:
    one, other = luck.sample(beliefs.players, 2)
    return one, other


@pytest.mark.parametrize("seed", range(3))
def test_ratings_get_narrower_than_with_random_pairings(seed: int) -> None:
    chosen, _, _ = season(by_information, rounds=120, seed=seed)
    drawn, _, _ = season(by_chance, rounds=120, seed=seed)
    assert chosen < 0.85 * drawn


def test_the_errors_are_honest_whoever_is_paired() -> None:
    """To choose pairings by the results so far must not make the intervals wrong."""
    inside = total = 0
    for seed in range(8):
        _, beliefs, truth = season(by_information, rounds=80, seed=seed)
        mean = np.mean(list(truth.values()))
        strength = dict(zip(beliefs.players, beliefs.strength, strict=True))
        middle = np.mean(beliefs.strength)
        for player, width in beliefs.err95().items():
            off = abs((strength[player] - middle) - (truth[player] - mean)) * 400 / np.log(10)
            inside += off < width
            total += 1
    assert inside / total > 0.88


def test_new_players_have_a_strength_and_a_wide_error() -> None:
    beliefs = believe([1, 2, 3], {(1, 2): Score(400, 800)})
    width = beliefs.err95()
    assert width[3] == pytest.approx(2 * 1.96 * 400 / np.log(10), rel=0.01)
    strength = dict(zip(beliefs.players, beliefs.strength.tolist(), strict=True))
    assert strength[1] > 1
    assert strength[3] == pytest.approx(0)
    assert strength[2] < -1


def test_whoever_is_new_is_paired_first_and_with_an_equal() -> None:
    level = {(one, other): Score(1000, 1000) for one in range(1, 5) for other in range(one + 1, 5)}
    strong = {(one, 5): Score(1000, 100) for one in range(1, 5)}
    beliefs = believe([1, 2, 3, 4, 5, 6], level | strong)
    found = Chooser(beliefs, GAMES).choose(everybody(6))
    assert found is not None
    assert found[1] == 6
    assert found[0] != 5


def test_what_was_given_out_counts_as_played() -> None:
    chooser = Chooser(believe(range(1, 9), {}), GAMES)
    met = [chooser.choose(everybody(8)) for _ in range(4)]
    assert sorted(player for pair in met if pair is not None for player in pair) == list(
        range(1, 9)
    )


def test_a_choice_is_the_one_that_a_new_covariance_would_make() -> None:
    """The updates of rank one are what inverting anew would give."""
    beliefs = believe(range(1, 7), {(1, 2): Score(20, 25), (3, 4): Score(8, 3)})
    chooser = Chooser(beliefs, GAMES)
    for _ in range(5):
        chooser.choose(everybody(6))
    square = chooser._covariance @ chooser._covariance
    assert np.allclose(chooser._square, square)
    assert np.all(np.linalg.eigvalsh(chooser._covariance) > 0)


def test_only_those_meet_who_may() -> None:
    beliefs = believe([1, 2, 3], {})
    may = np.zeros((3, 3), np.bool_)
    assert Chooser(beliefs, GAMES).choose(may) is None
    may[0, 2] = may[2, 0] = True
    assert Chooser(beliefs, GAMES).choose(may) == (1, 3)
    assert Chooser(beliefs, GAMES).choose(may, who=2) is None
    assert Chooser(beliefs, GAMES).choose(np.ones((3, 3), np.bool_), who=2) in {(1, 2), (2, 3)}


def test_nobody_meets_himself_and_nobody_is_alone() -> None:
    assert Chooser(believe([1], {}), GAMES).choose(np.ones((1, 1), np.bool_)) is None
    assert Chooser(believe([], {}), GAMES).choose(np.ones((0, 0), np.bool_)) is None


def test_everybody_gets_a_turn() -> None:
    """One choice of four is for whoever waited longest: after 4·n choices nobody is left out."""
    players = list(range(1, 21))
    # The last ten are known to the last Elo; information alone would never ask for them.
    known = {
        (one, other): Score(10**7, 10**7)
        for one in players[10:]
        for other in players[10:]
        if one < other
    }
    beliefs = believe(players, known)
    turns, seen = Turns(), Counter[int]()
    chooser = Chooser(beliefs, GAMES)
    for turn in range(FLOOR * len(players)):
        who = turns.longest(players, {}) if turn % FLOOR == 0 else None
        found = chooser.choose(everybody(20), who)
        assert found is not None
        turns.take(found)
        seen.update(found)
    assert set(seen) == set(players)


def test_the_same_inputs_give_the_same_choice() -> None:
    scores = {(1, 2): Score(20, 25), (2, 7): Score(8, 3), (3, 7): Score(4, 4)}
    once = Chooser(believe([1, 2, 3, 7], scores), GAMES).choose(everybody(4))
    again = Chooser(believe([7, 3, 2, 1], dict(reversed(scores.items()))), GAMES)
    assert again.choose(everybody(4)) == once


def test_five_hundred_players_are_no_work_for_python() -> None:
    """Of 125,000 pairs none is looked at by itself: that is what numpy is for. Lines are counted,
    not time, which depends on who else is at work."""
    luck = random.Random(1)
    players = range(1, 501)
    scores: Scores = {}
    for _ in range(3000):
        low, high = sorted(luck.sample(players, 2))
        scores[low, high] = Score(20, luck.randint(0, 40))
    chooser = Chooser(believe(players, scores), GAMES)
    may = everybody(500)
    chooser.choose(may)
    lines = 0

    def count(_frame: FrameType, event: str, _arg: object) -> TraceFunction:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        chooser.choose(may)
    finally:
        sys.settrace(before)
    assert 0 < lines < 1000
