"""Nash averaging: equilibria known by hand, what holds of all of them, and tables with little."""

from __future__ import annotations

import math
import random
from itertools import combinations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from referee.ratings.counts import count
from referee.ratings.games import SINGLE
from referee.ratings.nash import Mix, equilibrium, log_odds
from referee.ratings.rating import MOST_NASH, BadRating, rate
from tests.ratings.making import Row, by_name, from_rows, numbers_in, simulated, written

Floats = NDArray[np.float64]

CIRCLE = np.array([[0.0, 3.0, -3.0], [-3.0, 0.0, 3.0], [3.0, -3.0, 0.0]])
RPS = f"rock-scissors {'W' * 20}, scissors-paper {'W' * 20}, paper-rock {'W' * 20}"


def upper(values: Floats) -> Floats:
    """The antisymmetric matrix with these values above its diagonal."""
    part = np.triu(values, 1)
    return part - part.T


def solved(odds: Floats) -> Mix:
    """The equilibrium, and the conditions of one."""
    with np.errstate(all="raise", under="ignore"):
        found = equilibrium(odds)
    assert found.share.min() >= 0
    assert found.share.sum() == pytest.approx(1, abs=1e-12)
    assert found.skill.max() <= 1e-6  # Nobody gains by another pick,
    assert np.abs(found.skill[found.share > 1e-6]).max() <= 1e-6  # and who is in it loses nothing.
    assert found.skill == pytest.approx(odds @ found.share, abs=1e-12)
    return found


def entropy(share: Floats) -> float:
    return -math.fsum(each * math.log(each) for each in share.tolist() if each > 0)


def shares(text: str) -> dict[str, float | None]:
    return {player.name: player.nash for player in rate(written(text), nash=True).players}


# By hand.


def test_rock_paper_scissors() -> None:
    assert solved(CIRCLE).share == pytest.approx([1 / 3] * 3, abs=1e-9)
    found = rate(written(RPS), nash=True)
    assert [player.nash for player in found.players] == pytest.approx([1 / 3] * 3, abs=1e-9)
    assert [player.nash_skill for player in found.players] == [0, 0, 0]


def test_uneven_circles() -> None:
    # Each is picked as often as the other two are far apart: 1 to 2 to 5.
    odds = np.array([[0.0, 5.0, -2.0], [-5.0, 0.0, 1.0], [2.0, -1.0, 0.0]])
    assert solved(odds).share == pytest.approx([1 / 8, 2 / 8, 5 / 8], abs=1e-6)


def test_a_dominated_player_gets_nothing() -> None:
    found = by_name(
        rate(written(f"{RPS}, rock-loser WWW, paper-loser WW, scissors-loser W"), nash=True)
    )
    assert found["loser"].nash == 0
    # Odds of 7, 5 and 3 to 1 against it.
    average = 400 / 3 * sum(math.log10(odds) for odds in (7, 5, 3))
    assert found["loser"].nash_skill == pytest.approx(-average, abs=1e-3)
    assert found["rock"].nash == pytest.approx(1 / 3, abs=1e-9)


@pytest.mark.parametrize("players", [2, 3, 10, 60])
def test_a_ladder_is_its_best_player(players: int) -> None:
    elo = np.linspace(0.05 * players, 0, players)
    found = solved(elo[:, None] - elo)
    assert found.share.tolist() == [1.0] + [0.0] * (players - 1)
    assert found.skill == pytest.approx(elo - elo[0], abs=1e-9)


def test_who_never_met_the_best_of_a_ladder_is_not_its_equal() -> None:
    assert shares("a-b WWWWW, b-c WWWWW, c-d WWWWW") == {"a": 1, "b": 0, "c": 0, "d": 0}
    ladder = shares("a-b WWWL, b-c WWWL, c-d WWWL")
    assert ladder == {"a": 1, "b": 0, "c": 0, "d": 0}


def test_who_cannot_be_compared_shares() -> None:
    assert shares("a-b WW, x-y WW") == pytest.approx({"a": 0.5, "b": 0, "x": 0.5, "y": 0}, abs=1e-6)


@pytest.mark.parametrize("copies", [2, 3, 20])
def test_copies_share_alike_and_change_nothing_for_others(copies: int) -> None:
    which = [0] * copies + [1, 2]
    found = solved(CIRCLE[np.ix_(which, which)])
    due = [1 / 3 / copies] * copies + [1 / 3, 1 / 3]
    assert found.share == pytest.approx(due, abs=1e-7)
    best = solved(upper(np.ones((4, 4)))[np.ix_([0, 0, 0, 1, 2, 3], [0, 0, 0, 1, 2, 3])])
    assert best.share == pytest.approx([1 / 3] * 3 + [0] * 3, abs=1e-9)


def test_copies_in_a_table() -> None:
    text = RPS + "".join(
        f", rock{number}-scissors {'W' * 20}, paper-rock{number} {'W' * 20}" for number in (2, 3)
    )
    # That copies never met, or drew, is the same.
    for more in ("", ", rock-rock2 DD, rock2-rock3 WL, rock-rock3 D"):
        found = shares(text + more)
        for name in ("rock", "rock2", "rock3"):
            assert found[name] == pytest.approx(1 / 9, abs=1e-6)
        assert found["paper"] == pytest.approx(1 / 3, abs=1e-6)


def test_the_most_even_of_many_where_a_rival_sets_the_limit() -> None:
    # b loses to a, beats c three times as clearly: as long as ¾ are a, b gains nothing.
    odds = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 3.0], [0.0, -3.0, 0.0]])
    assert solved(odds).share == pytest.approx([0.75, 0, 0.25], abs=1e-6)
    # With equal odds the limit is where the mix is most even by itself.
    odds[1, 2], odds[2, 1] = 1, -1
    assert solved(odds).share == pytest.approx([0.5, 0, 0.5], abs=1e-6)


