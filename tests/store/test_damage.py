"""Folders that hold no tournament, another program's file, or the ruins of one."""

from __future__ import annotations

import contextlib
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.store import connect
from referee.store.database import BadStore, Store
from tests.store.processes import writer
from tests.store.sample import BOTS, VALUES, fault, large_game, new_store

GAMES = 2000


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    with new_store(folder) as store:
        rows = [large_game(number) for number in range(1, GAMES + 1)]
        store.add_games(rows, [fault(number) for number in range(1, GAMES + 1, 7)])
        store.commit()
    return folder


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "copy"))


def overwrite(path: Path, at: int, junk: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(junk)


def read_all(folder: Path) -> int:
    """Read everything; how many records there were."""
    with Store.read(folder) as store:
        store.value("name")
        store.bots()
        store.pairings()
        store.counts()
        store.played(1)
        for part in (store.columns(), store.faults(), store.times()):
            list(part)
        return len(list(store.records()))


def cut_short(path: Path) -> None:
    overwrite(path, 0, path.read_bytes()[: path.stat().st_size // 2])
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def no_header(path: Path) -> None:
    overwrite(path, 0, bytes(64))


def no_schema(path: Path) -> None:
    overwrite(path, 100, b"\xff" * 4000)


def hole_in_the_middle(path: Path) -> None:
    overwrite(path, path.stat().st_size // 2, b"\xff" * 64 * 1024)


def text(path: Path) -> None:
    path.write_text("name = 'five'\n" * 100)


@pytest.mark.parametrize("harm", [cut_short, no_header, no_schema, hole_in_the_middle, text])
def test_damage_is_told_before_anything_is_written(
    copy: Path, harm: Callable[[Path], None]
) -> None:
    path = copy / connect.FILE
    harm(path)
    before = path.read_bytes()
    with pytest.raises(BadStore, match=f"^{path} is damaged .*restore a copy of it"):
        Store.open(copy)
    with pytest.raises(BadStore, match="is damaged"):
        read_all(copy)
    with pytest.raises(BadStore, match="already holds a tournament"):
        Store.create(copy, VALUES, BOTS)
    assert path.read_bytes() == before


def test_what_is_whole_is_read_from_a_damaged_database(copy: Path) -> None:
    hole_in_the_middle(copy / connect.FILE)
    found: list[int] = []
    with Store.read(copy) as store, pytest.raises(BadStore, match="is damaged"):
        found.extend(
            number for _, number, body in store.records() if body == large_game(number).record
        )
    assert found == list(range(1, len(found) + 1))
    assert len(found) > GAMES // 4


@pytest.mark.parametrize("seed", range(20))
def test_damage_anywhere_is_a_sentence_or_unseen(copy: Path, seed: int) -> None:
    draw = random.Random(seed)
    path = copy / connect.FILE
    length = draw.choice([1, 16, 300, 5000, 40_000])
    overwrite(path, draw.randrange(path.stat().st_size - length), draw.randbytes(length))
    for way in (read_all, open_and_add):
        # Any other exception would be a traceback.
        with contextlib.suppress(BadStore):
            way(copy)


def open_and_add(folder: Path) -> None:
    with Store.open(folder) as store:
        store.set_value("level", "none")
        store.commit()


@pytest.mark.parametrize("seed", range(5))
def test_damage_in_the_log_of_a_killed_writer_costs_the_end_of_it_at_most(
    tmp_path: Path, seed: int
) -> None:
    new_store(tmp_path).close()
    with writer("go-on", tmp_path) as (process, first):
        assert first == "ready"
        assert process.stdout is not None
        for _ in range(3):
            process.stdout.readline()
        process.kill()
        process.wait()
    log = tmp_path / f"{connect.FILE}-wal"
    draw = random.Random(seed)
    overwrite(log, draw.randrange(log.stat().st_size - 100), draw.randbytes(100))
    (tmp_path / f"{connect.FILE}-shm").unlink()
    with Store.open(tmp_path) as store:
        there = store.counts().get(1, 0)
        assert there % 150 == 0
        assert store.played(1) == ([(1, there)] if there else [])


def foreign(folder: Path) -> None:
    with sqlite3.connect(folder / connect.FILE) as database:
        database.execute("CREATE TABLE game (id INTEGER PRIMARY KEY)")
    database.close()


def empty(folder: Path) -> None:
    (folder / connect.FILE).touch()


def a_folder(folder: Path) -> None:
    (folder / connect.FILE).mkdir()


def nothing(folder: Path) -> None:
    pass


NOT_ONE = "is not the folder of a tournament"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (foreign, f"{connect.FILE} is not the database of a tournament, but of another program"),
        (empty, f"{NOT_ONE}: its {connect.FILE} is empty"),
        (a_folder, f"{NOT_ONE}: it holds no {connect.FILE}"),
        (nothing, f"{NOT_ONE}: it holds no {connect.FILE}"),
    ],
)
def test_what_is_no_tournament_is_told(
    tmp_path: Path, make: Callable[[Path], None], told: str
) -> None:
    make(tmp_path)
    for way in (Store.open, Store.read):
        with pytest.raises(BadStore) as caught:
            way(tmp_path)
        assert told in str(caught.value)


def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for way in (Store.open, Store.read):
        with pytest.raises(BadStore, match=f"gone {NOT_ONE}: it does not"):
            way(tmp_path / "gone")
        with pytest.raises(BadStore, match=f"file {NOT_ONE}: it is not a"):
            way(file)
    assert not (tmp_path / "gone").exists()
    for folder in (file, file / "below"):
        with pytest.raises(BadStore, match=f"^{folder} cannot be made: "):
            Store.create(folder, VALUES, BOTS)


def test_the_rest_of_a_lost_tournament_does_not_get_into_a_new_one(tmp_path: Path) -> None:
    new_store(tmp_path).close()
    with writer("go-on", tmp_path) as (process, _):
        assert process.stdout is not None
        process.stdout.readline()
        process.kill()
        process.wait()
    (tmp_path / connect.FILE).unlink()
    with pytest.raises(BadStore, match="the rest of a tournament"):
        Store.create(tmp_path, VALUES, BOTS)
    (tmp_path / f"{connect.FILE}-wal").unlink()
    with Store.create(tmp_path, VALUES, BOTS) as store:
        assert store.counts() == {}


def test_a_large_database_is_checked_but_for_its_records(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "CHECKED_BYTES", 0)
    Store.open(copy).close()
    path = copy / connect.FILE
    with sqlite3.connect(path) as database:
        (page,) = database.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'game'"
        ).fetchone()
    database.close()
    overwrite(path, (page - 1) * connect.PAGE_BYTES, b"\xff" * connect.PAGE_BYTES)
    with pytest.raises(BadStore, match="is damaged"):
        Store.open(copy)
