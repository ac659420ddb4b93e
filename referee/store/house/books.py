"""The open `house.db` that all subjects of the house write to.

Several processes write (the coordinator, the web pages, commands), each for a moment: a change
begins with SQLite's write lock, so that what it reads is still true when it writes. Threads of one
process take turns. What a change has done is on the disk when it ends.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from referee.store.connect import sync_folder
from referee.store.house import schema
from referee.store.house.mistakes import BadHouse, HouseFull, HouseRefused
from referee.store.schema import Steps, migrate, newest, strange
from referee.store.trouble import DISK, HELD, result_code

FILE = "house.db"
PATIENCE_S = 20.0
"""How long to wait for another process's change, which takes moments."""
LEAST_BYTES = 64 * 1024
"""With less than this, nothing can be opened."""
Now = Callable[[], datetime]


def stamp(at: datetime) -> str:
    """A time as the house writes it."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def wall_clock() -> datetime:
    return datetime.now(UTC)


class Books:
    """The database, a turn at a time."""

    def __init__(self, data: Path, database: sqlite3.Connection, now: Now) -> None:
        self.data = data
        self._path = data / FILE
        self._database = database
        self._now = now
        self._turn = threading.RLock()
        self._own_changes = 0

    def close(self) -> None:
        with self._turn:
            self._database.close()

    def now(self, ago: timedelta = timedelta(0)) -> str:
        """The time, or some time ago."""
        return stamp(self._now() - ago)

    def version_of_data(self) -> int:
        """Another number after every change, whoever made it."""
        with self._turn:
            (seen,) = self.first("PRAGMA data_version") or (0,)
            return int(seen) + self._own_changes

    @contextmanager
    def changing(self) -> Iterator[None]:
        """A change, whole or undone. A change within a change is part of it."""
        with self._turn, self._explained(writing=True):
            if self._database.in_transaction:
                with self._part():
                    yield
                return
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._database.execute("COMMIT")
            except BaseException:
                # Some errors make SQLite roll back by itself.
                with suppress(sqlite3.Error):
                    self._database.execute("ROLLBACK")
                raise
            self._own_changes += 1

    @contextmanager
    def _part(self) -> Iterator[None]:
        self._database.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK TO part")
                self._database.execute("RELEASE part")
            raise
        self._database.execute("RELEASE part")

    def write(self, statement: str, values: Sequence[object] = ()) -> int:
        """Run a statement as a change, or as part of one; the id of the row that it added."""
        with self.changing():
            return self._database.execute(statement, values).lastrowid or 0

    def write_many(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        with self.changing():
            self._database.executemany(statement, rows)

    def rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        with self._turn, self._explained(writing=False), suppress(OverflowError, UnicodeError):
            return self._database.execute(query, values).fetchall()
        return []  # Nothing has a number or a name that SQLite cannot hold.

    def first(self, query: str, values: Sequence[object] = ()) -> Any:
        """The first row; None where there is none."""
        return next(iter(self.rows(query, values)), None)

    def journal(self, who: str, what: str) -> None:
        """Keep who did what, in the same change."""
        self.write("INSERT INTO journal (at, who, what) VALUES (?, ?, ?)", (self.now(), who, what))

    def backup(self, path: Path) -> None:
        """Copy the database to a new file, while others go on writing."""
        with self._turn, self._explained(writing=True):
            copy = sqlite3.connect(path, isolation_level=None)
            try:
                self._database.backup(copy)
            finally:
                copy.close()

    @contextmanager
    def _explained(self, *, writing: bool) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _explain(error, self._path, writing=writing) from error


def open_books(data: Path, *, create: bool, now: Now, steps: Steps = schema.STEPS) -> Books:
    """The database of a data folder, made where there is none, and brought up to date."""
    path = data / FILE
    try:
        if not path.exists():
            if not create:
                raise BadHouse(
                    f"{data} holds no {FILE}: it is not the data folder of a referee daemon "
                    "(--data names another)"
                )
            _make(data, path)
        return Books(data, _connect(path, steps), now)
    except OSError as error:
        raise HouseRefused(f"{data} cannot be used: {error.strerror}") from error
    except sqlite3.Error as error:
        raise _explain(error, path, writing=True) from error


def _make(data: Path, path: Path) -> None:
    """Make the database under another name and put it in its place whole, unless another process
    was faster: whoever is killed in between leaves a file that nobody reads."""
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    _must_be_free(data)
    make_private(data)
    new = path.with_name(f"{FILE}.{os.getpid()}-{threading.get_ident()}.new")
    new.unlink(missing_ok=True)
    try:
        os.close(os.open(new, os.O_CREAT | os.O_WRONLY, 0o600))
        with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            database.execute("BEGIN")
            schema.build(database)
            database.execute("COMMIT")
        with suppress(FileExistsError):
            path.hardlink_to(new)
        sync_folder(data)
    finally:
        new.unlink(missing_ok=True)


def _must_be_free(data: Path) -> None:
    """What is in a folder already is somebody's; a new disk and a killed start leave little."""
    there = [each.name for each in data.iterdir() if not each.name.startswith((".", FILE))]
    if set(there) - {"lost+found"}:
        raise BadHouse(
            f"{data} is not empty and holds no {FILE}: it is not the data folder of a referee "
            "daemon; name one that is empty or not there yet (--data)"
        )


