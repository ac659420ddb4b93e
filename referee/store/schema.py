"""The database of a tournament: its tables, and the steps from one version of them to the next.

A game's key is its pairing and its number in one integer, which is the row id of the table: a game
that comes twice cannot be held twice, and the games of a pairing lie side by side. Records are most
of the bytes and few of the questions, so they have tables of their own: one with the same key, and
one of blocks (blocks.py). That the bots of a game are those of its pairing is checked by
the store, for a batch at once: two foreign keys would cost every game half a microsecond. What
tables are made of is counted while games come in (tally.py), so that no table has to read them all.

A change of the tables changes `TABLES` and appends a step to `STEPS`: the statements that turn a
database of the version before into the new one. The version is one more than the number of steps.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from typing import TypeAlias

from referee.store import first_tallies, tally
from referee.store.blocks import BLOCK

_PLAIN = re.compile(r"CREATE (TABLE|INDEX) ")
"""How SQLite keeps the statements that made what a referee's databases have."""
APPLICATION = 0x52_66_54_6E
"""`RfTn`, in the header of the file: tells a tournament from any other SQLite database."""

RULING = """CREATE TABLE ruling (
    game INTEGER PRIMARY KEY REFERENCES game,
    what TEXT NOT NULL,
    seat INTEGER,
    reason TEXT NOT NULL,
    by TEXT NOT NULL,
    at TEXT NOT NULL
)"""

TABLES = (
    """CREATE TABLE value (
        key TEXT PRIMARY KEY,
        text TEXT NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE bot (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        version TEXT NOT NULL,
        hash TEXT NOT NULL,
        definition TEXT NOT NULL,
        out TEXT
    )""",
    """CREATE TABLE pairing (
        id INTEGER PRIMARY KEY,
        round INTEGER NOT NULL,
        variant TEXT NOT NULL,
        first INTEGER NOT NULL REFERENCES bot,
        second INTEGER NOT NULL REFERENCES bot,
        games INTEGER NOT NULL,
        replay INTEGER NOT NULL
    )""",
    """CREATE TABLE game (
        id INTEGER PRIMARY KEY,
        pair INTEGER NOT NULL,
        first INTEGER NOT NULL,
        second INTEGER NOT NULL,
        points INTEGER,
        ending TEXT NOT NULL,
        plays INTEGER NOT NULL,
        digest INTEGER NOT NULL
    )""",
    """CREATE TABLE record (
        id INTEGER PRIMARY KEY,
        body BLOB NOT NULL
    )""",
    """CREATE TABLE fault (
        game INTEGER NOT NULL REFERENCES game,
        seat INTEGER NOT NULL,
        bot INTEGER NOT NULL REFERENCES bot,
        code TEXT NOT NULL,
        turn INTEGER NOT NULL,
        detail TEXT NOT NULL,
        PRIMARY KEY (game, seat)
    ) WITHOUT ROWID""",
    RULING,
    """CREATE TABLE time (
        variant TEXT NOT NULL,
        bot INTEGER NOT NULL REFERENCES bot,
        bucket INTEGER NOT NULL,
        moves INTEGER NOT NULL,
        PRIMARY KEY (variant, bot, bucket)
    ) WITHOUT ROWID""",
    *tally.CREATE,
    BLOCK,
)
SMALL = ("value", "bot", "pairing", "game", "fault", "ruling", "time", "tally", "digest", "blame")
"""All tables but those that grow with the length of the games."""

Steps: TypeAlias = Sequence[Sequence[str]]
STEPS: Steps = ((RULING,), first_tallies.STEP, (BLOCK,))
"""The first step leads from version 1 to version 2, and so on."""


def newest(steps: Steps) -> int:
    """The version that the steps lead to."""
    return 1 + len(steps)


def build(database: sqlite3.Connection) -> None:
    """Make the tables, in the caller's transaction."""
    for table in TABLES:
        database.execute(table)
    database.execute(f"PRAGMA application_id = {APPLICATION}")
    database.execute(f"PRAGMA user_version = {newest(STEPS)}")


def version(database: sqlite3.Connection) -> int | None:
    """The version of the tables; None for a database that is no tournament's."""
    if database.execute("PRAGMA application_id").fetchone() != (APPLICATION,):
        return None
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def strange(database: sqlite3.Connection) -> str | None:
    """What a database has that no referee makes; None where there is nothing.

    A file that somebody else made may have a view or a computed column where a table is due: what
    stands there is worked out by whoever reads it, for as long as it likes. A trigger changes what
    others write.
    """
    made = database.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    for name, statement in made.fetchall():
        if not _PLAIN.match(str(statement)):
            return f"{' '.join(str(statement).split()[:2])} {name}"
        columns = database.execute("SELECT name FROM pragma_table_xinfo(?) WHERE hidden", (name,))
        if (column := columns.fetchone()) is not None:
            return f"the computed column {column[0]} of {name}"
    return None


def migrate(database: sqlite3.Connection, steps: Steps) -> None:
    """Bring an older database to the newest version: all steps or none.

    Foreign keys have to be off, as they are in a fresh connection: a step may build a table anew.
    """
    database.execute("BEGIN IMMEDIATE")
    try:
        # Read again now that nobody else can write.
        (found,) = database.execute("PRAGMA user_version").fetchone()
        for step in steps[found - 1 :]:
            for statement in step:
                database.execute(statement)
        database.execute(f"PRAGMA user_version = {newest(steps)}")
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise
