"""Folders of tournaments that strangers made: read without harm, or refused in a sentence."""

from __future__ import annotations

import contextlib
import sqlite3
import zlib
from pathlib import Path

import pytest

from referee.reports.arrays import game_arrays
from referee.reports.tables.files import write_whole
from referee.store import blocks, connect
from referee.store.database import BadStore, Store
from referee.store.rows import game_id
from tests.store.sample import games, large_game, new_store

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
STRANGE = {
    "view": ["ALTER TABLE game RENAME TO other", f"CREATE VIEW game (id) AS {ENDLESS} WHERE i < 0"],
    "trigger": ["CREATE TRIGGER t AFTER INSERT ON ruling BEGIN DELETE FROM game; END"],
    "virtual table": ["DROP TABLE ruling", "CREATE VIRTUAL TABLE ruling USING fts5(game)"],
    "computed column": [
        "ALTER TABLE value RENAME TO other",
        "CREATE TABLE value (key TEXT, text TEXT AS (hex(zeroblob(400000000))))",
    ],
    "another type in the list": [
        f"CREATE VIEW more AS {ENDLESS}",
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET type = 'table' WHERE name = 'more'",
    ],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with new_store(tmp_path / "theirs") as store:
        store.add_games(games(1, 3))
        store.commit()
    return tmp_path / "theirs"


def change(folder: Path, *statements: str) -> None:
    path = folder / connect.FILE
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement)


@pytest.mark.parametrize("kind", STRANGE)
def test_a_database_that_has_more_than_tables_is_not_read(folder: Path, kind: str) -> None:
    """What a view gives may take for ever, and no Ctrl-C reaches SQLite."""
    change(folder, *STRANGE[kind])
    with pytest.raises(BadStore):
        Store.read(folder)
    with pytest.raises(BadStore):
        Store.open(folder)


def test_what_links_in_a_folder_lead_to_is_not_written_over(folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("precious")
    for name in (".lock", f"{connect.FILE}-wal", f"{connect.FILE}-shm"):
        link = folder / name
        link.unlink(missing_ok=True)
        link.symlink_to(mine)
        with pytest.raises(BadStore):
            Store.open(folder)
        link.unlink()
    Store.open(folder).close()
    (folder / "standings.md").symlink_to(mine)
    write_whole(folder, {"standings.md": b"theirs"})
    assert mine.read_text() == "precious"


def test_a_block_that_swells_is_not_unpacked(folder: Path) -> None:
    """3 GB of zeros take 3 MB in a file."""
    packer = zlib.compressobj(9)
    body = packer.compress(bytes(2 * blocks.MOST_BYTES)) + packer.flush()
    with contextlib.closing(sqlite3.connect(folder / connect.FILE)) as database, database:
        database.execute("DELETE FROM record")
        row = (game_id(1, 1), game_id(1, 3), 3, body)
        database.execute("INSERT INTO block VALUES (?, ?, ?, ?)", row)
    with Store.read(folder) as store, pytest.raises(BadStore):
        list(store.records())


def test_records_that_are_too_large_for_a_block_stay_loose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is kept can be read again."""
    monkeypatch.setattr(blocks, "MOST_BYTES", 100 * 600)
    with new_store(tmp_path) as store:
        rows = [large_game(number) for number in range(1, 101)]
        store.add_games(rows)
        store.commit()
    with Store.read(tmp_path) as store:
        assert [body for _, _, body in store.records()] == [row.record for row in rows]
        assert store._database.execute("SELECT count(*) FROM block").fetchone() == (0,)


def test_text_where_a_number_is_due_is_damage(folder: Path) -> None:
    change(folder, "UPDATE game SET points = 'many'")
    with Store.read(folder) as store, pytest.raises(BadStore):
        game_arrays(store.columns())
