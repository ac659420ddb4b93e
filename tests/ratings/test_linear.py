"""Thousands of players are rated as few are: what is quick at size gives the same table."""

from __future__ import annotations

import random

import numpy as np
import pytest

from referee.ratings import linear
from referee.ratings.rating import Ratings, rate
from tests.ratings.making import from_rows, rows_of, simulated

BLOCK = 7
"""Smaller than the tables here, and no divisor of their sizes."""


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table is a large one."""
    monkeypatch.setattr(linear, "MANY", 0)
    monkeypatch.setattr(linear, "_BLOCK", BLOCK)


def definite(size: int, seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    square = np.random.default_rng(seed).normal(size=(size, size))
    return square @ square.T + np.eye(size)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("size", [1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 40])
def test_an_inverse_in_place(size: int) -> None:
    matrix = definite(size, size)
    found = matrix.copy()
    linear.invert(found)
    assert np.allclose(found @ matrix, np.eye(size), atol=1e-9)
    assert (found == found.T).all()


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("share", [0.02, 1.0])
def test_a_product_of_three(share: float) -> None:
    size, draw = 40, np.random.default_rng(3)
    inner = np.where(draw.random((size, size)) < share, draw.normal(size=(size, size)), 0.0)
    inner = inner + inner.T
    rows, columns = np.nonzero(inner)
    outer = definite(size, 4)
    found = linear.sandwich(outer, linear.Sparse.of(size, rows, columns, inner[rows, columns]))
    assert np.allclose(found, outer @ inner @ outer, rtol=1e-9, atol=1e-6)
    assert (found == found.T).all()


def test_conjugate_gradients() -> None:
    matrix, force = definite(30, 5), np.arange(30.0)
    found = linear.solve(lambda x: matrix @ x, np.diagonal(matrix), force)
    assert found is not None
    assert np.allclose(matrix @ found, force, atol=1e-8)


def test_what_conjugate_gradients_cannot_do_they_say() -> None:
    matrix = np.diag([1.0, -1.0])
    assert linear.solve(lambda x: matrix @ x, np.ones(2), np.array([1.0, 2.0])) is None


def assert_same(one: Ratings, other: Ratings) -> None:
    assert [player.name for player in one.players] == [player.name for player in other.players]
    for mine, theirs in zip(one.players, other.players, strict=True):
        assert (mine.rank, mine.rank_best, mine.rank_worst) == (
            *(theirs.rank, theirs.rank_best, theirs.rank_worst),
        )
        for value in ("elo", "err95", "superiority", "bound_elo", "opponents"):
            told = getattr(theirs, value)
            assert getattr(mine, value) == (told and pytest.approx(told, abs=1e-6)), value
    assert one.advantage == (other.advantage and pytest.approx(other.advantage, abs=1e-6))
    wide = other.advantage_err95
    assert one.advantage_err95 == (wide and pytest.approx(wide, abs=1e-6))
    assert (one.cycles is None) == (other.cycles is None)
    if one.cycles is not None and other.cycles is not None:
        assert one.cycles.chi2 == pytest.approx(other.cycles.chi2)
        assert one.cycles.cyclic_share == pytest.approx(other.cycles.cyclic_share)


@pytest.mark.parametrize("advantage", [False, True])
@pytest.mark.parametrize("prior", [False, True])
@pytest.mark.parametrize("anchors", [{}, {"p1": 1500.0}, {"p0": 100.0, "p13": -40.0}])
@pytest.mark.parametrize("kept", [0.03, 0.5])
def test_a_table_of_many_is_that_of_few(
    monkeypatch: pytest.MonkeyPatch,
    advantage: bool,
    prior: bool,
    anchors: dict[str, float],
    kept: float,
) -> None:
    """With few games there are perfect scores and several pools as well."""
    luck = random.Random(7)
    rows = rows_of(simulated([luck.gauss(0, 150) for _ in range(25)], 4, luck, advantage=50))
    games = from_rows(
        [row for row in rows if luck.random() < kept], [f"p{number}" for number in range(25)]
    )
    plain = rate(games, advantage=advantage, prior=prior, anchors=anchors)
    monkeypatch.setattr(linear, "MANY", 0)
    monkeypatch.setattr(linear, "_BLOCK", BLOCK)
    assert_same(rate(games, advantage=advantage, prior=prior, anchors=anchors), plain)


def test_where_turns_do_not_end_elimination_does(monkeypatch: pytest.MonkeyPatch) -> None:
    games = simulated([80.0, 40.0, 0.0, -40.0, -80.0], 10, random.Random(1))
    plain = rate(games)
    monkeypatch.setattr(linear, "MANY", 0)
    monkeypatch.setattr(linear, "_TURNS", 1)
    assert_same(rate(games), plain)
