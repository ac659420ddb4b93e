"""A connection to a tournament in a PostgreSQL database: what the store asks, one trip at a time.

A trip to a server elsewhere costs more than anything else, so that games go in by COPY, a batch at
once, and an answer is declared and its first rows are fetched in one message. Answers come through
cursors of the server: several may be open at a time, and none has to fit into memory.

A forked child shares the connection, and would keep the server waiting for a writer that is dead:
it closes its copy at once. Programs that are started anew never see it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, cast

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrBinaryDumper, StrDumper

from referee.store.engine import Bulk
from referee.store.postgres.waiting import Connection

_KEYED = ("game", "fault")
_TYPES = """SELECT table_name, udt_name FROM information_schema.columns
    WHERE table_schema = %s ORDER BY table_name, ordinal_position"""
_USED = """SELECT coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::bigint FROM pg_class
    JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = %s AND relkind = 'r'"""
_DIGESTS = """INSERT INTO digest SELECT %s, unnest(%s::bigint[]) ON CONFLICT DO NOTHING"""
_open: weakref.WeakSet[Link] = weakref.WeakSet()


class Text(StrDumper):
    """Text without the one character that PostgreSQL does not take: a bot may send it."""

    def dump(self, obj: str) -> bytes:
        return _storable(obj)


class CopiedText(StrBinaryDumper):
    """The same where rows are copied."""

    def dump(self, obj: str) -> bytes:
        return _storable(obj)


def _storable(text: str) -> bytes:
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode()


def prepare(connection: Connection) -> None:
    """All integers are as wide as the columns are, so that a statement has one shape."""
    connection.adapters.register_dumper(int, Int8Dumper)
    connection.adapters.register_dumper(str, CopiedText)
    connection.adapters.register_dumper(str, Text)


@cache
def translated(query: str) -> str:
    """SQL that SQLite takes as well, with the marks that this driver wants."""
    return query.replace("?", "%s")


class Link:
    """An open connection, in the schema of a tournament; a store's `Database`."""

    Error = psycopg.Error
    IntegrityError = psycopg.IntegrityError

    def __init__(
        self, connection: Connection, named: str, schema: str, *, for_writing: bool
    ) -> None:
        self.named = named
        self._for_writing = for_writing
        self._connection = connection
        self._schema = schema
        self._copied: dict[str, list[str]] = {}
        """The types of the columns of each table."""
        self._numbers = itertools.count(1)
        self._finished: list[str] = []
        """Cursors of this transaction that nobody reads any more."""
        self._transaction = 0
        self._lost: psycopg.Error | None = None
        """By which error the connection was lost: what follows says less."""
        _open.add(self)

    @property
    def in_transaction(self) -> bool:
        return self._connection.info.transaction_status in (
            TransactionStatus.INTRANS,
            TransactionStatus.INERROR,
            TransactionStatus.ACTIVE,
        )

    def execute(self, query: str, values: Sequence[object] = (), /) -> Any:
        return self._connection.execute(translated(query), values or None)

    def executemany(self, query: str, rows: Iterable[Sequence[object]], /) -> Any:
        cursor = self._connection.cursor()
        cursor.executemany(translated(query), list(rows))
        return cursor

    def insert(self, table: Bulk, rows: Sequence[Sequence[object]]) -> None:
        if not self._copied:
            for name, kind in self._connection.execute(_TYPES, (self._schema,)):
                self._copied.setdefault(name, []).append(kind)
        cursor = self._connection.cursor()
        with cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(self._copied[table])
            if table in _KEYED:
                for pairing, number, *rest in cast("Sequence[Sequence[Any]]", rows):
                    copy.write_row((pairing << 32 | number, *rest))
            else:
                for row in rows:
                    copy.write_row(row)

    def insert_digests(self, pairing: int, digests: Sequence[int]) -> int:
        # Written out here: the driver takes twenty times as long for it.
        listed = f"{{{','.join(map(str, digests))}}}"
        return self._connection.execute(_DIGESTS, (pairing, listed)).rowcount

    def chunks(self, query: str, values: Sequence[object], at_once: int) -> Iterator[list[Any]]:
        cursor = psycopg.ClientCursor(self._connection)
        name = f"answer{next(self._numbers)}"
        # A cursor lives in a transaction. Where there is none, the next commit or roll-back ends
        # this one, which has changed nothing and locks nobody out.
        begin = "" if self.in_transaction else "BEGIN; "
        close = "".join(f"CLOSE {each}; " for each in self._finished)
        self._finished = []
        declare = f"DECLARE {name} NO SCROLL CURSOR FOR {translated(query)}"
        fetch = f"FETCH FORWARD {at_once} FROM {name}"
        cursor.execute(f"{begin}{close}{declare}; {fetch}", values)
        transaction = self._transaction
        try:
            while cursor.nextset():
                pass
            while rows := cursor.fetchall():
                yield rows
                if len(rows) < at_once:
                    break
                cursor.execute(fetch)
        finally:
            if transaction == self._transaction:
                self._finished.append(name)

    # Transactions.

    def begin_addition(self) -> None:
        begin = "" if self.in_transaction else "BEGIN; "
        self._connection.execute(f"{begin}SAVEPOINT addition")

    def end_addition(self) -> None:
        self._connection.execute("RELEASE addition")

    def undo_addition(self) -> None:
        if self.in_transaction:
            self._forget_cursors()
            self._connection.execute("ROLLBACK TO addition; RELEASE addition")

    def commit(self) -> None:
        self._forget_cursors()
        done = self._connection.execute("COMMIT").statusmessage
        if done != "COMMIT":
            # The server's answer to COMMIT where something in the transaction has failed.
            raise psycopg.InternalError(f"COMMIT was answered by {done}")

    def rollback(self) -> None:
        self._forget_cursors()
        if self.in_transaction:
            self._connection.execute("ROLLBACK")

    def _forget_cursors(self) -> None:
        """They end with the transaction, or with what of it is undone."""
        self._transaction += 1
        self._finished = []

    def used_bytes(self) -> int:
        row = self._connection.execute(_USED, (self._schema,)).fetchone()
        return 0 if row is None else int(row[0])

    def while_silent(self, told: Callable[[float], None]) -> None:
        self._connection.while_silent = told

    def explained(self, error: Exception, *, writing: bool) -> BaseException:
        assert isinstance(error, psycopg.Error)
        if self._connection.closed or self._connection.broken:
            self._lost = error = self._lost or error
            # A writer that was reading back has lost its tournament all the same.
            writing = self._for_writing
        return self._connection.explained(error, self.named, writing=writing)

    def close(self) -> None:
        _open.discard(self)
        self._connection.close()

    def let_go(self) -> None:
        """In a forked child: of the socket alone, of which the parent says when it is over."""
        with contextlib.suppress(OSError, psycopg.Error):
            os.close(self._connection.fileno())


def _let_go() -> None:
    for link in list(_open):
        link.let_go()
        _open.discard(link)


os.register_at_fork(after_in_child=_let_go)
