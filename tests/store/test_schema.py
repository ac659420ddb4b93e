"""Versions of the tables: older ones are brought up to date, newer ones refused."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from referee.store import connect, schema
from referee.store.database import BadStore, Store
from referee.store.rows import RulingRow
from tests.store.sample import games, new_store

NOTES = [
    ["ALTER TABLE value ADD COLUMN note TEXT", "UPDATE value SET note = text || '!'"],
    ["ALTER TABLE value RENAME COLUMN note TO remark"],
]
"""Two steps from the first version, as later versions of the tables may take them."""


def at_version(path: Path) -> int | None:
    database = sqlite3.connect(path)
    found = schema.version(database)
    database.close()
    return found


@pytest.fixture
def old(tmp_path: Path) -> Path:
    with new_store(tmp_path) as store:
        store.add_games(games(1, 10))
        store.commit()
    return tmp_path


def first_version(path: Path) -> sqlite3.Connection:
    """A database of the first version, as `TABLES` was before there was any step."""
    assert schema.newest(()) == 1
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("CREATE TABLE value (key TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID")
    database.execute("INSERT INTO value VALUES ('name', 'five')")
    database.execute(f"PRAGMA application_id = {schema.APPLICATION}")
    database.execute("PRAGMA user_version = 1")
    return database


def test_all_steps_are_taken_from_the_first_version(tmp_path: Path) -> None:
    database = first_version(tmp_path / "x.db")
    schema.migrate(database, NOTES)
    assert schema.version(database) == 3
    assert database.execute("SELECT remark FROM value").fetchall() == [("five!",)]
    database.close()


def test_only_the_steps_that_are_missing_are_taken(tmp_path: Path) -> None:
    database = first_version(tmp_path / "x.db")
    schema.migrate(database, NOTES[:1])
    assert schema.version(database) == 2
    database.execute("UPDATE value SET note = 'kept'")
    schema.migrate(database, NOTES)
    schema.migrate(database, NOTES)
    assert schema.version(database) == 3
    assert database.execute("SELECT remark FROM value").fetchall() == [("kept",)]
    database.close()


def test_a_step_that_fails_undoes_them_all(tmp_path: Path) -> None:
    database = first_version(tmp_path / "x.db")
    with pytest.raises(sqlite3.OperationalError):
        schema.migrate(database, [*NOTES, ["UPDATE nothing SET a = 1"]])
    assert schema.version(database) == 1
    assert database.execute("SELECT * FROM value").fetchall() == [("name", "five")]
    database.close()


def test_the_tables_are_those_that_the_steps_lead_to(tmp_path: Path) -> None:
    new_store(tmp_path).close()
    assert at_version(tmp_path / connect.FILE) == schema.newest(schema.STEPS)
    assert {table.split()[2] for table in schema.TABLES} == {*schema.SMALL, "record", "block"}


def test_an_older_tournament_is_brought_up_to_date_when_it_is_resumed(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = schema.newest(schema.STEPS)
    monkeypatch.setattr(schema, "STEPS", [*schema.STEPS, *NOTES])
    with Store.open(old) as store:
        assert store.played(1) == [(1, 10)]
    assert at_version(old / connect.FILE) == newest + 2


def test_an_older_tournament_is_read_as_it_is(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change = "UPDATE value SET text = 'changed' WHERE key = 'name'"
    newest = schema.newest(schema.STEPS)
    monkeypatch.setattr(schema, "STEPS", [*schema.STEPS, [change]])
    with Store.read(old) as store:
        assert store.value("name") == "changed"
        assert len(list(store.records())) == 10
    assert at_version(old / connect.FILE) == newest


def first_tables(folder: Path) -> Path:
    """The folder as version 1 had it."""
    database = sqlite3.connect(folder / connect.FILE, isolation_level=None)
    for table in ("ruling", "tally", "digest", "blame", "block"):
        database.execute(f"DROP TABLE {table}")
    database.execute("PRAGMA user_version = 1")
    database.close()
    return folder


def test_version_1_had_no_rulings_and_gets_them(old: Path) -> None:
    ruling = RulingRow(1, 3, "award", 1, "copied", "Ada", "2026-11-16T12:00:00.000Z")
    with Store.read(first_tables(old)) as store:
        assert store.rulings() == []
        assert store.played(1) == [(1, 10)]
    assert at_version(old / connect.FILE) == 1
    with Store.open(old) as store:
        store.add_ruling(ruling)
        store.commit()
    assert at_version(old / connect.FILE) == schema.newest(schema.STEPS)
    with Store.read(old) as store:
        assert store.rulings() == [ruling]
        assert len(list(store.records())) == 10


def test_a_large_tournament_is_brought_up_to_date_as_well(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "CHECKED_BYTES", 0)
    with Store.open(first_tables(old)) as store:
        assert store.played(1) == [(1, 10)]
    assert at_version(old / connect.FILE) == schema.newest(schema.STEPS)


def test_the_steps_make_the_same_tables_as_a_new_tournament_has(old: Path) -> None:
    def tables(path: Path) -> set[str]:
        database = sqlite3.connect(path)
        found = {sql for (sql,) in database.execute("SELECT sql FROM sqlite_master WHERE sql > ''")}
        database.close()
        return found

    new = tables(old / connect.FILE)
    Store.open(first_tables(old)).close()
    assert tables(old / connect.FILE) == new


@pytest.mark.usefixtures("each_kind")
def test_a_ruling_is_on_a_game_that_is_there(old: Path) -> None:
    with Store.open(old) as store:
        with pytest.raises(store._database.IntegrityError):
            store.add_ruling(RulingRow(1, 11, "void", None, "x", "Ada", ""))
        store.add_ruling(RulingRow(1, 1, "void", None, "x", "Ada", ""))
        store.add_ruling(RulingRow(1, 1, "award", 0, "y", "Ada", ""))
        store.add_ruling(RulingRow(1, 2, "void", None, "x", "Ada", ""))
        store.lift_ruling(1, 2)
        store.lift_ruling(1, 3)
        assert [(row.number, row.what, row.seat) for row in store.rulings()] == [(1, "award", 0)]


def test_a_newer_tournament_is_refused(old: Path) -> None:
    database = sqlite3.connect(old / connect.FILE)
    database.execute("PRAGMA user_version = 99")
    database.commit()
    database.close()
    for way in (Store.open, Store.read):
        with pytest.raises(BadStore, match="is of version 99, made by a newer referee"):
            way(old)
