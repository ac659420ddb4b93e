"""The tables of `house.db`, and the steps from one version of them to the next.

Times are text, as in records: UTC, to the millisecond, so that they sort as they follow each other.
Tokens are kept as their SHA-256 alone. The names of teams and bots have a second form beside them,
without upper case and look-alikes of Unicode: two names that read the same are one name.
"""

from __future__ import annotations

import sqlite3

from referee.store.schema import Steps, newest

APPLICATION = 0x52_66_48_73
"""`RfHs`, in the header of the file."""

TABLES = (
    """CREATE TABLE team (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        plain TEXT NOT NULL UNIQUE,
        role TEXT NOT NULL CHECK (role IN ('organiser', 'team', 'viewer')),
        token TEXT UNIQUE,
        created TEXT NOT NULL
    )""",
    """CREATE TABLE bot (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        plain TEXT NOT NULL UNIQUE,
        team INTEGER REFERENCES team,
        kind TEXT NOT NULL CHECK (kind IN ('submitted', 'connected')),
        public_key TEXT UNIQUE,
        token TEXT UNIQUE,
        paused INTEGER NOT NULL DEFAULT 0,
        disqualified TEXT,
        active INTEGER REFERENCES version,
        created TEXT NOT NULL
    )""",
    """CREATE TABLE version (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        bot INTEGER NOT NULL REFERENCES bot,
        number INTEGER NOT NULL,
        team INTEGER REFERENCES team,
        label TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN
            ('queued', 'building', 'checking', 'playing', 'rejected', 'retired')),
        told TEXT NOT NULL DEFAULT '',
        definition TEXT NOT NULL DEFAULT '',
        hello TEXT NOT NULL DEFAULT '',
        hash TEXT NOT NULL,
        size INTEGER NOT NULL,
        room INTEGER NOT NULL DEFAULT 0,
        kept INTEGER NOT NULL,
        submitted TEXT NOT NULL,
        changed TEXT NOT NULL,
        UNIQUE (bot, number)
    )""",
    "CREATE INDEX version_by_state ON version (state)",
    "CREATE INDEX version_by_team ON version (team, submitted)",
    """CREATE TABLE season (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        spec TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('open', 'frozen', 'closed')),
        started TEXT NOT NULL,
        frozen_at TEXT,
        frozen TEXT,
        revealed INTEGER NOT NULL DEFAULT 0,
        closed TEXT
    )""",
    """CREATE TABLE rating (
        season INTEGER NOT NULL REFERENCES season,
        version INTEGER NOT NULL REFERENCES version,
        variant TEXT NOT NULL,
        at TEXT NOT NULL,
        elo REAL,
        err95 REAL,
        games INTEGER NOT NULL,
        PRIMARY KEY (season, version, variant, at)
    ) WITHOUT ROWID""",
    """CREATE TABLE rating_now (
        season INTEGER NOT NULL REFERENCES season,
        version INTEGER NOT NULL REFERENCES version,
        variant TEXT NOT NULL,
        at TEXT NOT NULL,
        elo REAL,
        err95 REAL,
        games INTEGER NOT NULL,
        PRIMARY KEY (season, version, variant)
    ) WITHOUT ROWID""",
    """CREATE TABLE ruling (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        season INTEGER NOT NULL REFERENCES season,
        pairing INTEGER NOT NULL,
        number INTEGER NOT NULL,
        what TEXT NOT NULL CHECK (what IN ('void', 'award', 'lift')),
        seat INTEGER CHECK (seat IN (0, 1)),
        reason TEXT NOT NULL,
        by TEXT NOT NULL,
        at TEXT NOT NULL,
        applied INTEGER NOT NULL DEFAULT 0
    )""",
    """CREATE TABLE tournament (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        spec TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('queued', 'playing', 'finished', 'failed')),
        told TEXT NOT NULL DEFAULT '',
        by TEXT NOT NULL,
        asked TEXT NOT NULL,
        changed TEXT NOT NULL
    )""",
    """CREATE TABLE setting (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE journal (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at TEXT NOT NULL,
        who TEXT NOT NULL,
        what TEXT NOT NULL
    )""",
)
STEPS: Steps = (("ALTER TABLE version ADD COLUMN room INTEGER NOT NULL DEFAULT 0",),)
"""The first step leads from version 1 to version 2, and so on."""


def build(database: sqlite3.Connection) -> None:
    """Make the tables, in the caller's transaction."""
    for table in TABLES:
        database.execute(table)
    database.execute(f"PRAGMA application_id = {APPLICATION}")
    database.execute(f"PRAGMA user_version = {newest(STEPS)}")
