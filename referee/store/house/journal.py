"""Who did what when."""

from __future__ import annotations

from referee.store.house.books import Books
from referee.store.house.rows import JournalRow


class Journal:
    """The audit log. Nothing is ever taken out of it."""

    def __init__(self, books: Books) -> None:
        self._books = books

    def add(self, who: str, what: str) -> None:
        self._books.journal(who, what)

    def recent(self, most: int = 100, before: int | None = None) -> list[JournalRow]:
        """The latest first; `before` is the id of a row to go on from."""
        rows = self._books.rows(
            "SELECT id, at, who, what FROM journal WHERE id < coalesce(?, id + 1) "
            "ORDER BY id DESC LIMIT ?",
            (before, most),
        )
        return [JournalRow(*found) for found in rows]
