"""Tournaments that somebody asked the daemon for, one after the other."""

from __future__ import annotations

from pathlib import Path

from referee.store.house.books import Books
from referee.store.house.mistakes import Conflict, Unknown
from referee.store.house.rows import TournamentRow, TournamentState

FOLDER = "tournaments"
_SELECT = "SELECT id, spec, state, told, by, asked, changed FROM tournament"


class Tournaments:
    """The queue of tournaments, and those that were played."""

    def __init__(self, books: Books) -> None:
        self._books = books

    def all(self) -> list[TournamentRow]:
        return [TournamentRow(*found) for found in self._books.rows(f"{_SELECT} ORDER BY id")]

    def get(self, number: int) -> TournamentRow:
        """Raises Unknown."""
        found = self._books.first(f"{_SELECT} WHERE id = ?", (number,))
        if found is None:
            raise Unknown(f"there is no tournament {number}")
        return TournamentRow(*found)

    def folder(self, tournament: TournamentRow) -> Path:
        """Where its games are, or will be."""
        return self._books.data / FOLDER / str(tournament.id)

    def ask(self, spec: str, *, by: str) -> TournamentRow:
        """Queue a tournament; `spec` is JSON that was checked."""
        with self._books.changing():
            now = self._books.now()
            number = self._books.write(
                "INSERT INTO tournament (spec, state, by, asked, changed) "
                "VALUES (?, 'queued', ?, ?, ?)",
                (spec, by, now, now),
            )
            self._books.journal(by, f"asked for tournament {number}")
            return self.get(number)

    def claim(self) -> TournamentRow | None:
        """The next in the queue, to be played; None where nobody waits."""
        query = f"{_SELECT} WHERE state = 'queued' ORDER BY id LIMIT 1"
        if self._books.first(query) is None:
            return None
        with self._books.changing():
            found = self._books.first(query)
            return None if found is None else self._set(found[0], "playing", "")

    def finish(self, number: int, told: str = "") -> TournamentRow:
        """Raises Unknown, Conflict."""
        return self._end(number, "finished", told)

    def fail(self, number: int, told: str) -> TournamentRow:
        """It could not be played, or not to its end. Raises Unknown, Conflict."""
        return self._end(number, "failed", told)

    def cancel(self, number: int, *, by: str) -> TournamentRow:
        """Whoever plays it sees that it is no longer `playing`. Raises Unknown, Conflict."""
        with self._books.changing():
            if self.get(number).state not in ("queued", "playing"):
                raise Conflict(f"tournament {number} is {self.get(number).state} already")
            self._books.journal(by, f"called off tournament {number}")
            return self._set(number, "failed", f"called off by {by}")

    def put_all_back(self) -> int:
        """What a daemon that was killed was playing: it goes on with the games that it has."""
        held = [row for row in self.all() if row.state == "playing"]
        for row in held:
            self._set(row.id, "queued", row.told)
        return len(held)

    def _end(self, number: int, state: TournamentState, told: str) -> TournamentRow:
        with self._books.changing():
            if self.get(number).state != "playing":
                raise Conflict(f"tournament {number} is not being played")
            return self._set(number, state, told)

    def _set(self, number: int, state: TournamentState, told: str) -> TournamentRow:
        self._books.write(
            "UPDATE tournament SET state = ?, told = ?, changed = ? WHERE id = ?",
            (state, told, self._books.now(), number),
        )
        return self.get(number)
