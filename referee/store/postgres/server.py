"""Tournaments on a PostgreSQL server: made, opened for writing, opened for reading, listed.

A tournament is a schema, made in one transaction: it is there as a whole or not at all. Its tables
are those of a file, and the table `referee` says of which version they are.

One session writes. The lock is the server's and ends with the session, however that ends; a session
that nobody hears of for a minute is ended by the server.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg
from msgspec.structs import astuple
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict

from referee.store import schema
from referee.store.engine import SET_BOT, SET_VALUE
from referee.store.postgres.address import Address, Listed, must_be_free, typed, write_address
from referee.store.postgres.link import Link, prepare, translated
from referee.store.postgres.trouble import StoreLost, explain_refusal, one_line
from referee.store.postgres.waiting import ANSWER_S, LONG_ANSWER_S, Connection
from referee.store.rows import BotRow
from referee.store.trouble import BadStore, StoreRefused

_USUAL = {"connect_timeout": 10, "keepalives_idle": 30, "tcp_user_timeout": 60_000}
"""Of a connection, where the URL does not say otherwise: a server that is gone is missed."""
PATIENCE_S = 2.0
"""How long to wait for the session of a writer that was killed: the server finds out soon."""
SHOWN_NAMES = 10
MARK = "referee"
"""The table that tells a tournament from any other schema."""
_FIRST_VERSION = 4
"""Tournaments of earlier versions were in files alone."""
_TYPES = {
    r"\bINTEGER\b": "BIGINT",
    r"\bBLOB\b": "BYTEA",
    # Text is in order of its bytes, as it is in a file, wherever the server stands.
    r"\bTEXT\b": 'TEXT COLLATE "C"',
    r" WITHOUT ROWID$": "",
}
_SETTINGS = (
    ("statement_timeout", "0", 0),
    ("lock_timeout", "0", 0),
    ("idle_in_transaction_session_timeout", "0", 0),
    ("idle_session_timeout", "0", 140000),
    ("transaction_timeout", "0", 170000),
    ("default_transaction_read_only", "off", 0),
    ("default_transaction_isolation", "'read committed'", 0),
    ("row_security", "off", 0),
    ("jit", "off", 110000),
    ("tcp_keepalives_idle", "30", 0),
    ("tcp_keepalives_interval", "10", 0),
    ("tcp_keepalives_count", "3", 0),
)
"""What the server is told of a session, and since which version it knows of it: nobody ends a
tournament because it thinks for long, and a machine that is gone holds nothing."""
_SAFE = """SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') IN ('off', 'local')"""
_FOUND = """SELECT pg_class.oid FROM pg_namespace
    LEFT JOIN pg_class ON relnamespace = pg_namespace.oid AND relname = %s AND relkind = 'r'
    WHERE nspname = %s"""
_MAY_CREATE = "SELECT has_database_privilege(current_database(), 'CREATE')"
_ALL = """SELECT nspname FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid
    WHERE relname = %s AND relkind = 'r' AND has_schema_privilege(pg_namespace.oid, 'USAGE')
    AND has_table_privilege(pg_class.oid, 'SELECT')
    ORDER BY nspname COLLATE "C" """
