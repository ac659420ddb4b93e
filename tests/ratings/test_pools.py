"""Who can be compared: perfect scores, pools, anchors that reach across, and the order of all."""

from __future__ import annotations

import random

import numpy as np
import pytest

from referee.ratings.pools import components
from referee.ratings.rating import TIE_BREAKS, BadRating, rate
from referee.ratings.two_players import elo, perfect_limit
from tests.ratings.making import by_name, elo_of, written


def names(text: str, **options: object) -> list[str]:
    return [player.name for player in rate(written(text), **options).players]  # type: ignore[arg-type]


# Perfect scores.


def test_a_perfect_score_is_a_bound_outside_the_mean() -> None:
    found = rate(written("top-a WWW, top-b WW, a-b WLD, a-low W, b-low WW"))
    players = by_name(found)
    assert [player.name for player in found.players] == ["top", "b", "a", "low"]
    assert elo_of(found) == pytest.approx({"a": 0.0, "b": 0.0}, abs=1e-6)
    assert found.pools[0].players == ["b", "a"]
    top, low = players["top"], players["low"]
    assert (top.elo, top.err95, top.bound) == (None, None, ">")
    assert (low.elo, low.err95, low.bound) == (None, None, "<")
    # Against opponents of 0 on average, 5 and 3 single games.
    assert top.bound_elo == pytest.approx(elo(perfect_limit(5)), abs=1e-6)
    assert low.bound_elo == pytest.approx(-elo(perfect_limit(3)), abs=1e-6)
    assert (top.pool, low.pool) == (0, 0)
    assert top.opponents == pytest.approx(0.0, abs=1e-6)


def test_others_do_not_feel_who_was_taken_out() -> None:
    inside = "a-b WWLD, b-c WLL, a-c WDD"
    alone = rate(written(inside))
    among = by_name(rate(written(f"{inside}, top-a WWWW, top-c W, b-low WW")))
    for player in alone.players:
        assert (among[player.name].elo, among[player.name].err95) == (player.elo, player.err95)


def test_after_one_is_out_another_may_be_perfect() -> None:
    found = rate(written("best-next W, best-a W, next-a WW, next-b W, a-b WL"))
    players = by_name(found)
    assert [player.name for player in found.players[:2]] == ["best", "next"]
    assert players["next"].bound == ">"
    # Its lost game against who was taken out before does not count.
    assert players["next"].bound_elo == pytest.approx(elo(perfect_limit(3)), abs=1e-6)
    # The next counts for the best with the next one's own bound.
    average = elo(perfect_limit(3)) / 2
    assert players["best"].bound_elo == pytest.approx(average + elo(perfect_limit(2)), abs=1e-6)


def test_more_pairs_say_more() -> None:
    few, many = (
        by_name(rate(written(f"top-a {'W' * games}, a-b WL")))["top"].bound_elo
        for games in (10, 50)
    )
    assert few is not None and many is not None
    assert many > few > 0


def test_everybody_perfect_is_a_table_in_order() -> None:
    found = rate(written("a-b WW, a-c WW, a-d WW, b-c WW, b-d WW, c-d WW"))
    assert [player.name for player in found.players] == ["a", "b", "c", "d"]
    assert [player.bound for player in found.players] == [">", ">", "<", "<"]
    assert [player.rank for player in found.players] == [1, 2, 3, 4]
    assert found.pools == []
    assert found.cycles is None
    assert all(0.5 < (player.superiority or 0) < 1 for player in found.players[:3])


def test_a_sure_perfect_score_excludes_ranks() -> None:
    found = by_name(rate(written(f"top-a {'W' * 200}, top-b {'W' * 200}, a-b {'WL' * 50}")))
    assert (found["top"].rank_best, found["top"].rank_worst) == (1, 1)
    assert (found["a"].rank_best, found["a"].rank_worst) == (2, 3)


# Pools.


@pytest.mark.parametrize("seed", range(20))
def test_components_against_reachability(seed: int) -> None:
    luck = random.Random(seed)
    size = luck.randrange(1, 12)
    edges = np.array([[luck.random() < 0.15 for _ in range(size)] for _ in range(size)])
    inside = np.array([luck.random() < 0.9 for _ in range(size)])
    reach = (edges | np.eye(size, dtype=bool)) & inside & inside[:, None]
    for middle in range(size):
        reach |= reach[:, [middle]] & reach[[middle], :]
    label = components(edges, inside)
    assert (label >= 0).tolist() == inside.tolist()
    for one in np.flatnonzero(inside):
        for other in np.flatnonzero(inside):
            together = bool(reach[one, other] and reach[other, one])
            assert (label[one] == label[other]) == together


def test_unconnected_pools_are_rated_apart() -> None:
    found = rate(written("a-b WWWL, x-y WL, y-z WD"))
    assert sorted(set(pool.players) for pool in found.pools) == [{"a", "b"}, {"x", "y", "z"}]
    for pool in found.pools:
        assert sum(elo_of(found)[name] for name in pool.players) == pytest.approx(0, abs=1e-6)
    assert elo_of(found)["a"] == pytest.approx(elo_of(rate(written("a-b WWWL")))["a"], abs=1e-6)
    players = by_name(found)
    assert found.pools[players["x"].pool or 0].players == found.pools[1].players
    # Nothing excludes that the one pool is wholly better than the other.
    assert {(player.rank_best, player.rank_worst) for player in found.players} == {(1, 5)}


