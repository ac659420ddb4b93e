"""What can go wrong with a tournament's folder, as one sentence that names it.

SQLite tells apart what matters here by its result codes: a disk that takes no more (the data that
is there is whole), a file that is damaged or was never ours (it is not), and a database that
another program holds.
"""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from referee.mistake import REFUSED, Mistake

DISK = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY}
DISK |= {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
HELD = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_CALLER = (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError)


class BadStore(Mistake):
    """A folder whose tournament cannot be made, opened, read or written; says why."""


class StoreRefused(BadStore):
    """The system does not let us write there."""

    status = REFUSED


class StoreFull(StoreRefused):
    """The disk takes no more, for want of room or because it fails. What was committed is safe."""


def is_no_room(error: BaseException) -> bool:
    """Whether a disk is full, as the system or SQLite says: in this error or in what led to it."""
    at: BaseException | None = error
    while at is not None:
        if isinstance(at, OSError) and at.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        if isinstance(at, sqlite3.Error) and result_code(at) == sqlite3.SQLITE_FULL:
            return True
        at = at.__cause__ or at.__context__
    return False


def result_code(error: sqlite3.Error) -> int | None:
    """SQLite's result code without its finer shades; None where Python itself raised the error."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def damaged(named: object, what: object) -> BadStore:
    return BadStore(
        f"{named} is damaged ({what}); restore a copy of it "
        "(`referee export` gives the games before the damage, if there are any)"
    )


def explain(error: sqlite3.Error, path: Path, *, writing: bool) -> Exception:
    """The exception to raise for an error of SQLite: a sentence, or the error if it is a bug."""
    if isinstance(error, _CALLER):
        return error
    code = result_code(error)
    if code in HELD:
        return BadStore(f"{path} is held by another program ({error})")
    if code not in DISK:
        return damaged(path, error)
    if not writing:
        return BadStore(f"{path} cannot be read: {error}")
    return StoreFull(
        f"{path} cannot be written: {error}; every game that was committed is safe, "
        "and the tournament can be resumed when there is room"
    )
