"""Records go into blocks and come out as they were, one by one or all, whatever came when."""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from referee.store import blocks, database, sums
from referee.store.blocks import SIZE, block_of
from referee.store.browsing import last_numbers, newest_records
from referee.store.database import BadStore, Store
from referee.store.oldest import oldest_records, used_bytes
from referee.store.rows import GameRow, game_id
from tests.store.sample import PAIRINGS, game, games, new_store

pytestmark = pytest.mark.usefixtures("each_kind")
SAME_SERVER = [HealthCheck.function_scoped_fixture]
"""It does for all examples of a test."""


def rows_in(folder: Path) -> tuple[int, list[tuple[int, int, int]]]:
    """How many records are loose; pairing, first number and games of every block."""
    query = "SELECT id >> 32, id & 4294967295, games FROM block ORDER BY id"
    with Store.read(folder) as store:
        (loose,) = store._database.execute("SELECT count(*) FROM record").fetchone()
        return loose, store._database.execute(query).fetchall()


def test_a_block_is_made_when_its_numbers_are_there(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        store.set_games(1, 1000)
        store.add_games(games(2, SIZE + 5))
        store.commit()
        assert rows_in(tmp_path) == (SIZE + 4, [])
        store.add_games(games(1, 1))
        store.commit()
        assert rows_in(tmp_path) == (5, [(1, 1, SIZE)])
        store.add_games(games(SIZE + 6, 1000))
        store.commit()
        assert rows_in(tmp_path) == (
            0,
            [(1, start, SIZE) for start in range(1, 897, SIZE)] + [(1, 897, 104)],
        )
    with Store.read(tmp_path) as store:
        assert list(store.records()) == [(1, row.number, row.record) for row in games(1, 1000)]
        assert store.record(1, 900) == b"1/900"
        assert store.record(1, 1001) is None
        assert last_numbers(store) == {1: 1000}


def test_a_pairing_that_gets_more_games_is_not_compressed_over_and_over(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        for last in range(10, 101, 10):
            store.set_games(1, last)
            store.add_games(games(last - 9, last))
            store.commit()
        assert rows_in(tmp_path) == (20, [(1, 1, 80)])
        assert [number for _, number, _ in store.records(1)] == list(range(1, 101))
        store.set_games(1, SIZE)
        store.add_games(games(101, SIZE))
        store.commit()
        assert rows_in(tmp_path) == (0, [(1, 1, SIZE)])


def test_what_is_not_committed_is_in_no_block(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        store.add_games(games(1, 100))
        store.commit()
        store.set_games(1, SIZE)
        store.add_games(games(101, SIZE))
    assert rows_in(tmp_path) == (0, [(1, 1, 100)])
    with Store.open(tmp_path) as store:
        assert store.add_games(games(1, SIZE)) == 28
        store.commit()
        assert [body for _, _, body in store.records()] == [row.record for row in games(1, SIZE)]


READ: dict[str, Callable[[Store], list[int]]] = {
    "all": lambda store: [number for _, number, _ in store.records()],
    "one": lambda store: [number for number in range(500) if store.record(1, number) is not None],
    "newest": lambda store: [number for number, _ in reversed(newest_records(store, 1, 500))],
    "oldest": lambda store: sorted(key & 0xFFFFFFFF for _, key, _ in oldest_records(store)),
    "last": lambda store: list(range(1, last_numbers(store)[1] + 1)),
}


@pytest.mark.parametrize("way", READ)
def test_records_are_there_before_they_are_committed(tmp_path: Path, way: str) -> None:
    with new_store(tmp_path) as store:
        store.set_games(1, 1000)
        for last in (SIZE + 20, 2 * SIZE + 10):
            store.add_games(games(1, last))
            assert READ[way](store) == list(range(1, last + 1))
    assert rows_in(tmp_path) == (0, [])


def test_what_is_whole_or_too_much_is_written_before_the_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loose_and_packed(store: Store) -> tuple[int, int]:
        query = "SELECT (SELECT count(*) FROM record), (SELECT sum(games) FROM block)"
        (found,) = store._database.execute(query).fetchall()
        return int(found[0]), int(found[1] or 0)

    with new_store(tmp_path) as store:
        store.set_games(1, 1000)
        store.add_games(reversed(games(1, SIZE + 3)))
        assert loose_and_packed(store) == (0, SIZE)
        monkeypatch.setattr(blocks, "HELD_BYTES", 15)
        store.add_games(games(SIZE + 4, SIZE + 4))
        assert loose_and_packed(store) == (4, SIZE)
        store.add_games(games(SIZE + 5, 2 * SIZE))
        assert loose_and_packed(store) == (0, 2 * SIZE)
        store.commit()
        assert list(store.records()) == [(1, row.number, row.record) for row in games(1, 2 * SIZE)]


def test_a_game_that_is_in_a_block_is_there(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        store.add_games(games(1, 100))
        store.commit()
        assert store.add_games([game(7, tag=" again")]) == 0
        store.commit()
        assert store.record(1, 7) == b"1/7"


def test_records_in_blocks_can_be_dropped(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        store.set_games(1, 300)
        store.add_games(games(1, 300))
        store.commit()
        gone = [*range(1, SIZE + 1), 200, 300]
        store.drop_records([(game_id(1, number), "2026") for number in gone])
        store.commit()
        left = [number for number in range(1, 301) if number not in gone]
        assert [number for _, number, _ in store.records()] == left
        assert store.record(1, 200) is None
        assert store.record(1, 201) == b"1/201"
        assert last_numbers(store) == {1: 299}
        assert store.played(1) == [(1, 300)]
    assert rows_in(tmp_path) == (0, [(1, 129, 127), (1, 257, 43)])


def test_records_that_are_alike_take_a_tenth(tmp_path: Path) -> None:
    def alike(number: int) -> GameRow:
        moves = bytes(random.Random(number).choices(range(1, 11), k=20))
        return game(number)._replace(record=b"the same of every game " * 20 + moves)

    with new_store(tmp_path) as store:
        empty = used_bytes(store)
        store.set_games(1, 1280)
        store.add_games([alike(number) for number in range(1, 1281)])
        store.commit()
        sizes = sum(size for _, _, size in oldest_records(store))
        assert 10 * sizes < 480 * 1280
        assert used_bytes(store) - empty > sizes


def test_a_damaged_block_is_told(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        store.add_games([*games(1, 100), *games(1, 100, 2)])
        store.commit()
    with Store.open(tmp_path) as store:
        with store._addition():
            store._database.execute("UPDATE block SET body = ? WHERE id >> 32 = 2", (b"x\x9c",))
        store.commit()
        assert store.record(1, 1) == b"1/1"
        for way in (
            lambda: store.record(2, 1),
            lambda: list(store.records()),
            lambda: newest_records(store, 2, 5),
            lambda: list(oldest_records(store)),
            lambda: store.drop_records([(game_id(2, 1), "2026")]),
        ):
            with pytest.raises(BadStore, match=r"is damaged \(block 2-1"):
                way()


@settings(max_examples=30, suppress_health_check=SAME_SERVER)
@given(st.integers(0, 2**32))
def test_records_are_what_a_dict_would_hold(seed: int) -> None:
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        store = new_store(Path(name))
        held: dict[int, bytes] = {}
        for row in PAIRINGS:
            store.set_games(row.id, draw.choice([20, 127, 128, 129, 300]))
        for step in range(draw.randrange(1, 12)):
            pairing, start = draw.randint(1, 3), draw.choice([1, 1, 100, 129, 250])
            some = [
                game(number, pairing, f" {step}")
                for number in range(start, start + draw.choice([1, 30, 160]))
                if draw.random() < 0.95
            ]
            known = {
                key for rows in store.columns() for key in (game_id(*each[:2]) for each in rows)
            }
            store.add_games(some)
            for each in some:
                if (key := game_id(each.pairing, each.number)) not in known:
                    held[key] = each.record
            if held and draw.random() < 0.3:
                gone = draw.sample(sorted(held), min(len(held), draw.choice([1, 40, 200])))
                store.drop_records([(key, "2026") for key in gone])
                for key in gone:
                    del held[key]
            store.commit()
            if draw.random() < 0.2:
                store.close()
                store = Store.open(Path(name))
        found = [(game_id(pairing, number), body) for pairing, number, body in store.records()]
        assert found == sorted(held.items())
        assert sorted(key for _, key, _ in oldest_records(store)) == sorted(held)
        last = {key >> 32: key & 0xFFFFFFFF for key in sorted(held)}
        assert last_numbers(store) == last
        for pairing in (1, 2, 3):
            own = [key & 0xFFFFFFFF for key in sorted(held, reverse=True) if key >> 32 == pairing]
            newest = newest_records(store, pairing, 50, above=5, below=280)
            assert [number for number, _ in newest] == [n for n in own if 5 < n < 280][:50]
        for key in draw.sample(sorted(held), min(len(held), 20)):
            assert store.record(key >> 32, key & 0xFFFFFFFF) == held[key]
            assert block_of(key) <= key < block_of(key) + SIZE
        store.close()


ADDING_GAMES = tuple(module.__file__ for module in (blocks, database, sums))
"""What adds games to a store and commits them."""


def test_an_interruption_anywhere_leaves_no_game_without_its_record(tmp_path: Path) -> None:
    """A signal may come at any line; what was added so far is committed after it."""

    def add(pairing: int) -> None:
        of_this = [row._replace(pairing=pairing) for row in games(1, SIZE + 9)]
        store.add_games(of_this[:SIZE])
        store.add_games(of_this[SIZE:])
        store.commit()

    with new_store(tmp_path) as store:
        add_pairing(store, 4)
        lines = interrupted(1 << 30, partial(add, 4))
        for pairing, line in enumerate([*range(1, 50), *range(50, lines, 37)], 5):
            add_pairing(store, pairing)
            with pytest.raises(KeyboardInterrupt):
                interrupted(line, partial(add, pairing))
            store.commit()
            played = store.counts().get(pairing, 0)
            assert played in (0, SIZE, SIZE + 9)
            assert len(list(store.records(pairing))) == played
            summed = [row for rows in store.tallies() for row in rows if row[0] == pairing]
            assert bool(summed) == bool(played)


def add_pairing(store: Store, number: int) -> None:
    store.add_pairings([structs.replace(PAIRINGS[0], id=number, games=SIZE + 9)])
    store.commit()


def interrupted(line: int, call: Callable[[], object]) -> int:
    """Call it, and interrupt it at this line of what adds games; how many lines it had."""
    left = line

    def step(frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        nonlocal left
        if frame.f_code.co_filename not in ADDING_GAMES:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        call()
    finally:
        sys.settrace(before)
    return line - left
