"""Time buckets: exact where it is cheap, within 1/64 elsewhere, without gaps."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.store.buckets import Spent, bucket_of, count_times, times_of, value_of
from referee.store.rows import TimesRow
from tests.store.sample import game

TIMES = st.integers(0, 2**50)


@pytest.mark.parametrize(
    ("us", "bucket"),
    [(0, 0), (63, 63), (64, 64), (65, 64), (66, 65), (127, 95), (128, 96), (131, 96), (132, 97)],
)
def test_a_time_has_the_bucket_that_the_head_of_the_file_gives(us: int, bucket: int) -> None:
    assert bucket_of(us) == bucket


def test_buckets_have_no_gap() -> None:
    found = [bucket_of(us) for us in range(100_000)]
    assert sorted(set(found)) == list(range(found[-1] + 1))
    assert found == sorted(found)


@given(TIMES)
def test_the_middle_of_a_bucket_is_near_every_time_in_it(us: int) -> None:
    assert abs(value_of(bucket_of(us)) - us) <= us / 64


@given(st.integers(0, 1500))
def test_the_middle_of_a_bucket_is_in_it(bucket: int) -> None:
    assert bucket_of(value_of(bucket)) == bucket


@given(st.lists(st.lists(st.tuples(st.integers(0, 1), TIMES), max_size=40), max_size=4))
def test_times_are_counted_by_bot_and_bucket(games: list[list[tuple[int, int]]]) -> None:
    records = [Spent([(seat, 1) for seat, _ in game], [us for _, us in game]) for game in games]
    expected = [
        Counter(bucket_of(us) for game in games for seat, us in game if seat == wanted)
        for wanted in (0, 1)
    ]
    assert list(count_times(3, (8, 5), records)) == [
        TimesRow(3, bot, dict(moves)) for bot, moves in zip((8, 5), expected, strict=True)
    ]


def test_what_is_no_record_has_no_times() -> None:
    rows = [game(1), game(2, times=([5], [70, 70])), game(3)._replace(record=b"\x80")]
    assert list(times_of(rows)) == [TimesRow(1, 2, {5: 1}), TimesRow(1, 1, {bucket_of(70): 2})]
