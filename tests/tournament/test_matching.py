"""Matchings: against all matchings there are, in graphs small enough to list them."""

from __future__ import annotations

import random
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from referee.tournament.formats.matching import ALONE, Matching


@st.composite
def acquaintances(draw: st.DrawFn) -> list[set[int]]:
    """Who has met whom among up to nine players."""
    count = draw(st.integers(1, 9))
    pairs = [(low, high) for high in range(count) for low in range(high)]
    met: list[set[int]] = [set() for _ in range(count)]
    for low, high in draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []:
        met[low].add(high)
        met[high].add(low)
    return met


def largest(met: list[set[int]]) -> int:
    """The pairs of a largest matching, by trying everything."""

    @cache
    def best(left: frozenset[int]) -> int:
        if len(left) < 2:
            return 0
        first = min(left)
        rest = left - {first}
        return max(
            best(rest),
            *(1 + best(rest - {other}) for other in rest if other not in met[first]),
            0,
        )

    return best(frozenset(range(len(met))))


def check(matching: Matching, met: list[set[int]]) -> None:
    for player, mate in enumerate(matching.mate):
        assert mate == ALONE or (matching.mate[mate] == player and mate not in met[player])


@settings(max_examples=300)
@given(acquaintances(), st.randoms(use_true_random=False))
def test_no_matching_is_larger(met: list[set[int]], luck: random.Random) -> None:
    order = list(range(len(met)))
    luck.shuffle(order)
    matching = Matching(met, order)
    check(matching, met)
    assert len(met) - len(matching.alone()) == 2 * largest(met)


@settings(max_examples=300)
@given(acquaintances(), st.data())
def test_a_pair_is_fixed_just_where_the_rest_can_be_matched(
    met: list[set[int]], data: st.DataObject
) -> None:
    matching = Matching(met, range(len(met)))
    alone = matching.alone()
    matching.leave_out(alone)
    left = [player for player in range(len(met)) if player not in alone]
    while left:
        first = data.draw(st.sampled_from(left))
        second = data.draw(st.sampled_from([each for each in left if each != first]))
        rest = [each for each in left if each not in (first, second)]
        among = [{rest.index(other) for other in met[player] if other in rest} for player in rest]
        possible = second not in met[first] and 2 * largest(among) == len(rest)
        assert matching.fix(first, second) is possible
        check(matching, met)
        if possible:
            left = rest
        else:
            # Somebody at least can always be fixed.
            assert matching.fix(first, matching.mate[first])
            left = [each for each in left if each not in (first, matching.mate[first])]


def test_two_triangles_joined_at_a_corner_each() -> None:
    """Odd cycles on both sides: a search that follows single paths only does not get through."""
    edges = {(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)}
    met = [
        {b for b in range(6) if b != a and (min(a, b), max(a, b)) not in edges} for a in range(6)
    ]
    matching = Matching(met, range(6))
    assert matching.alone() == []
    assert matching.mate == [1, 0, 3, 2, 5, 4]
