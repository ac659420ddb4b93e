"""The file of a tournament, `DIR/tournament.db`: made, opened for writing, opened for reading.

A database is built under another name, written through to the disk and then renamed: whoever is
killed in between leaves a folder without a tournament, never one with half of it. SQLite keeps what
was committed last in `tournament.db-wal` beside it until it is carried over.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import astuple

from referee.store import schema
from referee.store.engine import SET_BOT, SET_VALUE, Bulk
from referee.store.rows import BotRow
from referee.store.trouble import BadStore, StoreRefused, damaged, explain, result_code

FILE = "tournament.db"
PAGE_BYTES = 8192
PATIENCE_S = 10.0
"""How long to wait for another connection, which holds the database for moments only."""
CHECKED_BYTES = 512 * 1024 * 1024
"""Up to here the whole database is checked before it is written to: about half a second, if the
disk keeps up. In a larger one the records are left out of the check."""

_INSERT: dict[Bulk, str] = {
    "pairing": "INSERT INTO pairing VALUES (?, ?, ?, ?, ?, ?, ?)",
    "game": "INSERT INTO game VALUES (?1 << 32 | ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    "record": "INSERT INTO record VALUES (?, ?)",
    "fault": "INSERT INTO fault VALUES (?1 << 32 | ?2, ?3, ?4, ?5, ?6, ?7)",
}
_INSERT_DIGEST = "INSERT INTO digest VALUES (?, ?) ON CONFLICT DO NOTHING"


class File(sqlite3.Connection):
    """SQLite's own connection, with what it lacks to be a store's `Database`."""

    path = Path()

    @property
    def named(self) -> str:
        return str(self.path)

    def insert(self, table: Bulk, rows: Sequence[Sequence[object]]) -> None:
        self.executemany(_INSERT[table], rows)

    def insert_digests(self, pairing: int, digests: Sequence[int]) -> int:
        return self.executemany(_INSERT_DIGEST, [(pairing, digest) for digest in digests]).rowcount

    def chunks(self, query: str, values: Sequence[object], at_once: int) -> Iterator[list[Any]]:
        cursor = self.execute(query, values)
        while rows := cursor.fetchmany(at_once):
            yield rows

    def begin_addition(self) -> None:
        if not self.in_transaction:
            self.execute("BEGIN IMMEDIATE")
        self.execute("SAVEPOINT addition")

    def end_addition(self) -> None:
        self.execute("RELEASE addition")

    def undo_addition(self) -> None:
        # Some errors make SQLite roll back everything, and the savepoint with it.
        if self.in_transaction:
            self.execute("ROLLBACK TO addition")
            self.execute("RELEASE addition")

    def used_bytes(self) -> int:
        (size, pages, free) = (
            self.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_size", "page_count", "freelist_count")
        )
        return int(size * (pages - free))

    def while_silent(self, told: Callable[[float], None]) -> None:
        """Never: a file is not waited for."""

    def explained(self, error: Exception, *, writing: bool) -> Exception:
        assert isinstance(error, sqlite3.Error)
        return explain(error, self.path, writing=writing)


class InFolder:
    """The place of a tournament that has its database in its folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def create(self, values: Mapping[str, str], bots: Sequence[BotRow]) -> None:
        create_file(self._folder, values, bots)

    def open_for_writing(self) -> File:
        return open_for_writing(must_hold_tournament(self._folder))

    def open_for_reading(self) -> File:
        return open_for_reading(must_hold_tournament(self._folder))


def create_file(folder: Path, values: Mapping[str, str], bots: Sequence[BotRow]) -> None:
    """Make the database of a new tournament, whole or not at all. The folder is locked."""
    path = folder / FILE
    if _size(path):
        raise BadStore(
            f"{folder} already holds a tournament: resume it with --resume, or take another folder"
        )
    if _size(_beside(path, "-wal")):
        # SQLite would read the rest of the lost database into the new one.
        raise BadStore(
            f"{folder} holds {FILE}-wal, the rest of a tournament whose {FILE} is gone: "
            "bring that back, or remove the rest"
        )
    new = _beside(path, ".new")
    try:
        for stale in (new, _beside(new, "-journal"), _beside(path, "-shm")):
            stale.unlink(missing_ok=True)
        try:
            _fill(new, values, bots)
            new.replace(path)
            sync_folder(folder)
        except BaseException:
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)
            raise
    except sqlite3.Error as error:
        if isinstance(error, sqlite3.IntegrityError):
            raise
        raise StoreRefused(f"{folder} cannot be written: {error}") from error
    except OSError as error:
        raise StoreRefused(f"{folder} cannot be written: {error.strerror}") from error


