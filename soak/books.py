"""What the database holds: looked at after every run, and once more, closely, at the end."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from zlib import crc32

import msgspec
from msgspec import Struct

from referee.record import Record
from referee.store.connect import FILE
from referee.store.database import Store

ORPHANS = "SELECT count(*) FROM fault WHERE game NOT IN (SELECT id FROM game)"


class Books:
    """Remembers which games the database has held."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: dict[str, int] = {}
        """Of each game, the mark of its record."""
        self.trouble: list[str] = []

    def compare(self, told: Collection[str], kept: Collection[str]) -> None:
        """After a run that told of these games, of which some must have been kept."""
        now = self._read()
        again = [game for game in told if game in self._seen]
        missing = [game for game in kept if game not in now]
        lost = [game for game in self._seen if game not in now]
        changed = [game for game, mark in self._seen.items() if now.get(game, mark) != mark]
        for what, games in (
            ("played again, though they were in the database", again),
            ("told of, and not in the database", missing),
            ("once in the database, and no longer", lost),
            ("changed since they were written", changed),
        ):
            if games:
                self.trouble.append(f"{len(games)} games {what}: {', '.join(games[:5])}")
        self._seen = now

    def _read(self) -> dict[str, int]:
        if not (self._folder / FILE).exists():
            return {}
        with Store.read(self._folder) as store:
            return {f"{row[0]}-{row[1]}": crc32(row[2]) for row in store.records()}


class Account(Struct, frozen=True, kw_only=True):
    """What is in the database at the end."""

    games: int
    planned: int
    endings: dict[str, int]
    faults: dict[str, dict[str, int]]
    """By bot and code."""
    games_of: dict[str, int]
    """By bot."""
    trouble: list[str]


def account(folder: Path) -> Account:
    """Count all of it, and see whether it fits together."""
    decoder = msgspec.msgpack.Decoder(Record)
    with Store.read(folder) as store:
        pairings = {row.id: row for row in store.pairings()}
        names = {row.id: row.name for row in store.bots()}
        records = [
            (f"{row[0]}-{row[1]}", row[0], decoder.decode(row[2])) for row in store.records()
        ]
        faults: dict[str, Counter[str]] = {name: Counter() for name in names.values()}
        for fault in store.faults():
            faults[names[fault.bot]][fault.code] += 1
    trouble = _broken(folder / FILE)
    for game, pairing, record in records:
        row = pairings[pairing]
        if record.game != game or {*record.players} != {names[row.first], names[row.second]}:
            trouble.append(f"game {game} has the record of {record.game}, {record.players}")
    games_of = Counter(name for _, _, record in records for name in record.players)
    return Account(
        games=len(records),
        planned=sum(row.games for row in pairings.values()),
        endings=dict(Counter(record.ending.value for _, _, record in records).most_common()),
        faults={name: dict(codes) for name, codes in faults.items() if codes},
        games_of=dict(games_of),
        trouble=trouble,
    )


def _broken(path: Path) -> list[str]:
    """What SQLite itself finds, and what has lost its counterpart."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        found = [row[0] for row in database.execute("PRAGMA integrity_check") if row[0] != "ok"]
        found += [str(row) for row in database.execute("PRAGMA foreign_key_check")]
        (faults,) = database.execute(ORPHANS).fetchone()
    with Store.read(path.parent) as store:
        games = {each[:2] for rows in store.columns() for each in rows}
        records = {each[:2] for each in store.records()}
    for count, what in (
        (len(games - records), "games without a record"),
        (len(records - games), "records without a game"),
        (faults, "faults without a game"),
    ):
        if count:
            found.append(f"{count} {what}")
    return found
