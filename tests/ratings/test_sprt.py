"""The sequential test: values by hand and by another formula, error rates, and its words."""

from __future__ import annotations

import math
import random

import pytest

from referee.ratings.sprt import BadSprt, Decision, Sprt, game_counts, pair_counts, parse_sprt

PLAIN = Sprt(0.0, 10.0, 0.05, 0.05)


def expected(elo: float) -> float:
    return 1 / (1 + 10 ** (-elo / 400))


def test_bounds() -> None:
    assert PLAIN.lower == pytest.approx(-2.944439)
    assert PLAIN.upper == pytest.approx(2.944439)
    uneven = Sprt(0.0, 5.0, alpha=0.01, beta=0.2)
    assert uneven.lower == pytest.approx(math.log(0.2 / 0.99))
    assert uneven.upper == pytest.approx(math.log(0.8 / 0.01))


def test_without_draws_it_is_the_ratio_of_two_binomials() -> None:
    # Outcomes that were not seen count for a thousandth: that much may it be off.
    won, lost = 120, 100
    p0, p1 = expected(0), expected(10)
    exact = won * math.log(p1 / p0) + lost * math.log((1 - p1) / (1 - p0))
    assert PLAIN.llr((lost, 0, won)) == pytest.approx(exact, abs=1e-3)


def test_with_draws_by_hand() -> None:
    # 30 losses, 40 draws, 30 wins have a mean of ½, so for s = ½ the most likely is p̂ itself. For
    # s = ¾, x solves −0.75·0.3/(1−0.75x) − 0.25·0.4/(1−0.25x) + 0.25·0.3/(1+0.25x) = 0; with
    # y = x/4 that is 9/(1−3y) + 4/(1−y) = 3/(1+y), which is 10 + 4y − 30y² = 0 cleared of
    # fractions, and of its two zeros the one between the poles −1 and ⅓ is meant.
    x = 4 * (4 - math.sqrt(4**2 + 4 * 30 * 10)) / (2 * 30)
    tilted = [0.3 / (1 - 0.75 * x), 0.4 / (1 - 0.25 * x), 0.3 / (1 + 0.25 * x)]
    assert sum(tilted) == pytest.approx(1)
    assert tilted[1] / 2 + tilted[2] == pytest.approx(0.75)
    ratio = 100 * sum(
        share * math.log(p / share) for share, p in zip((0.3, 0.4, 0.3), tilted, strict=True)
    )
    test = Sprt(0.0, 400 * math.log10(3), 0.05, 0.05)
    assert test.llr((30, 40, 30)) == pytest.approx(ratio, rel=1e-9)


@pytest.mark.parametrize(
    "counts", [(1000, 2000, 1100), (400, 500, 410), (50, 200, 500, 260, 60), (9, 90, 300, 80, 9)]
)
def test_near_enough_to_the_normal_approximation(counts: tuple[int, ...]) -> None:
    number = sum(counts)
    values = [place / (len(counts) - 1) for place in range(len(counts))]
    mean = sum(v * c for v, c in zip(values, counts, strict=True)) / number
    spread = sum((v - mean) ** 2 * c for v, c in zip(values, counts, strict=True)) / number
    s0, s1 = expected(0), expected(10)
    normal = number * (s1 - s0) * (2 * mean - s0 - s1) / (2 * spread)
    assert PLAIN.llr(counts) == pytest.approx(normal, rel=0.02, abs=0.02)


def test_swapped_hypotheses_and_players_swap_the_sign() -> None:
    one = Sprt(-5.0, 15.0, 0.05, 0.05).llr((20, 30, 50, 40, 10))
    other = Sprt(-15.0, 5.0, 0.05, 0.05).llr((10, 40, 50, 30, 20))
    assert one == pytest.approx(-other, rel=1e-9)