def make_private(data: Path) -> None:
    """See that not everybody can read what is in a data folder: tokens' hashes, keys, bots.

    A folder that everybody may enter becomes its owner's alone. One that was opened to a group
    alone stays so. Raises HouseRefused.
    """
    mode = data.stat().st_mode & 0o777
    if not mode & 0o007:
        return
    try:
        data.chmod(0o700)
    except OSError as error:
        raise HouseRefused(
            f"everybody can read {data} (mode {mode:o}), and that cannot be changed: "
            f"{error.strerror}; take another folder"
        ) from None


def _connect(path: Path, steps: Steps) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=rw"
    database = sqlite3.connect(
        address, uri=True, isolation_level=None, timeout=PATIENCE_S, check_same_thread=False
    )
    try:
        _bring_up_to_date(database, path, steps)
        for setting in (
            "synchronous = FULL",
            "fullfsync = ON",
            "foreign_keys = ON",
            "temp_store = MEMORY",
            f"journal_size_limit = {16 * 1024 * 1024}",
        ):
            database.execute(f"PRAGMA {setting}")
    except BaseException:
        database.close()
        raise
    return database


def _bring_up_to_date(database: sqlite3.Connection, path: Path, steps: Steps) -> None:
    if database.execute("PRAGMA application_id").fetchone() != (schema.APPLICATION,):
        raise BadHouse(f"{path} is not the database of a referee daemon, but of another program")
    (found,) = database.execute("PRAGMA user_version").fetchone()
    if found > newest(steps):
        raise BadHouse(
            f"{path} is of version {found}, made by a newer referee; "
            f"this one knows versions up to {newest(steps)}"
        )
    if found < 1:
        raise BadHouse(f"{path} is damaged (version {found}); restore a copy of it")
    if (what := strange(database)) is not None:
        raise BadHouse(f"{path} was not made by a referee: it has {what}")
    if found < newest(steps):
        migrate(database, steps)


def _explain(error: sqlite3.Error, path: Path, *, writing: bool) -> Exception:
    """The exception to raise for an error of SQLite: a sentence, or the error if it is a bug."""
    if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
        return error
    code = result_code(error)
    if code in HELD:
        return HouseRefused(f"{path} is held by another program ({error})")
    if code == sqlite3.SQLITE_ERROR:
        return error
    if code in DISK and writing:
        return HouseFull(f"{path} cannot be written: {_disk_trouble(error, path)}")
    if code in DISK:
        return HouseRefused(f"{path} cannot be read: {error}")
    return BadHouse(f"{path} is damaged ({error}); restore a copy of it")


def _disk_trouble(error: sqlite3.Error, path: Path) -> object:
    """Some writes to a full disk are no more to SQLite than an error of the disk."""
    with suppress(OSError):
        if shutil.disk_usage(path.parent).free < LEAST_BYTES:
            return "the disk is full"
    return error