def open_for_writing(path: Path) -> File:
    """The database, checked, up to date and ready to be written. The folder is locked."""
    database: File | None = None
    try:
        database = _connect(path, "mode=rw")
        known = _known_version(database, path)
        _check(database, path)
        if known < schema.newest(schema.STEPS):
            schema.migrate(database, schema.STEPS)
        for setting in (
            "journal_mode = WAL",
            "synchronous = FULL",
            # Only macOS has a sync that does not wait for the disk, and one that does.
            "fullfsync = ON",
            "checkpoint_fullfsync = ON",
            "foreign_keys = ON",
            "temp_store = MEMORY",
            "cache_size = -32768",
            f"journal_size_limit = {64 * 1024 * 1024}",
        ):
            database.execute(f"PRAGMA {setting}")
    except BaseException as error:
        if database is not None:
            database.close()
        if isinstance(error, sqlite3.Error):
            raise explain(error, path, writing=True) from error
        raise
    return database


def open_for_reading(path: Path) -> File:
    """The database as it is at this moment; what is written later is not seen."""
    try:
        database = _snapshot(path)
        try:
            if _known_version(database, path) == schema.newest(schema.STEPS):
                return database
            # Brought up to date in a copy, for a reader changes nothing.
            copy = sqlite3.connect("", isolation_level=None, factory=File)
            copy.path = path
            database.backup(copy)
        except BaseException:
            database.close()
            raise
        database.close()
        schema.migrate(copy, schema.STEPS)
        return copy
    except sqlite3.Error as error:
        raise explain(error, path, writing=False) from error


def must_hold_tournament(folder: Path) -> Path:
    """The path of the folder's database, if there is one."""
    path = folder / FILE
    try:
        if not folder.is_dir():
            missing = "it is not a folder" if folder.exists() else "it does not exist"
        elif not path.is_file():
            missing = f"it holds no {FILE}"
        elif not path.stat().st_size:
            missing = f"its {FILE} is empty"
        elif _beside(path, "-wal").is_symlink() or _beside(path, "-shm").is_symlink():
            missing = f"its {FILE}-wal or {FILE}-shm is a link"  # and SQLite would write through it
        else:
            return path
    except OSError as error:
        missing = str(error.strerror)
    raise BadStore(f"{folder} is not the folder of a tournament: {missing}")


def _connect(path: Path, query: str) -> File:
    address = f"{path.absolute().as_uri()}?{query}"
    database = sqlite3.connect(
        address, uri=True, isolation_level=None, timeout=PATIENCE_S, factory=File
    )
    database.path = path
    return database


def _snapshot(path: Path) -> File:
    """A connection that reads one state of the database, whatever is written meanwhile.

    SQLite needs to write beside the file even to read it, unless it is told that nothing changes.
    In a folder where nobody can write, or on a full disk, that is so, if nothing waits in the
    `-wal` file.
    """
    try:
        return _begin(_connect(path, "mode=ro"))
    except sqlite3.OperationalError as error:
        barred = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR)
        if result_code(error) not in barred or not os.access(path, os.R_OK):
            raise
        if _size(_beside(path, "-wal")):
            raise StoreRefused(
                f"{path.parent} cannot be written, and its last games are still in {FILE}-wal: "
                "copy the folder to where it can be written, and read it there"
            ) from error
        return _begin(_connect(path, "mode=ro&immutable=1"))


def _begin(database: File) -> File:
    try:
        database.execute("BEGIN")
        database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        database.close()
        raise
    return database


def _known_version(database: sqlite3.Connection, path: Path) -> int:
    """The version of the tables, if it is one that can be read."""
    found = schema.version(database)
    if found is None:
        raise BadStore(f"{path} is not the database of a tournament, but of another program")
    if found > schema.newest(schema.STEPS):
        raise BadStore(
            f"{path} is of version {found}, made by a newer referee; "
            f"this one knows versions up to {schema.newest(schema.STEPS)}"
        )
    if found < 1:
        raise damaged(path, f"version {found}")
    if (what := schema.strange(database)) is not None:
        raise BadStore(f"{path} was not made by a referee: it has {what}")
    return found


def _check(database: sqlite3.Connection, path: Path) -> None:
    """That the database is sound, before anything is built on it."""
    found = damage(database, path)
    if found is not None:
        raise damaged(path, found)


def damage(database: sqlite3.Connection, path: Path) -> str | None:
    """What SQLite finds wrong with a database first; None where it is sound."""
    if _size(path) <= CHECKED_BYTES:
        checks = ["quick_check(1)"]
    else:
        # One that is not up to date yet lacks some tables.
        named = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        there = {name for (name,) in named}
        checks = [f"quick_check('{table}')" for table in schema.SMALL if table in there]
    for check in checks:
        (found,) = database.execute(f"PRAGMA {check}").fetchone()
        if found != "ok":
            return " ".join(found.split())
    return None


def _fill(path: Path, values: Mapping[str, str], bots: Sequence[BotRow]) -> None:
    """Write a database with no games to the disk, in one transaction that raises what fails."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        database.execute("PRAGMA journal_mode = MEMORY")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("PRAGMA fullfsync = ON")
        database.execute("BEGIN")
        schema.build(database)
        database.executemany(SET_VALUE, values.items())
        database.executemany(SET_BOT, map(astuple, bots))
        database.execute("COMMIT")


def sync_folder(folder: Path) -> None:
    """Write the folder's list of names to the disk, so that a renamed file keeps its new one."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _size(path: Path) -> int:
    """The size of a file in bytes; 0 where there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
