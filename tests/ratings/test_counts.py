"""Counting: by hand, against plain loops, and the sum of parts."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from referee.ratings.counts import PRODUCTS, Counts, add, count
from referee.ratings.games import SINGLE
from tests.ratings.making import Row, from_rows

NAMES = ["d", "a", "c", "b"]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
        st.integers(0, 2),
        st.sampled_from([SINGLE, 0, 1, 7, 2**60, 2**63 - 1]),
    ),
    max_size=40,
)


def same(one: Counts, other: Counts) -> bool:
    columns = zip(one[1:], other[1:], strict=True)
    return one.players == other.players and all(np.array_equal(a, b) for a, b in columns)


def test_one_pair_by_hand() -> None:
    # b is second in name: in seat 0 it won, then lost half a point in seat 1. For a (`low`): no
    # half points of its one game in seat 1, one of its one game in seat 0.
    found = count(from_rows([("b", "a", 2, 3), ("a", "b", 1, 3)]))
    assert found.players == ["a", "b"]
    assert (found.low.tolist(), found.high.tolist()) == ([0], [1])
    assert found.outcomes[:, 0].tolist() == [0, 1, 0, 1, 0, 0]
    assert found.clusters.tolist() == [1]
    moments = dict(zip(PRODUCTS, found.moments[:, 0].tolist(), strict=True))
    assert moments == {
        **dict.fromkeys(("s1s1", "s1n1", "s1n2", "n1n1", "n1n2", "n2n2"), 1),
        **dict.fromkeys(("s1s2", "s2s2", "s2n1", "s2n2"), 0),
    }


@given(ROWS)
def test_against_plain_loops(rows: list[Row]) -> None:
    found = count(from_rows(rows, NAMES))
    clusters: dict[tuple[str, str], dict[object, list[int]]] = defaultdict(dict)
    outcomes: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * 6)
    for number, (first, second, points, pair) in enumerate(rows):
        if first == second:
            continue
        key = (min(first, second), max(first, second))
        swapped = first > second
        mine = 2 - points if swapped else points
        outcomes[key][3 * swapped + mine] += 1
        group = ("single", number) if pair == SINGLE else pair
        sums = clusters[key].setdefault(group, [0, 0, 0, 0])
        sums[swapped] += mine
        sums[2 + swapped] += 1
    keys = [
        (found.players[low], found.players[high])
        for low, high in zip(found.low.tolist(), found.high.tolist(), strict=True)
    ]
    assert keys == sorted(outcomes)
    order = ("s1", "s2", "n1", "n2")
    for at, key in enumerate(keys):
        assert found.outcomes[:, at].tolist() == outcomes[key]
        assert found.clusters[at] == len(clusters[key])
        for product, seen in zip(PRODUCTS, found.moments[:, at].tolist(), strict=True):
            one, other = order.index(product[:2]), order.index(product[2:])
            assert seen == sum(sums[one] * sums[other] for sums in clusters[key].values())


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_games_and_players_does_not_matter(rows: list[Row], luck: object) -> None:
    shuffled, names = list(rows), list(NAMES)
    luck.shuffle(shuffled)  # type: ignore[attr-defined]
    luck.shuffle(names)  # type: ignore[attr-defined]
    assert same(count(from_rows(rows, NAMES)), count(from_rows(shuffled, names)))


@given(ROWS, ROWS)
def test_the_sum_of_parts_is_the_count_of_all(one: list[Row], other: list[Row]) -> None:
    # Pairs do not reach from one part into another, so theirs get other numbers.
    apart = [(*row[:3], row[3] if row[3] == SINGLE else row[3] // 2 + 100) for row in other]
    all_of_it = count(from_rows([*[r for r in one if r[3] < 100], *apart], NAMES))
    parts = [count(from_rows([r for r in one if r[3] < 100], NAMES)), count(from_rows(apart))]
    assert same(add(parts), add([all_of_it]))
    assert same(add([all_of_it]), all_of_it)


def test_nothing_is_a_sum_too() -> None:
    assert add([]).players == []
    assert len(add([]).low) == 0
    assert len(count(from_rows([], ["a", "b"])).low) == 0


def test_who_met_is_found() -> None:
    found = count(from_rows([("a", "c", 2, -1), ("b", "c", 2, -1), ("a", "b", 0, -1)]))
    assert [found.find(0, 1), found.find(0, 2), found.find(1, 2)] == [0, 1, 2]
    assert count(from_rows([("a", "c", 2, -1)], ["a", "b", "c"])).find(1, 2) is None
    assert count(from_rows([("a", "c", 2, -1)], ["a", "b", "c"])).find(0, 1) is None