_HOLDER = """SELECT application_name, to_char(backend_start AT TIME ZONE 'UTC',
        'YYYY-MM-DD HH24:MI:SS "UTC"') FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND classid = %s AND objid = %s
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""
_STRANGE = """SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace
    AND relname = ANY(%s) AND (relkind <> 'r' OR relrowsecurity OR relhasrules OR relhassubclass
    OR EXISTS (SELECT FROM pg_index WHERE indrelid = pg_class.oid
        AND (indexprs IS NOT NULL OR indpred IS NOT NULL)))"""
"""Tables that have the server run what their owner wrote, with the rights of whoever reads them."""
_TABLES = (*schema.SMALL, "record", "block")
_LISTED_TABLES = ("value", "tally", "pairing")
_LISTED = """SELECT (SELECT text FROM value WHERE key = 'started'),
    (SELECT text FROM value WHERE key = 'finished'),
    (SELECT coalesce(sum(played), 0)::bigint FROM tally),
    (SELECT coalesce(sum(games), 0)::bigint FROM pairing)"""
_HERE = "referee, process "


class InDatabase:
    """The place of a tournament that has its database on a server."""

    def __init__(self, address: Address, folder: Path | None = None) -> None:
        """`folder` is where its other files are, and where its address is written down."""
        self._address = address
        self._folder = folder

    def create(self, values: Mapping[str, str], bots: Sequence[BotRow]) -> None:
        address, folder = self._address, self._folder
        assert folder is not None
        must_be_free(folder, address)
        with _session(address) as connection, self._explained(connection):
            _must_take_text(connection, address)
            connection.execute("BEGIN")
            self._create_schema(connection)
            _fill(connection, values, bots)
            # Before the last word: a folder that cannot be written leaves nothing on the server.
            write_address(folder, address)
            connection.execute("COMMIT")

    def must_be_free(self) -> None:
        assert self._folder is not None
        must_be_free(self._folder, self._address)
        with _session(self._address) as connection, self._explained(connection):
            if connection.execute(_FOUND, (MARK, self._address.name)).fetchone() is not None:
                raise self._taken()
            _must_take_text(connection, self._address)
            if connection.execute(_MAY_CREATE).fetchone() != (True,):
                raise self._not_allowed()

    def _taken(self) -> BadStore:
        url, name = self._address.url, self._address.name
        return BadStore(
            f"{url} already holds {name}: go on with it by --resume {self._folder} --store "
            f"{self._address}, or give this one another name by --store {url}#NAME"
        )

    def _not_allowed(self) -> StoreRefused:
        return StoreRefused(
            f"{self._address.url}: this user may not begin a tournament there; its owner can GRANT "
            "CREATE ON DATABASE"
        )

    def _create_schema(self, connection: Connection) -> None:
        name = self._address.name
        try:
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
        except (errors.DuplicateSchema, errors.UniqueViolation):
            raise self._taken() from None
        except errors.InsufficientPrivilege:
            raise self._not_allowed() from None
        _go_to(connection, name)

    def open_for_writing(self) -> Link:
        return self._opened(writing=True)

    def open_for_reading(self) -> Link:
        return self._opened(writing=False)

    def _opened(self, *, writing: bool) -> Link:
        address = self._address
        if not address.name:
            raise _no_name(address)
        connection = _connect(address)
        try:
            with self._explained(connection):
                if writing:
                    _lock(connection, address)
                _must_be_there(connection, address)
                _go_to(connection, address.name)
                with connection.transaction():
                    _must_be_tables(connection, address, (MARK,))
                    found = _version(connection, address)
                if writing:
                    with connection.transaction():
                        _must_be_tables(connection, address, _TABLES)
                else:
                    connection.patience_s = LONG_ANSWER_S
                    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                    _must_be_tables(connection, address, _TABLES)
                if found < schema.newest(schema.STEPS):
                    _bring_up_to_date(connection, address, found, writing=writing)
            return Link(connection, str(address), address.name, for_writing=writing)
        except BaseException:
            connection.close()
            raise

    @contextlib.contextmanager
    def _explained(self, connection: Connection) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise connection.explained(error, str(self._address), writing=False) from error
        except (ValueError, TypeError) as error:
            raise StoreRefused(
                f"{self._address}: the server answers otherwise than PostgreSQL does: {error}"
            ) from error


def tournaments(address: Address) -> list[Listed]:
    """Those of a database that may be read, by name. Raises BadStore."""
    listed = []
    with _session(address) as connection:
        try:
            for name in _names(connection):
                one = Address(address.url, name)
                # One that is not as it should be is no reason to hide the others.
                passed_over = contextlib.suppress(psycopg.ProgrammingError, BadStore)
                with passed_over, connection.transaction():
                    connection.execute("SET TRANSACTION READ ONLY")
                    _go_to(connection, name)
                    _must_be_tables(connection, one, _LISTED_TABLES)
                    row = connection.execute(_LISTED).fetchone()
                    assert row is not None
                    told = row[0] or "", row[1] or "", row[2], row[3]
                    listed.append(Listed(name, str(one), *told))
        except psycopg.Error as error:
            raise connection.explained(error, address.url, writing=False) from error
    return listed


# Sessions.


@contextlib.contextmanager
def _session(address: Address) -> Iterator[Connection]:
    with contextlib.closing(_connect(address)) as connection:
        yield connection


def _connect(address: Address) -> Connection:
    try:
        given = conninfo_to_dict(address.url)
        more: dict[str, Any] = {key: value for key, value in _USUAL.items() if key not in given}
        more.update(address.secrets)
        connection = Connection.connect(
            address.url,
            autocommit=True,
            application_name=f"{_HERE}{os.getpid()} on {socket.gethostname()}"[:63],
            client_encoding="utf8",
            **more,
        )
    except psycopg.Error as error:
        raise explain_refusal(error, address.url) from None
    try:
        prepare(connection)
        known = connection.info.server_version
        settings = [f"SET {name} = {value}" for name, value, since in _SETTINGS if known >= since]
        connection.execute("; ".join([*settings, _SAFE]))
    except psycopg.Error as error:
        connection.close()
        raise StoreLost(f"the connection to {address.url} was lost: {one_line(error)}") from error
    return connection


def _go_to(connection: Connection, name: str) -> None:
    connection.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(name)))


def _lock(connection: Connection, address: Address) -> None:
    """Until the session ends, nobody else writes to this tournament. Raises BadStore."""
    digest = hashlib.sha256(f"referee {address.name}".encode()).digest()
    key = int.from_bytes(digest[:8], "big", signed=True)
    patience = time.monotonic() + PATIENCE_S
    while True:
        row = connection.execute("SELECT pg_try_advisory_lock(%s)", (key,)).fetchone()
        if row == (True,):
            return
        if time.monotonic() > patience:
            break
        time.sleep(0.05)
    halves = (key >> 32 & 0xFFFFFFFF, key & 0xFFFFFFFF)
    program, since = connection.execute(_HOLDER, halves).fetchone() or (None, None)
    program = program or ""
    who = program.removeprefix("referee, ") if program.startswith(_HERE) else "another process"
    raise BadStore(f"{address} is being written by {who}" + (f" since {since}" if since else ""))


# What is there.


def _names(connection: Connection) -> list[str]:
    return [name for (name,) in connection.execute(_ALL, (MARK,))]


def _no_name(address: Address) -> BadStore:
    """What to say to whoever gave none."""
    with _session(address) as connection:
        names = _names(connection)
    if not names:
        return BadStore(f"{address} holds no tournament that this user may read")
    like = Address(address.url, names[0])
    return BadStore(f"{address} holds many tournaments: add #NAME, for example {like}")


def _some(names: Sequence[str]) -> str:
    more = len(names) - SHOWN_NAMES
    shown = ", ".join(map(typed, names[:SHOWN_NAMES]))
    return f"{shown} and {more} more" if more > 0 else shown


def _must_be_there(connection: Connection, address: Address) -> None:
    found = connection.execute(_FOUND, (MARK, address.name)).fetchone()
    if found is None:
        names = _names(connection)
        there = f"; it holds {_some(names)}" if names else ""
        raise BadStore(f"{address.url} holds no tournament {typed(address.name)}{there}")
    if found == (None,):
        raise BadStore(f"{address} is not a tournament, but of another program")


def _must_be_tables(connection: Connection, address: Address, names: Sequence[str]) -> None:
    """That these are plain tables, and stay so until the transaction ends. Raises BadStore.

    Whoever may create schemas could have a view among them, and a function of theirs would run
    with the rights of whoever reads it. They are locked first: what the catalogue says is then
    true, if it is looked at now. No question may come before in this transaction.
    """
    places = sql.SQL(", ").join(sql.Identifier(address.name, name) for name in names)
    connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(places))
    quoted = sql.Identifier(address.name).as_string(connection)
    strange = connection.execute(_STRANGE, (quoted, list(names))).fetchone()
    if strange is not None:
        raise BadStore(f"{address} was not made by a referee: {strange[0]} is no plain table")


def _must_take_text(connection: Connection, address: Address) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise BadStore(
            f"{address.url} keeps text as {encoding}, in which not every name can be written: "
            "take a database with the encoding UTF8"
        )


def _version(connection: Connection, address: Address) -> int:
    # By its whole name: of a schema that may not be looked into, the path alone would be silent.
    place = sql.Identifier(address.name, MARK)
    row = connection.execute(sql.SQL("SELECT version FROM {}").format(place)).fetchone()
    found = 0 if row is None else int(row[0])
    newest = schema.newest(schema.STEPS)
    if found > newest:
        raise BadStore(
            f"{address} is of version {found}, made by a newer referee; "
            f"this one knows versions up to {newest}"
        )
    if found < _FIRST_VERSION:
        raise BadStore(f"{address} is damaged (version {found})")
    return found


def _bring_up_to_date(
    connection: Connection, address: Address, found: int, *, writing: bool
) -> None:
    """All steps or none. A reader changes nothing, and there is no copy to change."""
    if not writing:
        raise BadStore(
            f"{address} is of version {found}, made by an older referee: "
            "`referee tournament --resume` brings it up to date"
        )
    connection.patience_s = LONG_ANSWER_S
    with connection.transaction():
        for step in schema.STEPS[found - 1 :]:
            for statement in step:
                connection.execute(table(statement))
        connection.execute(
            f"UPDATE {MARK} SET version = %s",
            (schema.newest(schema.STEPS),),
        )
    connection.patience_s = ANSWER_S


def table(statement: str) -> str:
    """A statement that makes a table, as PostgreSQL says it."""
    for found, said in _TYPES.items():
        statement = re.sub(found, said, statement)
    return statement


def _fill(connection: Connection, values: Mapping[str, str], bots: Sequence[BotRow]) -> None:
    """Tables with no games, in the caller's transaction."""
    for statement in (f"CREATE TABLE {MARK} (version INTEGER NOT NULL)", *schema.TABLES):
        connection.execute(table(statement))
    # Blocks are compressed already.
    connection.execute("ALTER TABLE block ALTER body SET STORAGE EXTERNAL")
    connection.execute(f"INSERT INTO {MARK} VALUES (%s)", (schema.newest(schema.STEPS),))
    cursor = connection.cursor()
    cursor.executemany(translated(SET_VALUE), list(values.items()))
    cursor.executemany(translated(SET_BOT), [astuple(bot) for bot in bots])
