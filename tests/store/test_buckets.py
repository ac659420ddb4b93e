"""Time buckets: exact where it is cheap, within 1/64 elsewhere, without gaps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.store.buckets import bucket_of, pack, pack_by_seat, unpack, value_of

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


@given(st.lists(TIMES))
def test_packed_times_are_buckets_again(times: list[int]) -> None:
    assert list(unpack(pack(times))) == [bucket_of(us) for us in times]


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 10_000_000)), max_size=40))
def test_times_by_seat(moves: list[tuple[int, int]]) -> None:
    first, second = pack_by_seat([seat for seat, _ in moves], [us for _, us in moves])
    assert first == pack([us for seat, us in moves if seat == 0])
    assert second == pack([us for seat, us in moves if seat == 1])


def test_times_by_seat_in_turn() -> None:
    assert pack_by_seat([0, 1, 0], [7, 8, 9]) == (pack([7, 9]), pack([8]))
