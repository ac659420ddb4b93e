"""Rock-paper-scissors is found, a ladder is not, and the p-values are those of the tables."""

from __future__ import annotations

import math
import random
from itertools import combinations

import pytest

from referee.ratings.cycles import chi2_above
from referee.ratings.rating import Ratings, rate
from tests.ratings.making import Row, from_rows, simulated, written

# The χ² distribution.


@pytest.mark.parametrize(
    ("chi2", "degrees", "p"),
    [(3.841459, 1, 0.05), (6.634897, 1, 0.01), (18.307038, 10, 0.05), (124.342113, 100, 0.05)],
)
def test_chi2_as_in_the_tables(chi2: float, degrees: int, p: float) -> None:
    assert chi2_above(chi2, degrees) == pytest.approx(p, rel=1e-6)


@pytest.mark.parametrize("degrees", [2, 4, 10, 60])
@pytest.mark.parametrize("chi2", [1e-3, 0.5, 3.0, 12.0, 60.0, 200.0])
def test_chi2_of_even_degrees_is_a_sum(chi2: float, degrees: int) -> None:
    # e^−x · Σ x^k/k! for k below half the degrees.
    x = chi2 / 2
    exact = math.fsum(
        math.exp(k * math.log(x) - x - math.lgamma(k + 1)) for k in range(degrees // 2)
    )
    assert chi2_above(chi2, degrees) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("chi2", [0.01, 1.0, 5.0, 40.0])
def test_chi2_of_one_degree_is_a_normal_squared(chi2: float) -> None:
    assert chi2_above(chi2, 1) == pytest.approx(math.erfc(math.sqrt(chi2 / 2)), rel=1e-9)


def test_chi2_of_very_many_degrees() -> None:
    degrees = 500_000
    # Wilson and Hilferty: the cube root is all but normal.
    for z in (-3.0, -1.0, 0.0, 1.0, 3.0):
        spread = 2 / (9 * degrees)
        chi2 = degrees * (1 - spread + z * math.sqrt(spread)) ** 3
        assert chi2_above(chi2, degrees) == pytest.approx(
            0.5 * math.erfc(z / math.sqrt(2)), rel=1e-3
        )
    assert (chi2_above(0.0, 3), chi2_above(1e9, 3), chi2_above(1.0, degrees)) == (1.0, 0.0, 1.0)


# The test.


def circle(share: float, games: int, luck: random.Random) -> Ratings:
    """Each of five beats the next two with this chance, and loses to the others."""
    rows: list[Row] = []
    for one, other in combinations(range(5), 2):
        chance = share if (other - one) % 5 in (1, 2) else 1 - share
        for number in range(games):
            seats = (one, other) if number % 2 else (other, one)
            won = (luck.random() < chance) == (number % 2 == 1)
            rows.append((f"p{seats[0]}", f"p{seats[1]}", 2 * won, number // 2))
    return rate(from_rows(rows))


def test_rock_paper_scissors_by_hand() -> None:
    found = rate(
        written(f"rock-scissors {'W' * 20}, scissors-paper {'W' * 20}, paper-rock {'W' * 20}")
    )
    assert found.cycles is not None
    # All rated 0: each pairing is 10 points off, with a variance of 20/4.
    assert found.cycles.chi2 == pytest.approx(3 * 100 / 5, rel=1e-9)
    assert found.cycles.degrees == 1
    assert found.cycles.cyclic_share == pytest.approx(1.0)
    assert found.cycles.p == pytest.approx(chi2_above(60, 1))
    worst = {(pair.first, pair.second) for pair in found.cycles.worst}
    assert worst == {("rock", "scissors"), ("scissors", "paper"), ("paper", "rock")}
    for pair in found.cycles.worst:
        assert (pair.games, pair.score) == (20, 1.0)
        assert pair.expected == pytest.approx(0.5)
        assert pair.z == pytest.approx(math.sqrt(20))


def test_a_circle_of_five_is_found() -> None:
    found = circle(0.7, 100, random.Random(1)).cycles
    assert found is not None
    assert found.degrees == 6
    assert found.p < 1e-6
    assert found.cyclic_share is not None and found.cyclic_share > 0.7
    assert all(pair.score > pair.expected for pair in found.worst)


def test_a_ladder_is_not() -> None:
    # Twelve tables: the least of as many p is rarely below 0.003 if the test is right.
    luck = random.Random(5)
    tables = [rate(simulated([200.0, 100.0, 0.0, -100.0, -200.0], 60, luck)) for _ in range(12)]
    found = [table.cycles for table in tables if table.cycles is not None]
    assert len(found) == 12
    assert min(table.p for table in found) > 0.003
    assert max(table.p for table in found) > 0.3
    assert all((table.cyclic_share or 0) < 0.15 for table in found)


def test_one_pair_that_does_not_fit_is_named() -> None:
    games = written(
        "a-b WWWWWWWWWL, a-c WWWWWWWWWL, a-d LLLLLLLLLW,"
        "b-c WWLWWLWLLL, b-d WWWWLWWWLL, c-d WWWLWWLWLL"
    )
    found = rate(games).cycles
    assert found is not None
    assert (found.worst[0].first, found.worst[0].second) == ("d", "a")
    assert found.worst[0].z > found.worst[1].z
    assert found.p < 0.01


@pytest.mark.parametrize("games", ["", "a-b WL", "a-b WL, b-c WL", "a-b W, b-c W, a-c W"])
def test_nothing_to_test(games: str) -> None:
    assert rate(written(games)).cycles is None


def test_an_advantage_takes_a_degree() -> None:
    games = simulated([100.0, 0.0, -100.0, 0.0], 30, random.Random(2), advantage=100)
    plain, seated = rate(games).cycles, rate(games, advantage=True).cycles
    assert plain is not None and seated is not None
    assert (plain.degrees, seated.degrees) == (3, 2)
