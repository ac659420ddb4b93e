"""The tables of the season that is played: kept up to date without reading the games again.

Games are added as they come. Now and then the standings are drawn, which takes a tenth of the time
at most, and put where the pages find them: `standings.json` in the season's folder, always whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from referee.daemon.journal import stamp
from referee.reports.arrays import (
    FaultArrays,
    GameArrays,
    fault_arrays,
    game_arrays,
    joined_faults,
    joined_games,
)
from referee.reports.standings import (
    Setting,
    Standings,
    setting_of,
    standings,
    standings_from,
)
from referee.store.database import Store
from referee.store.house.ratings import RatingNow
from referee.store.rows import Columns, FaultRow
from referee.tournament.chunk import Batch

FILE = "standings.json"
DRAW_S = 2.0
DRAW_SHARE = 9
"""Between two drawings there are so many times as long as the last one took."""
MOST_CELLS = 5_000
"""Of a table, in the snapshot: every two bots that met make two. Beyond, it would be megabytes
every few seconds, and head-to-head is read from the store."""


class Snapshot(Standings, frozen=True, kw_only=True):
    """The standings with the time at which they were drawn."""

    at: str


class Scoreboard:
    """The standings of an open season."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._games = game_arrays(store.columns())
        self._faults = fault_arrays(store.faults())
        self._new_games: list[Columns] = []
        self._new_faults: list[FaultRow] = []
        self._draw_at = self._began = 0.0
        self._changed = True
        self._thread = ThreadPoolExecutor(1, "scoreboard")
        self._drawing: Future[Standings] | None = None

    def add(self, batch: Batch) -> None:
        """Games that are in the store."""
        self._new_games += [(*game[:6], game.ending, game.digest) for game in batch.games]
        self._new_faults += batch.faults
        self._changed = True

    def touch(self) -> None:
        """Something else has changed that the tables show, such as a ruling or a new bot."""
        self._changed = True

    def look(self, now: float) -> Standings | None:
        """Draw the tables where it is time, beside whatever else is done; those that are ready."""
        if self._drawing is not None:
            if not self._drawing.done():
                return None
            drawing, self._drawing = self._drawing, None
            took_s = now - self._began
            self._draw_at = now + max(DRAW_S, DRAW_SHARE * took_s)
            return drawing.result()
        if self._changed and now >= self._draw_at:
            self._changed, self._began = False, now
            setting = self._up_to_date()
            path = self._store.folder / FILE
            self._drawing = self._thread.submit(_draw, path, setting, self._games, self._faults)
        return None

    def draw(self) -> Standings:
        """The tables as they are now, also written to the snapshot."""
        self.close()
        setting = self._up_to_date()
        return _draw(self._store.folder / FILE, setting, self._games, self._faults)

    def close(self) -> None:
        """Nothing is drawn any more beside other things; what is being drawn comes to its end."""
        self._thread.shutdown(wait=True)
        self._drawing = None

    def _up_to_date(self) -> Setting:
        if self._new_games:
            self._games = joined_games(self._games, game_arrays([self._new_games]))
            self._new_games = []
        if self._new_faults:
            self._faults = joined_faults(self._faults, fault_arrays(self._new_faults))
            self._new_faults = []
        return setting_of(self._store)


def redraw(folder: Path) -> Standings:
    """The snapshot of a season that nobody plays just now, anew."""
    with Store.read(folder) as store:
        found = standings(store)
    _write(folder / FILE, found)
    return found


class LastWord(Struct, frozen=True):
    """What a snapshot says that may be said when no game is played any more."""

    finished: bool = False
    disqualified: dict[str, str] = {}


def last_word(folder: Path) -> LastWord:
    """Of the snapshot there."""
    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=LastWord)
    except (FileNotFoundError, msgspec.MsgspecError):
        return LastWord()


def _draw(path: Path, setting: Setting, games: GameArrays, faults: FaultArrays) -> Standings:
    """In a thread of its own: it touches no database, and most of it is numpy's."""
    found = standings_from(setting, games, faults)
    _write(path, found)
    return found


def ratings_of(found: Standings, versions: dict[str, int]) -> Iterator[RatingNow]:
    """What is kept of a drawing for the curves, `versions` by the names in the tables."""
    for table in found.tables:
        for row in table.rows:
            if row.elo is not None and row.name in versions:
                yield RatingNow(
                    versions[row.name], table.variant or "", row.elo, row.err95, row.games
                )


def _write(path: Path, found: Standings) -> None:
    tables = [
        table if len(table.cells) <= MOST_CELLS else replace(table, cells=[])
        for table in found.tables
    ]
    snapshot = Snapshot(**asdict(replace(found, tables=tables)), at=stamp())
    new = path.with_suffix(".new")
    new.write_bytes(msgspec.json.encode(snapshot))
    new.replace(path)
