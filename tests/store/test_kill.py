"""SIGKILL at random moments: what was committed is there, once, and nothing else is."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from operator import mul
from pathlib import Path

import pytest

from referee.store import connect
from referee.store.database import BadStore, Store
from referee.store.tally import KIND_GAMES
from tests.store.processes import rest, writer
from tests.store.sample import BOTS, PAIRINGS, VALUES, large_game, new_store
from tests.store.writer import BATCH, COMMITTED, write

KILLS = 10


def check_prefix(store: Store) -> int:
    """That the store holds whole commits, with all that belongs to them; how many games."""
    there = store.counts().get(1, 0)
    assert there % COMMITTED == 0
    assert store.played(1) == ([(1, there)] if there else [])
    assert [body for _, _, body in store.records()] == [
        large_game(number).record for number in range(1, there + 1)
    ]
    assert [row.number for row in store.faults()] == list(range(1, there + 1, BATCH))
    assert sum(row.moves for row in store.times()) == 3 * there
    # Every third game is unrated, and no two are copies.
    rated = there - there // 3
    tallies = [row for rows in store.tallies() for row in rows]
    assert [row[:3] for row in tallies] == ([(1, there, rated)] if there else [])
    assert sum(sum(map(mul, row[5:], KIND_GAMES)) for row in tallies) == rated
    assert sum(row.faults for row in store.blame()) == there // BATCH
    return there


@pytest.mark.usefixtures("each_kind")
@pytest.mark.slow
def test_a_killed_writer_leaves_whole_commits(tmp_path: Path) -> None:
    new_store(tmp_path).close()
    moments = random.Random(1)
    kills = before = 0
    while kills < KILLS or not before:  # where others use the machine, there may be no commit yet
        with writer("go-on", tmp_path) as (process, first):
            assert first == "ready"
            time.sleep(moments.uniform(0, 0.1))
            process.kill()
            told = [before, *map(int, rest(process))]
        with Store.read(tmp_path) as store:
            seen = check_prefix(store)
        with Store.open(tmp_path) as store:
            before = check_prefix(store)
        # A commit may be done and not yet told, and a server may be at it still when it is read.
        assert told[-1] <= seen <= before <= told[-1] + COMMITTED
        kills += 1


@pytest.mark.slow
def test_a_kill_while_a_tournament_is_made_leaves_it_whole_or_not_there(tmp_path: Path) -> None:
    moments = random.Random(2)
    for kill in range(KILLS):
        folder = tmp_path / str(kill)
        with writer("create", folder) as (process, first):
            assert first == "ready"
            time.sleep(moments.uniform(0, 0.1))
            process.kill()
            process.wait()
        last = max((int(path.name) for path in folder.glob("*")), default=0)
        with made_or_remade(folder / str(last)) as store:
            assert store.bots() == BOTS
            assert store.value("name") == VALUES["name"]
            store.add_pairings(PAIRINGS)
            write(store, 1)


def made_or_remade(folder: Path) -> Store:
    try:
        return Store.create(folder, VALUES, BOTS)
    except BadStore:
        return Store.open(folder)


def half_built(folder: Path) -> None:
    """What a kill leaves while the new database is written."""
    Store.create(folder, {"name": "another"}, BOTS[:1]).close()
    new = folder / f"{connect.FILE}.new"
    (folder / connect.FILE).rename(new)
    new.write_bytes(new.read_bytes()[:9000])
    (folder / f"{connect.FILE}.new-journal").write_bytes(b"x" * 600)


def emptied(folder: Path) -> None:
    (folder / connect.FILE).touch()


@pytest.mark.parametrize("leave", [half_built, emptied])
def test_what_a_kill_leaves_is_no_tournament_and_in_nobodys_way(
    tmp_path: Path, leave: Callable[[Path], None]
) -> None:
    leave(tmp_path)
    for way in (Store.open, Store.read):
        with pytest.raises(BadStore, match="not the folder"):
            way(tmp_path)
    with Store.create(tmp_path, VALUES, BOTS) as store:
        assert store.value("name") == VALUES["name"]
        assert store.bots() == BOTS
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", connect.FILE]


@pytest.mark.usefixtures("each_kind")
@pytest.mark.slow
def test_readers_see_whole_commits_while_a_writer_works(tmp_path: Path) -> None:
    new_store(tmp_path).close()
    with writer("go-on", tmp_path) as (process, first):
        assert first == "ready"
        assert process.stdout is not None
        told = 0
        for _ in range(10):
            told = int(process.stdout.readline())
            with Store.read(tmp_path) as store:
                there = check_prefix(store)
                assert there >= told
                # The writer goes on; what this reader sees does not change.
                while told <= there:
                    told = int(process.stdout.readline())
                assert check_prefix(store) == there
