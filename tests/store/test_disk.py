"""A disk without room, and folders that cannot be written."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from referee.store import connect
from referee.store.database import BadStore, Store, StoreFull
from referee.store.house import House
from referee.store.house.mistakes import HouseFull
from tests.mounting import filled, mount, small_disk
from tests.store.processes import rest, writer
from tests.store.sample import BOTS, VALUES, games, large_game, new_store
from tests.store.writer import COMMITTED, write


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MB."""
    with small_disk(tmp_path / "disk", "1m") as path:
        yield path


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nobody can write to the folder. Root is not stopped by permissions, but by a mount."""
    if os.geteuid() != 0:
        folder.chmod(0o555)
        yield
        folder.chmod(0o755)
        return
    mount("--bind", str(folder), str(folder))
    try:
        mount("-o", "remount,bind,ro", str(folder))
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_file_that_may_not_grow_costs_no_committed_game(tmp_path: Path) -> None:
    new_store(tmp_path).close()
    with writer("fill", tmp_path) as (process, first):
        *counts, told = [first, *rest(process)]
        assert process.returncode == 0
    assert told.startswith(f"{tmp_path / connect.FILE} cannot be written: ")
    assert "committed is safe" in told
    committed = int(counts[-1])
    with Store.read(tmp_path) as store:
        assert store.played(1) == [(1, committed)]
    with Store.open(tmp_path) as store:
        write(store, 1)
        assert store.played(1) == [(1, committed + COMMITTED)]
        assert sum(row.moves for row in store.times()) == 3 * (committed + COMMITTED)


def test_a_full_disk_undoes_what_was_not_committed(disk: Path) -> None:
    committed = 0

    def write_on() -> None:
        nonlocal committed
        for number in range(1, 10_000):
            store.add_games([large_game(number)])
            if number % 100 == 0:
                store.commit()
                committed = number

    with new_store(disk / "x") as store:
        with pytest.raises(
            StoreFull,
            match=r"cannot be written: .*can be resumed when there is room",
        ):
            write_on()
        assert committed > 0
        assert store.played(1) == [(1, committed)]
        assert sum(row.moves for row in store.times()) == 3 * committed
        # Not before there is room, and then from where it stopped.
        mount("-o", "remount,size=4m", str(disk))
        store.add_games([large_game(committed + 1)])
        store.commit()
    with Store.open(disk / "x") as store:
        assert store.played(1) == [(1, committed + 1)]


def test_a_transaction_that_is_too_large_for_the_disk_is_undone(disk: Path) -> None:
    with new_store(disk / "x") as store:
        store.add_games(games(1, 3))
        store.commit()
        store.add_games([large_game(number) for number in range(4, 1004)])
        with pytest.raises(StoreFull):
            # More than SQLite keeps in memory until the commit.
            store.add_games([large_game(number) for number in range(1004, 60_000)])
        store.commit()
    with Store.open(disk / "x") as store:
        assert store.played(1) == [(1, 3)]
        assert list(store.times()) == []


def test_a_tournament_is_not_begun_on_a_full_disk(disk: Path) -> None:
    (disk / "ballast").write_bytes(bytes(1024 * 1024 - 24 * 1024))
    with pytest.raises(BadStore, match=f"^{disk / 'x'} cannot be written: "):
        Store.create(disk / "x", VALUES, BOTS)
    assert not (disk / "x").exists()
    (disk / "ballast").unlink()
    Store.create(disk / "x", VALUES, BOTS).close()


def test_a_data_folder_is_not_opened_on_a_full_disk(disk: Path) -> None:
    House.open(disk / "data").close()
    with filled(disk), pytest.raises(HouseFull, match="the disk is full"):
        House.open(disk / "data")
    House.open(disk / "data").close()


def test_a_read_only_folder_is_read_and_not_written(tmp_path: Path) -> None:
    with new_store(tmp_path / "x") as store:
        store.add_games(games(1, 5))
        store.commit()
    with read_only(tmp_path / "x"):
        with Store.read(tmp_path / "x") as store:
            assert store.played(1) == [(1, 5)]
        with pytest.raises(BadStore, match=f"^{tmp_path / 'x'} cannot be written: "):
            Store.open(tmp_path / "x")
        with pytest.raises(BadStore, match=f"^{tmp_path / 'x'} cannot be written: "):
            Store.create(tmp_path / "x", VALUES, BOTS)
        with pytest.raises(BadStore, match=f"^{tmp_path / 'x' / 'y'} cannot be made: "):
            Store.create(tmp_path / "x" / "y", VALUES, BOTS)


@pytest.fixture
def killed(tmp_path: Path) -> tuple[Path, int]:
    """A folder as a killed writer left it, and how many games it told of."""
    folder = tmp_path / "killed"
    new_store(folder).close()
    with writer("go-on", folder) as (process, first):
        assert first == "ready"
        assert process.stdout is not None
        told = int(process.stdout.readline())
        process.kill()
        told = max([told, *map(int, rest(process))])
    assert (folder / f"{connect.FILE}-wal").stat().st_size
    return folder, told


def test_a_read_only_folder_is_read_after_a_kill(killed: tuple[Path, int]) -> None:
    folder, told = killed
    with read_only(folder), Store.read(folder) as store:
        assert store.counts()[1] >= told


def test_a_read_only_folder_with_a_part_of_its_files_says_what_to_do(
    killed: tuple[Path, int],
) -> None:
    folder, told = killed
    (folder / f"{connect.FILE}-shm").unlink()
    with (
        read_only(folder),
        pytest.raises(BadStore, match=r"cannot be written.*copy the folder to where it can be"),
    ):
        Store.read(folder)
    with Store.read(folder) as store:
        assert store.counts()[1] >= told
