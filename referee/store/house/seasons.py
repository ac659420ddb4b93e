"""Seasons: a ladder from its start to its end, with a public table that can be frozen.

The games of a season are an ordinary tournament folder, `DATA/seasons/NAME`; the daemon makes it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from referee.store.house.books import Books
from referee.store.house.mistakes import Conflict, Unknown
from referee.store.house.names import must_be_season_name
from referee.store.house.rows import SeasonRow
from referee.store.rows import GamesAt

FOLDER = "seasons"
_SELECT = "SELECT id, name, spec, state, started, frozen_at, revealed, closed FROM season"


def _row(found: Any) -> SeasonRow:
    *start, revealed, closed = found
    return SeasonRow(*(*start, bool(revealed), closed))


class Seasons:
    """All seasons; one at most is not closed."""

    def __init__(self, books: Books) -> None:
        self._books = books

    def all(self) -> list[SeasonRow]:
        return [_row(found) for found in self._books.rows(f"{_SELECT} ORDER BY id")]

    def find(self, name: str) -> SeasonRow | None:
        found = self._books.first(f"{_SELECT} WHERE name = ?", (name,))
        return None if found is None else _row(found)

    def named(self, name: str) -> SeasonRow:
        """Raises Unknown."""
        season = self.find(name)
        if season is None:
            known = ", ".join(row.name for row in self.all()) or "none yet"
            raise Unknown(f"there is no season {name[:80]!r}; there is {known}")
        return season

    def current(self) -> SeasonRow | None:
        """The one that is not closed."""
        found = self._books.first(f"{_SELECT} WHERE state <> 'closed' ORDER BY id DESC")
        return None if found is None else _row(found)

    def latest(self) -> SeasonRow | None:
        """The current one, or the last that was."""
        found = self._books.first(f"{_SELECT} ORDER BY id DESC")
        return None if found is None else _row(found)

    def folder(self, season: SeasonRow) -> Path:
        """Where its games are, or will be. Raises HouseMistake where the name is no season's: a
        database that somebody else made is not to say which folders are written to."""
        return self._books.data / FOLDER / must_be_season_name(season.name)

    def frozen(self, season: SeasonRow) -> str | None:
        """The standings that were frozen, as JSON; None where none were. Beside what `freeze` was
        given it has `entrants`, which version of every bot played then, and who did not, and
        `games`, those that there were."""
        found = self._books.first("SELECT frozen FROM season WHERE id = ?", (season.id,))
        return None if found is None else found[0]

    def start(self, spec: str, name: str | None = None, *, by: str) -> SeasonRow:
        """A new season; `spec` is the JSON of a tournament's Spec that was checked.

        Without a name it is called by its number. Raises Conflict where one is not closed yet.
        """
        with self._books.changing():
            open_one = self.current()
            if open_one is not None:
                raise Conflict(f"the season {open_one.name} is not closed yet; close it first")
            name = must_be_season_name(self._free_number() if name is None else name)
            if self.find(name) is not None:
                raise Conflict(f"there is a season {name} already; take another name")
            self._books.write(
                "INSERT INTO season (name, spec, state, started) VALUES (?, ?, 'open', ?)",
                (name, spec, self._books.now()),
            )
            self._books.journal(by, f"started the season {name}")
            return self.named(name)

    def freeze(self, name: str, standings: str, games: GamesAt, *, by: str) -> SeasonRow:
        """From now on the public sees these standings, JSON, and these games alone, until they are
        revealed."""
        with self._books.changing():
            season = self.named(name)
            if season.state == "closed":
                raise Conflict(f"the season {name} is closed")
            if season.hidden:
                raise Conflict(f"the season {name} is frozen already, since {season.frozen_at}")
            self._books.write(
                "UPDATE season SET state = 'frozen', frozen_at = ?, frozen = ?, revealed = 0 "
                "WHERE id = ?",
                (self._books.now(), self._with_entrants(standings, games), season.id),
            )
            self._books.journal(by, f"froze the season {name}")
            return self.named(name)

    def _with_entrants(self, standings: str, games: GamesAt) -> str:
        """What a table shows of bots beside their games stays as it was, too."""
        rows = self._books.rows("SELECT id, active, paused, disqualified FROM bot ORDER BY id")
        entrants = {
            str(number): {"active": active, "paused": bool(paused), "disqualified": why}
            for number, active, paused, why in rows
        }
        found = msgspec.json.decode(standings, type=dict[str, msgspec.Raw])
        return msgspec.json.encode({**found, "entrants": entrants, "games": games}).decode()

    def reveal(self, name: str, *, by: str) -> SeasonRow:
        """The public sees the true standings again."""
        with self._books.changing():
            season = self.named(name)
            if not season.hidden:
                raise Conflict(f"the season {name} is not frozen")
            state = "closed" if season.state == "closed" else "open"
            self._books.write(
                "UPDATE season SET state = ?, revealed = 1 WHERE id = ?", (state, season.id)
            )
            self._books.journal(by, f"revealed the season {name}")
            return self.named(name)

    def close(self, name: str, *, by: str) -> SeasonRow:
        """No more games. What is frozen stays so until it is revealed."""
        with self._books.changing():
            season = self.named(name)
            if season.state == "closed":
                raise Conflict(f"the season {name} is closed already")
            self._books.write(
                "UPDATE season SET state = 'closed', closed = ? WHERE id = ?",
                (self._books.now(), season.id),
            )
            self._books.journal(by, f"closed the season {name}")
            return self.named(name)

    def _free_number(self) -> str:
        taken = {season.name for season in self.all()}
        number = len(taken) + 1
        while str(number) in taken:
            number += 1
        return str(number)