@pytest.mark.parametrize(
    "counts",
    [
        (0, 0, 0),
        (0, 0, 1),
        (10**17, 0, 0),
        (0, 10**9, 0),
        (0, 0, 0, 0, 10**6),
        (1, 0, 0, 0, 10**15),
    ],
)
@pytest.mark.parametrize("test", [PLAIN, Sprt(-2000.0, 2000.0, 0.05, 0.05), Sprt(0.0, 0.01)])
def test_whole_scores_are_no_exception(counts: tuple[int, ...], test: Sprt) -> None:
    assert math.isfinite(test.llr(counts))


def test_decisions() -> None:
    assert PLAIN.decide((0, 0, 0)) is Decision.CONTINUE
    assert PLAIN.decide((100, 200, 110)) is Decision.CONTINUE
    assert PLAIN.decide((100, 200, 300)) is Decision.ACCEPT_H1
    assert PLAIN.decide((300, 200, 100)) is Decision.ACCEPT_H0


def test_other_numbers_of_outcomes_are_refused() -> None:
    with pytest.raises(BadSprt, match=r"^outcomes are three \(games\) or five \(pairs\), not 2$"):
        PLAIN.llr((1, 2))


# Outcomes of a match.


def test_counts_of_games_and_of_pairs() -> None:
    results = [(1, 1.0), (1, 0.5), (2, 0.0), (2, 0.0), (3, 1.0), (3, 1.0), (4, 1.0)]
    assert game_counts(results) == (2, 1, 4)
    # The fourth pair is not whole.
    assert pair_counts(results) == (1, 0, 0, 1, 1)
    assert pair_counts([]) == (0, 0, 0, 0, 0)


# How often it is wrong.


def wrong(elo: float, is_wrong: Decision, matches: int) -> float:
    """The share of matches decided wrongly, of pairs whose games make up for each other."""
    test = Sprt(0.0, 80.0, alpha=0.1, beta=0.1)
    luck = random.Random(23)
    mean = expected(elo)
    found = 0
    for _ in range(matches):
        counts = [0] * 5
        decision = Decision.CONTINUE
        while decision is Decision.CONTINUE:
            for _ in range(4):
                same = luck.random()
                first = same < mean
                # With the same luck of the seat the second game is lost where the first was won.
                second = (1 - same if luck.random() < 0.5 else luck.random()) < mean
                counts[2 * (first + second)] += 1
            decision = test.decide(counts)
        found += decision is is_wrong
    return found / matches


@pytest.mark.parametrize(
    ("elo", "is_wrong"), [(0.0, Decision.ACCEPT_H1), (80.0, Decision.ACCEPT_H0)]
)
def test_it_is_wrong_as_often_as_was_asked(elo: float, is_wrong: Decision) -> None:
    # 10 % of 200, three standard errors are 6.4 %; overshoot makes it rather less.
    assert 0.01 <= wrong(elo, is_wrong, 200) <= 0.165


# Words.


def test_words() -> None:
    assert parse_sprt(["elo0=0", "elo1=10", "alpha=.05", "beta=.05"]) == PLAIN
    assert parse_sprt(["beta=0.1 elo1=-1.5", "elo0=-5"]) == Sprt(-5.0, -1.5, 0.05, 0.1)
    assert parse_sprt(["elo0=1,elo1=2"]) == Sprt(1.0, 2.0, 0.05, 0.05)
    assert parse_sprt([]) == PLAIN


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["elo=3"], "'elo=3' is none of elo0=NUMBER"),
        (["elo0"], "'elo0' is none of"),
        (["elo0=x"], "elo0 needs a number, not 'x'"),
        (["elo0="], "elo0 needs a number"),
        (["elo0=5", "elo1=1"], "elo0 must be less than elo1"),
        (["elo0=5", "elo1=5"], "elo0 must be less than elo1"),
        (["elo0=nan"], "elo0 must be less than elo1"),
        (["elo1=inf"], "from -2000 to 2000"),
        (["alpha=0"], "alpha must be"),
        (["beta=1"], "beta must be"),
        (["elo0=1", "elo0=1"], "elo0 is given twice"),
    ],
)
def test_bad_words_are_named(words: list[str], said: str) -> None:
    with pytest.raises(BadSprt) as caught:
        parse_sprt(words)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not str(caught.value).endswith(".")
