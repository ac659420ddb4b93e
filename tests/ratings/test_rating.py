"""Any games at all: no exception, no NaN, and what holds of every table."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.ratings.counts import add, count
from referee.ratings.games import SINGLE, Games
from referee.ratings.ranks import RankBy
from referee.ratings.rating import Ratings, rate, rate_counts
from tests.ratings.making import by_name, from_rows, numbers_in, rows_of, simulated, written

NAMES = ["e", "b", "d", "a", "c"]


@st.composite
def any_games(draw: st.DrawFn) -> Games:
    players = NAMES[: draw(st.integers(0, 5))]
    if not players:
        return from_rows([])
    name = st.sampled_from(players)
    # Often only a few of the possible results, else hardly any table would be degenerate.
    points = st.sampled_from(draw(st.sampled_from([[2], [1], [0, 2], [2, 2, 2, 1], [0, 1, 2]])))
    pair = st.sampled_from([SINGLE, 0, 1, 2])
    return from_rows(draw(st.lists(st.tuples(name, name, points, pair), max_size=40)), players)


class Options(msgspec.Struct):
    advantage: bool
    prior: bool
    rank_by: RankBy
    anchors: dict[str, float]


@st.composite
def games_and_options(draw: st.DrawFn) -> tuple[Games, Options]:
    games = draw(any_games())
    elo = st.sampled_from([0.0, 100.0, -2000.0, 3000.0])
    anchors = st.dictionaries(st.sampled_from(games.players), elo, max_size=3)
    return games, Options(
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.sampled_from(["elo", "points"])),
        draw(anchors) if games.players else {},
    )


def rated(games: Games, options: Options) -> Ratings:
    return rate(games, **msgspec.structs.asdict(options))


@settings(max_examples=400)
@given(games_and_options())
def test_whatever_the_results(case: tuple[Games, Options]) -> None:
    games, options = case
    with np.errstate(all="raise", under="ignore"):
        found = rated(games, options)
    assert all(math.isfinite(number) for number in numbers_in(msgspec.to_builtins(found)))
    assert sorted(player.name for player in found.players) == sorted(games.players)
    played = [row for row in rows_of(games) if row[0] != row[1]]
    assert sum(player.points for player in found.players) == len(played)
    for player in found.players:
        assert player.games == sum(player.name in row[:2] for row in played)
        assert player.games == player.wins + player.draws + player.losses
        assert player.points == player.wins + player.draws / 2
        assert player.superiority is None or 0 <= player.superiority <= 1
        assert player.err95 is None or player.err95 >= 0
        assert (player.bound is None) == (player.bound_elo is None)
        assert player.elo is None or player.bound is None
        assert player.games > 0 or player.elo is None


@settings(max_examples=300)
@given(games_and_options())
def test_ranks_and_their_ranges(case: tuple[Games, Options]) -> None:
    found = rated(*case)
    ranks = [player.rank for player in found.players]
    for at, player in enumerate(found.players):
        # Equal ranks are shared, and the next one says how many are before it.
        assert player.rank in (at + 1, ranks[at - 1] if at else 1)
        assert 1 <= player.rank_best <= player.rank <= player.rank_worst <= len(ranks)
    if case[1].rank_by == "elo":
        for pool in found.pools:
            elo = [by_name(found)[name].elo or 0.0 for name in pool.players]
            assert all(one >= other - 1e-6 for one, other in pairwise(elo))
    else:
        points = [player.points for player in found.players if player.games]
        assert points == sorted(points, reverse=True)


@settings(max_examples=300)
@given(games_and_options())
def test_pools(case: tuple[Games, Options]) -> None:
    games, options = case
    found = rated(games, options)
    players = by_name(found)
    inside = [name for pool in found.pools for name in pool.players]
    assert len(inside) == len(set(inside))
    assert set(inside) == {name for name, player in players.items() if player.elo is not None}
    for number, pool in enumerate(found.pools):
        elo = [players[name].elo or 0.0 for name in pool.players]
        assert {players[name].pool for name in pool.players} == {number}
        held = [name for name in pool.players if name in options.anchors]
        assert pool.anchored == bool(held)
        for name in held:
            assert (players[name].elo, players[name].err95) == (options.anchors[name], 0.0)
        if not held:
            assert sum(elo) == pytest.approx(0, abs=1e-6)
    assert found.prior == options.prior
    assert options.advantage or found.advantage is None


@settings(max_examples=200)
@given(games_and_options(), st.randoms(use_true_random=False))
def test_the_order_of_games_changes_no_digit(
    case: tuple[Games, Options], luck: random.Random
) -> None:
    games, options = case
    rows, players = rows_of(games), list(games.players)
    luck.shuffle(rows)
    luck.shuffle(players)
    shuffled = rated(from_rows(rows, players), options)
    assert msgspec.json.encode(shuffled) == msgspec.json.encode(rated(games, options))


@settings(max_examples=100)
@given(any_games(), st.booleans())
def test_who_wins_everywhere_loses_everywhere_when_all_is_turned_around(
    games: Games, prior: bool
) -> None:
    found = by_name(rate(games, prior=prior))
    turned = by_name(rate(games._replace(points=2 - games.points), prior=prior))
    other_bound = {">": "<", "<": ">", None: None}
    for name, player in found.items():
        mirror = turned[name]
        assert mirror.bound == other_bound[player.bound]
        for one, other, sign in (
            (player.elo, mirror.elo, -1),
            (player.bound_elo, mirror.bound_elo, -1),
            (player.err95, mirror.err95, 1),
        ):
            assert (one is None) == (other is None)
            if one is not None and other is not None:
                assert one == pytest.approx(sign * other, rel=1e-6, abs=1e-6)


def test_several_sets_of_games_together() -> None:
    # The same numbers of pairs in two variants are not the same pairs.
    luck = random.Random(6)
    parts = [simulated([50.0, 0.0, -50.0], 20, luck, shared=0.5) for _ in range(2)]
    rows = [
        (first, second, points, pair + 1000 * number)
        for number, part in enumerate(parts)
        for first, second, points, pair in rows_of(part)
    ]
    assert rate_counts(add([count(part) for part in parts])) == rate(from_rows(rows))


def test_a_table_without_anything() -> None:
    for players in ([], ["a"], ["a", "b"]):
        found = rate(from_rows([], players), advantage=True)
        assert [player.name for player in found.players] == players
        assert (found.pools, found.advantage, found.cycles) == ([], None, None)
        assert all(player.rank == 1 for player in found.players)


def test_a_small_table_by_hand() -> None:
    found = rate(written("a-b WWL, b-a D"))
    best, last = found.players
    assert (best.name, best.wins, best.draws, best.losses, best.points) == ("a", 2, 1, 1, 2.5)
    assert (last.name, last.wins, last.draws, last.losses, last.points) == ("b", 1, 1, 2, 1.5)
    difference = 400 * math.log10(2.5 / 1.5)
    assert best.elo == pytest.approx(difference / 2, abs=1e-6)
    # Residuals ⅜, ⅜, −⅝ and −⅛: squares 11/16, times 4/3 for four games is 0.9167; at least a
    # point, but no more than games without draws would give, and so it is 4·⅝·⅜ = 0.9375. That is
    # the Hessian as well: the error is 1/√0.9375, and half of it to the middle.
    error = 1.959964 / math.sqrt(0.9375) * 400 / math.log(10) / 2
    assert best.err95 == pytest.approx(error, rel=1e-6)
    assert best.superiority == pytest.approx(
        0.5 * (1 + math.erf(difference * math.log(10) / 400 * math.sqrt(0.9375 / 2))), rel=1e-6
    )


def test_ranges_know_who_won_every_game() -> None:
    """Two pools: a and b draw with each other and win all against c and d, who win one each."""
    rows = []
    for pair in range(6):
        for first, second, points in (
            *(("a", "b", 1), ("a", "c", 2), ("a", "d", 2), ("b", "c", 2), ("b", "d", 2)),
            ("c", "d", 2 * (pair % 2)),
        ):
            rows += [(first, second, points, pair), (second, first, 2 - points, pair)]
    found = {player.name: player for player in rate(from_rows(rows)).players}
    ranges = {name: (each.rank_best, each.rank_worst) for name, each in found.items()}
    assert ranges == {"a": (1, 2), "b": (1, 2), "c": (3, 4), "d": (3, 4)}
    few = rate(from_rows([row for row in rows if row[3] < 4])).players
    assert {player.rank_worst for player in few} == {4}, "four pairs are too few to be sure"
