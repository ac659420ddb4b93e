"""The tables of the season that is played, kept up to date.

Now and then the standings are drawn from the running counts of what has been committed, which takes
a tenth of the time at most, and put where the pages find them: `standings.json` in the season's
folder, always whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from referee.daemon.journal import stamp
from referee.reports.standings import Standings, standings
from referee.store.database import Store
from referee.store.house.ratings import RatingNow

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

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._draw_at = self._began = 0.0
        self._changed = True
        self._thread = ThreadPoolExecutor(1, "scoreboard")
        self._drawing: Future[Standings] | None = None

    def touch(self) -> None:
        """Something has been committed that the tables show."""
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
            self._drawing = self._thread.submit(redraw, self._folder)
        return None

    def draw(self) -> Standings:
        """The tables as they are now, also written to the snapshot."""
        self.close()
        return redraw(self._folder)

    def close(self) -> None:
        """Nothing is drawn any more beside other things; what is being drawn comes to its end."""
        self._thread.shutdown(wait=True)
        self._drawing = None


def redraw(folder: Path) -> Standings:
    """The snapshot of a season anew, from what has been committed."""
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
