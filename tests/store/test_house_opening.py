"""The file of a house: made whole, brought up to date, and refused where it is not one."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

import pytest

from referee.store.house import House, schema
from referee.store.house.books import FILE, open_books, wall_clock
from referee.store.house.mistakes import BadHouse, Conflict
from referee.store.schema import newest
from tests.store.processes import house_worker
from tests.waiting import PATIENCE_S


def at_version(path: Path) -> int:
    database = sqlite3.connect(path)
    (found,) = database.execute("PRAGMA user_version").fetchone()
    database.close()
    return int(found)


def test_an_older_house_is_brought_up_to_date(tmp_path: Path) -> None:
    with House.open(tmp_path) as house:
        house.teams.add("Reds", by="me")
    steps = [
        *schema.STEPS,
        ["ALTER TABLE team ADD COLUMN motto TEXT", "UPDATE team SET motto = 'x'"],
    ]
    books = open_books(tmp_path, create=False, now=wall_clock, steps=steps)
    assert books.rows("SELECT name, motto FROM team") == [("Reds", "x")]
    books.close()
    assert at_version(tmp_path / FILE) == newest(schema.STEPS) + 1
    with pytest.raises(BadHouse, match="newer referee"):
        House.open(tmp_path)


def test_the_tables_are_those_that_the_steps_lead_to(tmp_path: Path) -> None:
    House.open(tmp_path).close()
    assert at_version(tmp_path / FILE) == newest(schema.STEPS)


def test_reading_makes_no_house(tmp_path: Path) -> None:
    with pytest.raises(BadHouse, match=f"holds no {FILE}"):
        House.open(tmp_path / "gone", create=False)
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"", "another program"), (b"text " * 500, "is damaged|not a database")],
)
def test_what_is_no_house_is_told(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(BadHouse, match=told):
        House.open(tmp_path)


def test_a_data_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadHouse, match="cannot be used"):
        House.open(tmp_path / "file" / "data")


def read_all(data: Path) -> None:
    with House.open(data) as house:
        house.teams.all()
        house.journal.recent(1000)


def test_damage_is_told(tmp_path: Path) -> None:
    with House.open(tmp_path) as house:
        for number in range(200):
            house.journal.add("me", f"{number}" * 50)
    path = tmp_path / FILE
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(BadHouse, match="is damaged"):
        read_all(tmp_path)


def test_one_daemon_has_charge(tmp_path: Path) -> None:
    with House.open(tmp_path) as house, House.open(tmp_path) as other:
        house.take_charge()
        assert house.take_charge() == 0
        with pytest.raises(Conflict, match=r"a daemon runs already: .* by process"):
            other.take_charge()
        other.teams.add("Reds", by="me")
        house.give_charge_back()
        other.take_charge()
        other.give_charge_back()


def test_a_change_is_seen_by_whoever_looks(tmp_path: Path) -> None:
    with House.open(tmp_path) as house, House.open(tmp_path) as other:
        before = house.version_of_data(), other.version_of_data()
        house.teams.add("Reds", by="me")
        after = house.version_of_data(), other.version_of_data()
        assert after[0] != before[0] and after[1] != before[1]
        house.teams.all()
        other.teams.all()
        assert (house.version_of_data(), other.version_of_data()) == after
        with pytest.raises(Conflict):
            house.teams.add("Reds", by="me")
        assert (house.version_of_data(), other.version_of_data()) == after


def test_threads_take_turns(tmp_path: Path) -> None:
    with House.open(tmp_path) as house:

        def add(first: int) -> None:
            for number in range(first, first + 20):
                house.teams.add(f"team {number}", by="me")
                assert house.teams.find(f"team {number}") is not None

        threads = [threading.Thread(target=add, args=(100 * each,)) for each in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(house.teams.all()) == 100


def test_a_backup_is_a_house(tmp_path: Path) -> None:
    with House.open(tmp_path / "data") as house:
        house.teams.add("Reds", by="me")
        (tmp_path / "copy").mkdir()
        house.backup(tmp_path / "copy" / FILE)
    with House.open(tmp_path / "copy", create=False) as copy:
        assert [team.name for team in copy.teams.all()] == ["Reds"]


def test_several_processes_may_make_it_at_once(tmp_path: Path) -> None:
    workers = [house_worker("make", tmp_path / "data") for _ in range(4)]
    for worker in workers:
        told, _ = worker.communicate(timeout=PATIENCE_S)
        assert worker.returncode == 0, told
    with House.open(tmp_path / "data", create=False) as house:
        assert len([team for team in house.teams.all() if team.role == "organiser"]) == 1
        assert len(house.teams.all()) == 5
    names = {path.name for path in (tmp_path / "data").iterdir()}
    assert names <= {FILE, f"{FILE}-wal", f"{FILE}-shm"}
