"""What the store asks of a database, of whichever kind: a file of SQLite, or a PostgreSQL server.

Everything that the two kinds have in common is SQL that both take, with `?` where a value goes.
What they do not have in common stands behind the methods here: how a transaction begins, how many
rows go in at once and come out a few at a time, and what an error means to people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol

from referee.store.rows import BotRow

Bulk = Literal["pairing", "game", "record", "fault"]
"""Tables that get many rows at a time. Rows of `game` and `fault` begin with pairing and number,
of which the database makes their key."""

SET_VALUE = """INSERT INTO value VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET
    text = excluded.text"""
SET_BOT = """INSERT INTO bot VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, version = excluded.version, hash = excluded.hash,
    definition = excluded.definition, out = excluded.out"""


class Database(Protocol):
    """A tournament's database, open. The names of Python's DB-API mean what they mean there."""

    @property
    def named(self) -> str:
        """As people know it: a path, or an address."""

    @property
    def Error(self) -> type[Exception]: ...  # noqa: N802

    @property
    def IntegrityError(self) -> type[Exception]: ...  # noqa: N802

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, query: str, values: Sequence[object] = (), /) -> Any: ...

    def executemany(self, query: str, rows: Iterable[Sequence[object]], /) -> Any: ...

    def insert(self, table: Bulk, rows: Sequence[Sequence[object]]) -> None:
        """All of them, or IntegrityError."""

    def insert_digests(self, pairing: int, digests: Sequence[int]) -> int:
        """Those that are not there under this pairing; how many they were."""

    def chunks(self, query: str, values: Sequence[object], at_once: int) -> Iterator[list[Any]]:
        """The rows of an answer in lists of up to so many. Other questions may come in between."""

    def begin_addition(self) -> None:
        """A savepoint, in a transaction that begins with it if there is none."""

    def end_addition(self) -> None: ...

    def undo_addition(self) -> None:
        """As it was before the savepoint, if the transaction is still there."""

    def commit(self) -> None:
        """What was added is safe when this returns."""

    def rollback(self) -> None: ...

    def used_bytes(self) -> int:
        """What it takes, less what is free within it."""

    def while_silent(self, told: Callable[[float], None]) -> None:
        """Have this called now and then while no answer comes, with the seconds so far. What it
        raises ends the wait, and with it whatever was not committed."""

    def explained(self, error: Exception, *, writing: bool) -> BaseException:
        """The exception to raise for one of its errors: a sentence, what ended a wait, or the
        error if it is a bug."""

    def close(self) -> None: ...


class Place(Protocol):
    """Where a tournament's database is, or is to be."""

    def create(self, values: Mapping[str, str], bots: Sequence[BotRow]) -> None:
        """Make it, whole or not at all. The folder is locked. Raises BadStore."""

    def open_for_writing(self) -> Database:
        """Checked and up to date. The folder is locked. Raises BadStore."""

    def open_for_reading(self) -> Database:
        """As it is at this moment; what is written later is not seen. Raises BadStore."""


class OnServer(Place, Protocol):
    """A place that others may take as well."""

    def must_be_free(self) -> None:
        """That it can be reached, and that there is no tournament of this name yet. Raises
        BadStore."""
