"""What is added is what is read: values, bots, pairings, games, faults, times."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from referee.store.buckets import bucket_of, times_of
from referee.store.database import Store
from referee.store.rows import GameRow, PairingRow, TimeCount, TimesRow
from tests.store.sample import BOTS, PAIRINGS, VALUES, fault, game, games, new_store

pytestmark = pytest.mark.usefixtures("each_kind")
SAME_SERVER = [HealthCheck.function_scoped_fixture]
"""It does for all examples of a test."""


def test_values_bots_and_pairings_are_kept(tmp_path: Path) -> None:
    with new_store(tmp_path / "made" / "on the way") as store:
        store.set_value("name", "four")
        store.set_value("finished", "now")
        store.set_bot(replace(BOTS[0], version="1.1"))
        store.set_games(2, 200)
        store.commit()
    with Store.read(tmp_path / "made" / "on the way") as store:
        assert store.value("name") == "four"
        assert store.value("finished") == "now"
        assert store.value("seed") == VALUES["seed"]
        assert store.value("nothing") is None
        assert store.bots() == [replace(BOTS[0], version="1.1"), *BOTS[1:]]
        assert store.pairings() == [PAIRINGS[0], replace(PAIRINGS[1], games=200), PAIRINGS[2]]


def test_games_come_out_in_order(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        assert store.add_games([*games(5, 6, 2), *games(3, 4)]) == 4
        assert store.add_games(games(1, 2)) == 2
        store.commit()
    with Store.read(tmp_path) as store:
        expected = [*games(1, 4), *games(5, 6, 2)]
        (chunk,) = store.columns()
        assert chunk == [(*row[:7], row.digest) for row in expected]
        assert list(store.records()) == [(row.pairing, row.number, row.record) for row in expected]
        assert list(store.records(2)) == [(2, 5, b"2/5"), (2, 6, b"2/6")]
        assert list(store.records(3)) == []
        assert store.record(1, 3) == b"1/3"
        assert store.record(2, 3) is None
        assert store.counts() == {1: 4, 2: 2}


def test_a_large_table_comes_in_chunks(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        store.add_games(games(1, 25_000))
        assert [len(chunk) for chunk in store.columns()] == [10_000, 10_000, 5_000]
        assert store.played(1) == [(1, 25_000)]


def test_a_repeat_is_passed_over_with_its_faults_and_times(tmp_path: Path) -> None:
    before = game(2, times=([5], [5]))
    again = [game(number, tag=" again", times=([500], [500])) for number in (1, 2, 3, 1)]
    counted = [TimesRow(1, bot, {bucket_of(500): 4}) for bot in (1, 2)]
    with new_store(tmp_path) as store:
        store.add_games([before], [fault(2, code="illegal")])
        store.commit()
        new = store.add_games(again, [fault(number) for number in (1, 2, 3)], counted)
        assert new == 2
        assert store.add_games(again, [fault(1)], counted) == 0
        store.commit()
    with Store.read(tmp_path) as store:
        kept = [again[0].record, before.record, again[2].record]
        assert [body for _, _, body in store.records()] == kept
        assert [(row.number, row.code) for row in store.faults()] == [
            (1, "timeout"),
            (2, "illegal"),
            (3, "timeout"),
        ]
        moves = {(row.bot, row.bucket): row.moves for row in store.times()}
        assert moves == {(bot, bucket_of(us)): n for us, n in ((5, 1), (500, 2)) for bot in (1, 2)}


def test_two_faults_in_one_game_are_both_kept(tmp_path: Path) -> None:
    told = [fault(1, seat=0), fault(1, seat=1, code="crash"), fault(1, pairing=2)]
    with new_store(tmp_path) as store:
        store.add_games([game(1), game(1, 2)], reversed(told))
        assert list(store.faults()) == told


def test_a_fault_of_a_game_that_is_not_there_is_not_kept(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        store.add_games(games(1, 2), [fault(7), fault(1, pairing=2)])
        assert list(store.faults()) == []


def test_times_are_added_up_over_batches_and_commits(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        for number in range(1, 11):
            row = game(number, times=([7, 7, 100], [9_000_000]))
            store.add_games([row], times=None if number % 3 else times_of([row]))
            if number % 4 == 0:
                store.commit()
        store.add_games([game(1, 3, times=([8], []))])
        seen = list(store.times())
        store.commit()
    # Seats are swapped in every second game, so both bots have five of each.
    expected = [
        TimeCount("underdog", bot, bucket, moves)
        for bot in (1, 2)
        for bucket, moves in ((7, 10), (bucket_of(100), 5), (bucket_of(9_000_000), 5))
    ]
    with Store.read(tmp_path) as store:
        assert list(store.times()) == seen == [TimeCount("duel", 2, 8, 1), *expected]


def test_what_is_not_committed_is_not_there(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        store.add_games([game(1, times=([7], []))])
        store.commit()
        store.add_games([game(2, times=([7], []))], [fault(2)])
    with Store.open(tmp_path) as store:
        assert store.played(1) == [(1, 1)]
        assert list(store.faults()) == []
        assert [row.moves for row in store.times()] == [1]


def test_a_batch_that_fails_is_undone_and_the_ones_before_it_stay(tmp_path: Path) -> None:
    broken = game(4)._replace(ending=None)  # type: ignore[arg-type]
    with new_store(tmp_path) as store:
        store.add_games(games(1, 2))
        with pytest.raises(store._database.IntegrityError):
            store.add_games([game(3, times=([7], [])), broken])
        with pytest.raises(ValueError, match="no such pairing"):
            store.add_games([game(5), game(1)._replace(pairing=9)])
        with pytest.raises(ValueError, match="no such bot"):
            store.add_games([game(5), game(1)._replace(first=3)])
        store.commit()
    with Store.read(tmp_path) as store:
        assert store.played(1) == [(1, 2)]
        assert [number for _, number, _ in store.records()] == [1, 2]
        assert list(store.times()) == []


def test_a_pairing_can_be_added_while_games_are(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        store.add_games(games(1, 2))
        store.add_pairings([PairingRow(4, 3, "duel", 1, 2, 10)])
        store.add_games([game(1)._replace(pairing=4)])
        with pytest.raises(store._database.IntegrityError):
            store.add_pairings([PairingRow(5, 3, "duel", 1, 77, 10)])
        store.commit()
        assert store.counts() == {1: 2, 4: 1}
        assert [pairing.id for pairing in store.pairings()] == [1, 2, 3, 4]


def test_a_store_that_is_read_cannot_be_written(tmp_path: Path) -> None:
    new_store(tmp_path).close()
    with Store.read(tmp_path) as store:
        with pytest.raises(RuntimeError):
            store.set_value("name", "x")
        with pytest.raises(RuntimeError):
            store.commit()


def test_a_store_can_be_closed_twice(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    store.close()
    store.close()
    Store.open(tmp_path).close()


def ranges(numbers: set[int]) -> list[tuple[int, int]]:
    """The model: where a number has no neighbour, a range begins or ends."""
    begins = sorted(number for number in numbers if number - 1 not in numbers)
    ends = sorted(number for number in numbers if number + 1 not in numbers)
    return list(zip(begins, ends, strict=True))


@settings(max_examples=25, suppress_health_check=SAME_SERVER)
@given(
    st.lists(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 25)), max_size=12), max_size=6)
)
def test_played_is_what_a_set_would_hold(batches: list[list[tuple[int, int]]]) -> None:
    with tempfile.TemporaryDirectory() as folder, new_store(Path(folder)) as store:
        first: dict[tuple[int, int], GameRow] = {}
        for batch, numbers in enumerate(batches):
            rows = [game(number, pairing, f" {batch}") for pairing, number in numbers]
            before = len(first)
            for row in rows:
                first.setdefault((row.pairing, row.number), row)
            assert store.add_games(rows) == len(first) - before
        for pairing in (1, 2, 3):
            held = {number for there, number in first if there == pairing}
            assert store.played(pairing) == ranges(held)
        assert store.counts() == Counter(pairing for pairing, _ in first)
        assert list(store.records()) == [(*key, first[key].record) for key in sorted(first)]
