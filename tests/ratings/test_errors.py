"""How sure ratings are: as for two players, coverage by simulation, pairs, copies of one game."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from referee.ratings import davidson
from referee.ratings.games import SINGLE, Games
from referee.ratings.rating import rate
from referee.ratings.two_players import score
from tests.ratings.making import Row, by_name, elo_of, from_rows, rows_of, simulated, written

# Davidson's draws.


@pytest.mark.parametrize("q", [0.0, 0.01, 0.3, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("p", [0.001, 0.01, 0.3, 0.5, 0.8, 0.9999])
def test_davidson_by_its_definition(p: float, q: float) -> None:
    draw = float(davidson.draws(np.array([p]), q)[0])
    win, loss = p - draw / 2, 1 - p - draw / 2
    assert min(win, loss) >= 0
    assert draw == pytest.approx(2 * q / (1 - q) * math.sqrt(win * loss), rel=1e-6, abs=1e-12)
    spread = win * (1 - p) ** 2 + draw * (0.5 - p) ** 2 + loss * p**2
    assert davidson.variance(np.array([p]), q)[0] == pytest.approx(spread, rel=1e-6)


def test_the_share_of_draws_between_equals_is_found() -> None:
    means, games = np.array([0.5, 0.7, 0.95]), np.array([100.0, 50.0, 20.0])
    drawn = float(games @ davidson.draws(means, 0.37))
    assert davidson.draw_rate(means, games, drawn) == pytest.approx(0.37, abs=1e-8)
    assert davidson.draw_rate(means, games, 0.0) == 0.0
    # All drawn, and more than can be: less than 1 all the same.
    assert 0.99 < davidson.draw_rate(means, games, 170.0) < 1
    assert davidson.draw_rate(np.empty(0), np.empty(0), 0.0) == 0.0


# Two players: the table and the match tell the same.


@pytest.mark.parametrize("seed", range(4))
def test_two_players_as_in_a_match(seed: int) -> None:
    games = simulated([60.0, 0.0], 40, random.Random(seed), shared=0.3 * seed)
    match = score(
        (row[3], row[2] / 2 if row[0] == "p0" else 1 - row[2] / 2) for row in rows_of(games)
    )
    table = by_name(rate(games, anchors={"p1": 0.0}))["p0"]
    assert match.elo is not None and match.err95 is not None
    assert table.elo == pytest.approx(match.elo, abs=1e-6)
    # There Elo(μ + 1.96·se) − Elo(μ − 1.96·se), here the slope: alike while errors are small.
    assert table.err95 == pytest.approx(match.err95, rel=0.05)
    ahead = rate(games).players[0]
    sure = match.superiority if ahead.name == "p0" else 1 - match.superiority
    assert ahead.superiority == pytest.approx(sure, abs=0.02)


# Coverage.


def coverage(elo: list[float], pairs: int, tables: int, shared: float) -> tuple[float, float]:
    """The share of 95 % intervals that hold the truth, and their average size."""
    luck = random.Random(17)
    held = 0
    sizes = []
    for _ in range(tables):
        for player in rate(simulated(elo, pairs, luck, draws=0.3, shared=shared)).players:
            assert player.elo is not None and player.err95 is not None
            held += abs(player.elo - elo[int(player.name[1:])]) <= player.err95
            sizes.append(player.err95)
    return held / len(sizes), sum(sizes) / len(sizes)


@pytest.mark.parametrize("shared", [0.0, 0.7])
def test_95_percent_are_95(shared: float) -> None:
    # 120 tables of four: 480 intervals, not independent; one standard error is about 1.3 %.
    share, _ = coverage([120.0, 20.0, -40.0, -100.0], 30, 120, shared)
    assert 0.915 <= share <= 0.985


def test_games_of_a_pair_that_make_up_for_each_other_narrow_the_interval() -> None:
    games = simulated([80.0, 0.0, -80.0], 100, random.Random(3), shared=0.8)
    singles = games._replace(pair=np.full_like(games.pair, SINGLE))
    in_pairs, apart = by_name(rate(games)), by_name(rate(singles))
    for name, player in in_pairs.items():
        alone = apart[name]
        assert player.elo == alone.elo
        assert player.err95 is not None and alone.err95 is not None
        assert player.err95 < 0.8 * alone.err95


def test_without_shared_luck_pairs_change_little() -> None:
    games = simulated([80.0, 0.0, -80.0], 200, random.Random(5))
    singles = games._replace(pair=np.full_like(games.pair, SINGLE))
    in_pairs, apart = by_name(rate(games)), by_name(rate(singles))
    for name, player in in_pairs.items():
        assert player.err95 == pytest.approx(apart[name].err95, rel=0.15)


def test_draws_narrow_the_interval() -> None:
    # The same points from 40 decided games, and from 20 that were drawn among them.
    decided, drawn = rate(written("a-b " + "WL" * 20)), rate(written("a-b " + "WDLD" * 10))
    assert drawn.players[0].err95 == pytest.approx(
        decided.players[0].err95 / math.sqrt(2),  # type: ignore[operator]
        rel=1e-6,
    )


# Copies of one game.


def copies(players: str, pairs: int) -> Games:
    """Every two players beat each other from the first seat, in every pair."""
    rows: list[Row] = []
    for low, one in enumerate(players):
        for other in players[low + 1 :]:
            for pair in range(pairs):
                rows += [(one, other, 2, pair), (other, one, 2, pair)]
    return from_rows(rows)


@pytest.mark.parametrize("players", ["ab", "abcde"])
def test_identical_games_do_not_give_certainty(players: str) -> None:
    found = rate(copies(players, 1000))
    for player in found.players:
        assert player.err95 is not None
        assert player.err95 > 0.1
        assert player.superiority in (0.5, None)
        assert (player.rank, player.rank_best, player.rank_worst) == (1, 1, len(players))


def test_the_floor_is_that_of_a_match() -> None:
    match = score((pair, 1.0 if seat else 0.0) for pair in range(500) for seat in range(2))
    table = by_name(rate(copies("ab", 500), anchors={"b": 0.0}))["a"]
    assert table.err95 == pytest.approx(match.err95, rel=1e-3)


def test_all_draws_leave_some_doubt() -> None:
    found = rate(written("a-b DDDD, b-c DDDD, c-a DDDD"))
    assert elo_of(found) == {"a": 0.0, "b": 0.0, "c": 0.0}
    assert all(player.err95 and 20 < player.err95 < 400 for player in found.players)


# What follows.


def test_superiority_and_rank_ranges_of_clear_and_of_close_players() -> None:
    found = rate(simulated([300.0, 5.0, 0.0, -300.0], 150, random.Random(8)))
    best, second, third, last = found.players
    assert (best.name, last.name) == ("p0", "p3")
    assert [(player.rank_best, player.rank_worst) for player in found.players] == [
        *((1, 1), (2, 3), (2, 3), (4, 4)),
    ]
    assert best.superiority is not None and best.superiority > 0.999
    assert second.superiority is not None and 0.5 <= second.superiority < 0.975
    assert third.superiority is not None and third.superiority > 0.999
    assert last.superiority is None


def test_an_error_relative_to_an_anchor_is_that_of_the_difference() -> None:
    games = simulated([50.0, 0.0], 50, random.Random(9))
    middle, held = by_name(rate(games)), by_name(rate(games, anchors={"p1": 0.0}))
    # Of two players each is half the difference from their mean.
    assert held["p0"].err95 == pytest.approx(2 * (middle["p0"].err95 or 0), rel=1e-6)


def test_the_average_opponent() -> None:
    found = by_name(rate(written("a-b WWWL, a-c WD, b-c WL")))
    elo = {name: player.elo or 0.0 for name, player in found.items()}
    assert found["a"].opponents == pytest.approx((4 * elo["b"] + 2 * elo["c"]) / 6)
    assert found["c"].opponents == pytest.approx((2 * elo["a"] + 2 * elo["b"]) / 4)
