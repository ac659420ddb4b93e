"""The most likely strengths: closed forms, a slow reference, known truth, hard cases."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest

from referee.ratings.rating import rate
from tests.ratings.making import (
    Row,
    by_name,
    elo_of,
    from_rows,
    rows_of,
    simulated,
    slow_reference,
    written,
)

EXACT = 1e-6
"""Elo."""


@pytest.mark.parametrize(("won", "lost"), [(1, 1), (3, 1), (70, 30), (999, 1), (1, 50_000)])
def test_two_players_have_a_closed_form(won: int, lost: int) -> None:
    found = elo_of(rate(written(f"a-b {'W' * won}{'L' * lost}")))
    assert found["a"] - found["b"] == pytest.approx(400 * math.log10(won / lost), abs=EXACT)


def test_one_draw_in_a_million_wins() -> None:
    found = elo_of(rate(written(f"a-b {'W' * 1_000_000}, b-a D")))
    assert found["a"] - found["b"] == pytest.approx(400 * math.log10(1_000_000.5 / 0.5), abs=EXACT)


def test_a_ladder_is_the_sum_of_its_rungs() -> None:
    # No circles: every two neighbours are alone with their games, 3 : 1 each, over 60 rungs.
    names = [f"p{number:02}" for number in range(61)]
    pairs = pairwise(names)
    found = elo_of(rate(written(", ".join(f"{one}-{other} WWWL" for one, other in pairs))))
    assert found["p00"] - found["p60"] == pytest.approx(60 * 400 * math.log10(3), abs=1e-5)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("advantage", [False, True])
@pytest.mark.parametrize("prior", [False, True])
@pytest.mark.parametrize("anchors", [{}, {"p1": 1500.0}, {"p0": 100.0, "p3": -40.0}])
def test_as_the_slow_reference(
    seed: int, advantage: bool, prior: bool, anchors: dict[str, float]
) -> None:
    luck = random.Random(seed)
    elo = [luck.gauss(0, 200) for _ in range(5)]
    rows = rows_of(simulated(elo, 20, luck, advantage=80))
    # Nothing regular: some pairings were played little, some from one seat only.
    rows = [row for row in rows if luck.random() < 0.2 + 0.2 * int(row[0][1])]
    found = rate(from_rows(rows), advantage=advantage, prior=prior, anchors=anchors)
    expected, seat = slow_reference(rows, advantage=advantage, prior=prior, anchors=anchors)
    assert elo_of(found) == pytest.approx(expected, abs=EXACT)
    if advantage:
        assert found.advantage == pytest.approx(seat, abs=EXACT)
    else:
        assert found.advantage is None


def test_the_advantage_is_recovered() -> None:
    truth = [150.0, 0.0, -50.0, -100.0]
    found = rate(simulated(truth, 1000, random.Random(1), advantage=60), advantage=True)
    assert found.advantage is not None and found.advantage_err95 is not None
    # Six pairings of 2000 games: about ±6.
    assert 3 < found.advantage_err95 < 8
    assert abs(found.advantage - 60) < 2 * found.advantage_err95
    for name, elo in elo_of(found).items():
        assert elo == pytest.approx(truth[int(name[1:])], abs=15)


def test_an_advantage_that_was_ignored_does_no_harm_where_seats_are_swapped() -> None:
    games = simulated([100.0, 0.0, -100.0], 500, random.Random(4), advantage=100)
    with_it, without = elo_of(rate(games, advantage=True)), elo_of(rate(games))
    # Ignored it makes the better ones look a little worse, but moves nobody to one side.
    assert with_it["p0"] > without["p0"] > without["p1"] > without["p2"] > with_it["p2"]


def test_one_anchor_is_a_shift() -> None:
    games = simulated([100.0, 0.0, -100.0], 50, random.Random(2))
    free, held = elo_of(rate(games)), elo_of(rate(games, anchors={"p1": 2500.0}))
    assert held["p1"] == 2500.0
    for name, elo in free.items():
        assert held[name] - 2500 == pytest.approx(elo - free["p1"], abs=EXACT)


def test_anchors_that_the_results_contradict_stay_where_they_are() -> None:
    found = rate(written("a-b WWWL, b-c WD, a-c WL"), anchors={"a": 0.0, "b": 500.0})
    players = by_name(found)
    assert (players["a"].elo, players["b"].elo) == (0.0, 500.0)
    assert (players["a"].err95, players["b"].err95) == (0.0, 0.0)
    assert players["c"].elo is not None
    assert 0 < players["c"].elo < 500
    assert found.pools[0].anchored


@pytest.mark.parametrize(
    "games",
    [
        "a-b WWWW, b-a WWWW",  # the first seat wins all: no bounds
        "a-b WWWW, b-a DDDD",  # a direction in strengths and advantage together has none
        "a-b WWLW",  # nobody swapped seats: strength and advantage are one
        "a-b WL, b-c WL, c-d WL",  # nor here, along a chain
        "a-b D",
        f"a-b {'W' * 1000}, b-a D",
    ],
)
def test_an_advantage_that_games_do_not_tell_is_held(games: str) -> None:
    found = rate(written(games), advantage=True)
    assert found.advantage is not None and found.advantage_err95 is not None
    assert abs(found.advantage) < 2800
    assert 100 < found.advantage_err95 < 3000
    assert all(abs(elo) < 3000 for elo in elo_of(found).values())


def test_a_circle_tells_the_advantage_although_nobody_swapped_seats() -> None:
    # Around the circle the differences of strength add up to 0: what is left is the seat.
    rows: list[Row] = [
        (one, other, points, -1) for one, other in ("ab", "bc", "ca") for points in (2, 2, 2, 0)
    ]
    found = rate(from_rows(rows), advantage=True)
    assert found.advantage == pytest.approx(400 * math.log10(3), abs=EXACT)
    assert list(elo_of(found).values()) == pytest.approx([0, 0, 0], abs=EXACT)


def test_a_virtual_draw_pulls_towards_the_middle() -> None:
    games = written("a-b WWWL, b-c WWL, a-c WWD")
    plain, pulled = rate(games), rate(games, prior=True)
    assert (plain.prior, pulled.prior) == (False, True)
    assert 0 < elo_of(pulled)["a"] < elo_of(plain)["a"]
    assert 0 > elo_of(pulled)["c"] > elo_of(plain)["c"]