def test_a_pool_that_won_every_game_stands_before_the_other() -> None:
    # c and d are 191 Elo apart and a and b are equal, but c lost its only game against b.
    found = rate(written("a-b WL, c-d WWWL, b-c W"))
    assert [player.name for player in found.players] == ["b", "a", "c", "d"]
    assert len(found.pools) == 2
    assert by_name(found)["a"].superiority is None


def test_between_two_pools_is_a_pool_of_one() -> None:
    found = rate(written("a-b WL, b-x W, x-c W, c-d WL"))
    assert [player.name for player in found.players] == ["b", "a", "x", "c", "d"]
    alone = by_name(found)["x"]
    assert (alone.elo, alone.err95, alone.bound, alone.pool) == (0.0, None, None, 1)
    assert found.pools[1].players == ["x"]


def test_virtual_draws_join_what_met_and_nothing_else() -> None:
    found = rate(written("a-b WWW, b-c WW, x-y W"), prior=True)
    assert [pool.players for pool in found.pools] == [["a", "b", "c"], ["x", "y"]]
    assert all(player.bound is None for player in found.players)


# Anchors.


def test_anchors_put_two_pools_on_one_scale() -> None:
    found = rate(written("a-b WWWL, x-y WL"), anchors={"a": 100.0, "x": 2000.0})
    assert [player.name for player in found.players] == ["x", "y", "a", "b"]
    assert len(found.pools) == 1
    assert found.pools[0].anchored
    assert elo_of(found)["y"] == pytest.approx(2000, abs=1e-6)
    assert elo_of(found)["b"] == pytest.approx(100 - 190.8485, abs=1e-3)
    assert by_name(found)["b"].rank_best == 3


def test_between_two_anchors_there_is_a_rating_without_a_circle() -> None:
    found = rate(written("a-c WWWW, c-b WWWW"), anchors={"a": 400.0, "b": 0.0})
    assert elo_of(found)["c"] == pytest.approx(200, abs=1e-6)


def test_an_anchor_with_a_perfect_score_holds_nothing() -> None:
    found = rate(written("a-b W, a-c W, b-c WL"), anchors={"a": 2800.0})
    assert by_name(found)["a"].bound == ">"
    assert not found.pools[0].anchored
    assert elo_of(found) == pytest.approx({"b": 0.0, "c": 0.0}, abs=1e-6)


def test_several_anchors_that_won_everything_hold_nothing() -> None:
    found = rate(written("a-b WLD, b-c WW, a-c W, c-d WL"), anchors={"a": 1.0, "b": 2.0})
    assert {player.bound for player in found.players[:2]} == {">"}
    assert elo_of(found) == pytest.approx({"c": 0.0, "d": 0.0}, abs=1e-6)


@pytest.mark.parametrize(
    ("anchors", "said"),
    [
        ({"nobody": 1.0}, "anchor 'nobody' is none of the players"),
        ({"a": float("nan")}, "anchor 'a' needs a number of Elo, not nan"),
        ({"a": float("inf")}, "anchor 'a' needs a number of Elo, not inf"),
    ],
)
def test_a_bad_anchor_is_named(anchors: dict[str, float], said: str) -> None:
    with pytest.raises(BadRating, match=f"^{said}$"):
        rate(written("a-b WL"), anchors=anchors)


def test_absurd_anchors_are_survived() -> None:
    found = rate(written("a-b WL, b-c D, a-c D"), anchors={"a": 0.0, "b": 1e6})
    assert np.isfinite(list(elo_of(found).values())).all()


# The order of the table.


def test_ties_are_shared_and_nothing_else() -> None:
    ranks = {player.name: player.rank for player in rate(written("a-b DD, c-d DDD, e-f D")).players}
    # Pools that nothing connects, all at 0 Elo: points tell them apart.
    assert ranks == {"c": 1, "d": 1, "a": 3, "b": 3, "e": 5, "f": 5}


def test_by_points_or_by_elo() -> None:
    # b and c played more games, and have most of their points from each other.
    games = "a-b WWL, a-c WWL, c-b WWLWLWLWLWLW"
    assert names(games) == ["a", "c", "b"]
    assert names(games, rank_by="points") == ["c", "b", "a"]
    assert set(TIE_BREAKS) == {"elo", "points"}


def test_by_points_ties_go_by_elo() -> None:
    # Two points each; x had them against the best.
    games = "x-best WWLL, y-low WWLL, best-low WWWL"
    order = names(games, rank_by="points")
    assert order.index("x") < order.index("y")


def test_players_without_games_come_last() -> None:
    found = rate(written("b-c WWL", ["a", "b", "c", "d"]))
    assert [player.name for player in found.players] == ["b", "c", "a", "d"]
    nobody = found.players[2]
    assert (nobody.elo, nobody.bound, nobody.pool, nobody.games) == (None, None, None, 0)
    assert [(player.rank, player.rank_worst) for player in found.players[2:]] == [(3, 4), (3, 4)]
    assert found.players[0].rank_worst == 2


def test_a_game_against_itself_tells_nothing() -> None:
    found = rate(written("a-a WWW, a-b WL"))
    assert [(player.games, player.elo) for player in found.players] == [(2, 0.0), (2, 0.0)]