# What holds of all.


@pytest.mark.parametrize("seed", range(20))
def test_no_equilibrium_has_more_entropy(seed: int) -> None:
    """All corners of the set of equilibria by trying every support, then mixes of them."""
    rng = np.random.default_rng(seed)
    odds = upper(rng.integers(-1, 2, (6, 6)).astype(np.float64))
    found = solved(odds)
    corners = []
    for size in range(1, 7):
        for support in combinations(range(6), size):
            rows = np.vstack([odds[np.ix_(range(6), support)], np.ones(size)])
            due = np.append(np.zeros(6), 1.0)
            for active in combinations(range(6), size - 1):
                part = rows[[*active, 6]]
                if abs(np.linalg.det(part)) < 1e-9:
                    continue
                share = np.zeros(6)
                share[list(support)] = np.linalg.solve(part, due[[*active, 6]])
                if share.min() > -1e-12 and (odds @ share).max() < 1e-12:
                    corners.append(np.maximum(share, 0.0))
    assert corners
    best = max(
        entropy(weights @ np.array(corners))
        for weights in rng.dirichlet(np.full(len(corners), 0.3), 3_000)
    )
    assert entropy(found.share) >= best - 1e-6
    # And it is one of them, no mix of anything else.
    reach = np.array(corners).max(axis=0)
    assert found.share[reach == 0] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("players", [2, 7, 40, 200])
@pytest.mark.parametrize("games", [1, 4, 100_000])
def test_conditions_hold_for_many_players_and_few_games(players: int, games: int) -> None:
    rng = np.random.default_rng(players + games)
    won = rng.binomial(games, 0.5, (players, players))
    solved(upper(np.log((won + 0.5) / (games - won + 0.5))))
    # A tenth of the games of a large table: mostly draws by default.
    seen = rng.random((players, players)) < 0.1
    solved(upper(np.where(seen, np.log((won + 0.5) / (games - won + 0.5)), 0.0)))


def test_odds_are_antisymmetric_and_finite() -> None:
    games = simulated([0, 100, 300, 2_000], 5, random.Random(1))
    counts = count(games)
    odds = log_odds(counts, np.zeros((4, 4)))
    assert np.array_equal(odds, -odds.T)
    assert np.isfinite(odds).all()
    mirrored = counts._replace(outcomes=counts.outcomes[[2, 1, 0, 5, 4, 3]])
    assert log_odds(mirrored, np.zeros((4, 4))) == pytest.approx(-odds)


def test_neither_order_nor_repetition_changes_it() -> None:
    luck = random.Random(5)
    rows: list[Row] = [
        (f"p{one}", f"p{other}", luck.choice([0, 1, 2]), SINGLE)
        for one, other in combinations(range(9), 2)
        for _ in range(3)
    ]
    first = rate(from_rows(rows), nash=True)
    assert rate(from_rows(rows), nash=True) == first
    luck.shuffle(rows)
    assert rate(from_rows(rows), nash=True) == first


def test_the_rest_of_the_table_is_the_same() -> None:
    games = simulated([0, 50, 120, 400], 10, random.Random(2))
    plain, more = rate(games), rate(games, nash=True)
    without = [
        msgspec.structs.replace(player, nash=None, nash_skill=None) for player in more.players
    ]
    assert without == plain.players
    assert (plain.nash, more.nash) == (False, True)


# Little to go by.


def test_nobody_and_one_and_no_games() -> None:
    assert rate(from_rows([]), nash=True).players == []
    assert equilibrium(np.zeros((0, 0))).share.tolist() == []
    assert equilibrium(np.zeros((1, 1))) == Mix(np.ones(1), np.zeros(1))
    for names in (["a"], ["a", "b", "c"]):
        found = rate(from_rows([], names), nash=True).players
        assert [(player.nash, player.nash_skill) for player in found] == [(None, None)] * len(names)


def test_without_games_there_is_no_part_in_it() -> None:
    found = by_name(rate(written("a-b WWW", ["a", "b", "silent"]), nash=True))
    assert (found["a"].nash, found["b"].nash, found["silent"].nash) == (1, 0, None)


def test_all_draws_are_even() -> None:
    found = rate(written("a-b DD, b-c DDD, c-d D"), nash=True).players
    assert [player.nash for player in found] == [0.25] * 4
    assert [player.nash_skill for player in found] == [0] * 4


def test_too_many_are_refused() -> None:
    names = [f"p{number}" for number in range(MOST_NASH + 1)]
    with pytest.raises(BadRating, match="at most 1000 players, and here are 1001"):
        rate(from_rows([("p0", "p1", 2, SINGLE)], names), nash=True)


@settings(max_examples=150)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcde"), st.sampled_from("abcde"), st.integers(0, 2), st.just(SINGLE)
        ),
        max_size=25,
    ),
    st.booleans(),
    st.dictionaries(st.sampled_from("ab"), st.sampled_from([0.0, -2000.0, 3000.0])),
)
def test_whatever_the_results(rows: list[Row], prior: bool, anchors: dict[str, float]) -> None:
    with np.errstate(all="raise", under="ignore"):
        games = from_rows(rows, list("abcde"))
        found = rate(games, prior=prior, anchors=anchors, advantage=prior, nash=True)
    assert all(math.isfinite(number) for number in numbers_in(msgspec.to_builtins(found)))
    given = [player for player in found.players if player.nash is not None]
    assert {player.name for player in given} == {
        player.name for player in found.players if player.games
    }
    if given:
        assert sum(player.nash or 0 for player in given) == pytest.approx(1)
    assert all((player.nash_skill or 0) <= 1e-4 for player in given)
