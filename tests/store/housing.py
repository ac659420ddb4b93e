"""A house for tests, with a clock that is turned by hand."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from referee.store.house import House
from referee.store.house.rows import TeamRow, VersionRow


class Clock:
    """What the house takes for the time."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 16, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def turn(self, **by: float) -> None:
        self.time += timedelta(**by)


def contents(folder: Path) -> dict[str, object]:
    """All that is kept in a folder: files by their bytes, databases by their rows.

    To open a database touches its folder, and a lock is written to by whoever takes it.
    """
    passing = ("-wal", "-shm", ".lock")
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {
        str(path.relative_to(folder)): _rows(path) if path.suffix == ".db" else path.read_bytes()
        for path in files
        if not path.name.endswith(passing)
    }


def _rows(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as database:
        return list(database.iterdump())


def played(house: House, bot: str, team: TeamRow | None, content: bytes) -> VersionRow:
    """A version that was submitted, claimed and accepted."""
    version = house.submissions.keep(bot, team, content)
    claimed = house.submissions.claim()
    assert claimed is not None and claimed.id == version.id
    return house.submissions.accept(version.id, '{"name":"x"}')
