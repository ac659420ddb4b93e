"""Two players: hand-computed values, the formulas, tables with little in them, and coverage."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.ratings.two_players import Z95, Score, elo, score

POINTS = {"W": 1.0, "D": 0.5, "L": 0.0}


def result(pairs: str) -> Score:
    """`"WL WW D"`: pairs of games in a row, the last one with a single game."""
    return score(
        (number, POINTS[game]) for number, pair in enumerate(pairs.split()) for game in pair
    )


def phi(z: float) -> float:
    return 0.5 * (1 + math.erf(z / math.sqrt(2)))


# By hand.


@pytest.mark.parametrize(
    ("mean", "difference"),
    [(0.5, 0.0), (0.75, 190.8485), (0.25, -190.8485), (10 / 11, 400.0), (0.64, 99.9510)],
)
def test_elo_of_a_mean_score(mean: float, difference: float) -> None:
    assert elo(mean) == pytest.approx(difference, abs=5e-4)


def test_four_pairs_by_hand() -> None:
    # Pairs of 2, 2, 1 and 1 points: 6 of 8 games, mean ¾. Each pair is half a point off its
    # 1½, so the squares add up to 1, times 4/3 for four pairs; the error is √(4/3)/8 = 0.14434.
    found = result("WW WW WL LW")
    assert (found.wins, found.draws, found.losses, found.pairs) == (6, 0, 2, 4)
    assert (found.games, found.points) == (8, 6.0)
    assert found.elo == pytest.approx(190.8485, abs=5e-4)
    # 0.75 ± 0.28290 reaches beyond 1, where Elo has no end: so 0.28290 times the slope at ¾,
    # 400 / ln 10 / (¾ · ¼) = 926.5 Elo a point.
    assert found.err95 == pytest.approx(0.28290 * 926.47, abs=0.05)
    assert found.superiority == pytest.approx(phi(0.25 / 0.14434), abs=1e-4)
    assert (found.bound, found.bound_elo) == (None, None)


def test_ten_pairs_by_hand() -> None:
    # Five pairs of 2 points and five of ½: 12½ of 20, mean 0.625, each pair 0.75 off its 1.25.
    # The squares add up to 5.625, times 10/9 is 6.25; the error is 2.5/20 = 0.125.
    found = result("WW DL WW DL WW DL WW DL WW DL")
    low, high = 0.625 - Z95 * 0.125, 0.625 + Z95 * 0.125
    assert found.elo == pytest.approx(88.739, abs=5e-4)
    assert found.err95 == pytest.approx((elo(high) - elo(low)) / 2)
    assert found.err95 == pytest.approx((330.23 + 85.04) / 2, abs=0.01)
    assert found.superiority == pytest.approx(0.84134, abs=1e-5)  # Φ(1)
    # Means of pairs 1 and ¼, σ = 0.375: 0.125/(√2·0.375) = 0.23570, times 800/ln 10 = 347.436.
    assert found.normalised_elo == pytest.approx(81.891, abs=1e-3)


# RATINGS.md: σ of the observed distribution over n pairs (0, ½, 1, 1½, 2 points), se = σ/√n.


def test_the_formulas_over_pairs() -> None:
    luck = random.Random(3)
    pairs = ["".join(luck.choices("WDL", (5, 2, 4), k=2)) for _ in range(400)]
    found = result(" ".join(pairs))
    means = [sum(POINTS[game] for game in pair) / 2 for pair in pairs]
    n = len(means)
    mu = sum(means) / n
    sigma = math.sqrt(sum((mean - mu) ** 2 for mean in means) / n)
    se = sigma / math.sqrt(n)

    def formula(mean: float) -> float:
        return -400 * math.log10(1 / mean - 1)

    assert found.elo == pytest.approx(formula(mu))
    err95 = (formula(mu + 1.96 * se) - formula(mu - 1.96 * se)) / 2
    # The score divides by n − 1 where the formula divides by n.
    assert found.err95 == pytest.approx(err95 * math.sqrt(n / (n - 1)), rel=1e-4)
    assert found.superiority == pytest.approx(phi((mu - 0.5) / se), abs=1e-3)
    normalised = (mu - 0.5) / (math.sqrt(2) * sigma) * 800 / math.log(10)
    assert found.normalised_elo == pytest.approx(normalised, rel=1e-12)


def test_normalised_elo_of_single_games() -> None:
    # 6 wins, 2 draws, 2 losses: mean 0.7, σ² = (6·0.09 + 2·0.04 + 2·0.49)/10 = 0.16.
    found = result("W W W W W W D D L L")
    assert found.normalised_elo == pytest.approx(0.2 / 0.4 * 347.43559, abs=1e-3)
    # One game more is half a pair: 2, 1 and 1 points of 5 games, mean 0.8, off by 0.4, −0.6, 0.2.
    mixed = result("WW WL W")
    assert mixed.normalised_elo == pytest.approx(0.3 / math.sqrt(0.56 / 5) * 347.43559, abs=1e-3)


@pytest.mark.parametrize("games", ["", "W", "D", "L", "WL", "WW", "DD D", "WD WD", "LL LL", "WWL"])
def test_without_variance_there_is_no_normalised_elo(games: str) -> None:
    assert result(games).normalised_elo is None


def test_pairs_that_balance_out_have_narrower_bars_than_single_games() -> None:
    """Where a seat decides, every pair is 1–1: that says more than the games one by one."""
    paired = result("WL " * 50)
    alone = result("W L " * 50)
    assert paired.err95 is not None and alone.err95 is not None
    assert paired.elo == alone.elo == 0.0
    assert paired.err95 < alone.err95 / 5


# Little to go by: never NaN, never an exception.


def check(found: Score) -> None:
    numbers = [found.elo, found.err95, found.bound_elo, found.superiority, found.normalised_elo]
    assert all(number is None or math.isfinite(number) for number in numbers)
    assert 0 <= found.superiority <= 1
    assert (found.elo is None) == (found.err95 is None)
    assert (found.bound is None) == (found.bound_elo is None)
    assert found.err95 is None or found.err95 > 0
    known = (found.elo is not None) + (found.bound is not None)
    assert known == (1 if found.games else 0)


def test_no_games() -> None:
    found = result("")
    check(found)
    assert (found.games, found.points, found.pairs, found.superiority) == (0, 0.0, 0, 0.5)


@pytest.mark.parametrize(("game", "bound"), [("W", ">"), ("D", None), ("L", "<")])
def test_one_game(game: str, bound: str | None) -> None:
    found = result(game)
    check(found)
    assert (found.games, found.pairs, found.bound) == (1, 0, bound)
    if game == "D":
        assert (found.elo, found.superiority) == (0.0, 0.5)


def test_all_wins_give_a_bound_that_rises() -> None:
    # The least mean that leaves 3 won pairs likely at 2.5 %: 0.025^(1/3) = 0.29240.
    found = result("WW WW WW")
    check(found)
    assert (found.bound, found.elo) == (">", None)
    assert found.bound_elo == pytest.approx(elo(0.29240), abs=0.01)
    bounds = [result("WW " * n).bound_elo or 0.0 for n in (1, 2, 5, 20, 100, 1_000, 100_000)]
    assert all(low < high for low, high in pairwise(bounds))
    assert result("WW " * 4).superiority == 1 - 0.5**5


@pytest.mark.parametrize("pairs", [1, 2, 7, 500, 100_000])
def test_all_losses_mirror_all_wins(pairs: int) -> None:
    won, lost = result("WW " * pairs), result("LL " * pairs)
    check(won)
    check(lost)
    assert lost.bound == "<"
    assert won.bound_elo is not None and lost.bound_elo == -won.bound_elo
    assert lost.superiority == pytest.approx(1 - won.superiority)


@pytest.mark.parametrize("games", ["DD", "WL", "LW", "D", "WL LW DD"])
@pytest.mark.parametrize("times", [1, 2, 1_000])
def test_level_scores_claim_no_certainty(games: str, times: int) -> None:
    found = result(f"{games} " * times)
    check(found)
    assert (found.elo, found.superiority) == (0.0, 0.5)
    # The floor: as if one pair had come out a point otherwise.
    error = 1 / found.games
    if all(POINTS[pair[0]] + POINTS[pair[-1]] == 1 for pair in games.split()):
        high = 0.5 + Z95 * error
        expected = elo(high) if high < 1 else Z95 * error * 1600 / math.log(10)
        assert found.err95 == pytest.approx(expected)


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(1, 12), st.sampled_from([0.0, 0.5, 1.0])), max_size=24))
def test_whatever_the_results(results: list[tuple[int, float]]) -> None:
    found = score(results)
    check(found)
    assert found.points == sum(points for _, points in results)
    other = score((pair, 1 - points) for pair, points in results)
    assert (other.wins, other.draws, other.losses) == (found.losses, found.draws, found.wins)
    assert other.superiority == pytest.approx(1 - found.superiority)
    if found.elo is not None:
        assert other.elo == pytest.approx(-found.elo)
        assert other.err95 == pytest.approx(found.err95)
    assert (found.normalised_elo is None) == (other.normalised_elo is None)
    if found.normalised_elo is not None and other.normalised_elo is not None:
        assert other.normalised_elo == pytest.approx(-found.normalised_elo)
        assert found.normalised_elo == pytest.approx(normalised_elo(results))


def normalised_elo(results: list[tuple[int, float]]) -> float:
    """The formula by its words, in exact fractions up to the root."""
    mean = Fraction(sum(points for _, points in results)) / len(results)
    off: dict[int, Fraction] = defaultdict(Fraction)
    for pair, points in results:
        off[pair] += Fraction(points) - mean
    variance = sum(each**2 for each in off.values()) / len(results)
    return float(mean - Fraction(1, 2)) / math.sqrt(variance) * 800 / math.log(10)


# Coverage: what is claimed at 95 % holds in about 95 of 100 matches.


def match(luck: random.Random, strength: float, seat: float, pairs: int) -> list[tuple[int, float]]:
    """A match in which the seat counts, and a pair shares its chance.

    Each pair has a chance of its own that favours a seat, so the two games of a pair lean in
    opposite directions for the first player.
    """
    results = []
    for pair in range(pairs):
        shared = luck.gauss(0, seat)
        for lean in (shared, -shared):
            win = 1 / (1 + math.exp(-(strength + lean)))
            drawn = luck.random() < 0.2
            results.append((pair, 0.5 if drawn else float(luck.random() < win)))
    return results


def true_elo(strength: float, seat: float) -> float:
    """Of `match`, over every chance that a pair can have."""
    chances = [seat * z for z in NormalDist().quantiles(2_000)]
    wins = [1 / (1 + math.exp(-(strength + chance))) for chance in chances]
    mean = 0.2 * 0.5 + 0.8 * sum(wins) / len(wins)
    return 400 * math.log10(mean / (1 - mean))


@pytest.mark.parametrize(("strength", "seat"), [(0.0, 0.0), (0.4, 1.0), (-1.0, 2.0)])
def test_the_interval_covers_the_truth(strength: float, seat: float) -> None:
    luck, truth, covered = random.Random(95), true_elo(strength, seat), 0
    for _ in range(400):
        found = score(match(luck, strength, seat, 100))
        assert found.elo is not None and found.err95 is not None
        covered += abs(found.elo - truth) <= found.err95
    assert 0.91 <= covered / 400 <= 0.98
