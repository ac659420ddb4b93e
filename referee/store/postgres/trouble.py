"""What PostgreSQL says went wrong, as one sentence that names the tournament.

The server tells by five letters what it is about; where the connection itself failed there are
none, and what libpq says (no such host, wrong password, no such database) is all there is to tell
by whose fault it was.
"""

from __future__ import annotations

import re
import shlex

import psycopg

from referee.store.trouble import BadStore, StoreFull, StoreRefused, damaged

_CALLER = (
    psycopg.IntegrityError,
    psycopg.ProgrammingError,
    psycopg.InterfaceError,
    psycopg.NotSupportedError,
    psycopg.DataError,
)
_DENIED = "42501"
_READ_ONLY = "25006"
_DAMAGED = ("XX001", "XX002")
_GONE = ("42P01", "3F000")
"""No such table, no such schema: somebody took them away."""
_LABELS = re.compile(
    "^(consuming input failed|sending query failed|connection failed|connection is bad): "
)
_NO_URL = re.compile(
    "(connection to server .* failed: )?(invalid |bad value |could not match |could not parse "
    "network |definition of service |service file |syntax error in service file )"
)
"""What libpq says of a URL, or of a variable in its stead, before it asks any server."""
_RIGHT = "one is postgresql://USER@HOST:PORT/DATABASE?OPTION=VALUE, with the options of psql"
_SERVICES = "~/.pg_service.conf, or the file that PGSERVICEFILE names, tells of services"
_ANSWERED = re.compile("(connection to server .*? failed: )?(FATAL|fe_sendauth): +")
_NO_DATABASE = re.compile('database "(.*)" does not exist')
_GOES_ON = "every game that was committed is safe, and the tournament can be resumed"


class StoreLost(StoreRefused):
    """The connection to the server is gone. What was committed is safe."""


def one_line(error: BaseException | str) -> str:
    """What the server or libpq said, without their labels, line breaks and pieces of SQL."""
    text = str(error)
    if isinstance(error, psycopg.Error) and error.diag.message_primary:
        text = "\n".join(filter(None, (error.diag.message_primary, error.diag.message_detail)))
    text = "; ".join(" ".join(line.split()) for line in text.splitlines() if line.strip())
    return _LABELS.sub("", text).rstrip(".")


def explain_refusal(error: psycopg.Error, url: str) -> BadStore:
    """Why there is no connection."""
    told = one_line(error)
    if isinstance(error, psycopg.ProgrammingError):
        # Of what is not understood, nobody knows whether it is secret.
        return BadStore(f"the URL of the store is not understood: {told}; {_RIGHT}")
    if _NO_URL.match(told):
        right = _SERVICES if "service" in told else _RIGHT
        return BadStore(f"{url} is no URL that PostgreSQL takes: {told}; {right}")
    hint = ""
    if "password" in told:
        hint = "; ~/.pgpass or the variable PGPASSWORD tells the password"
    elif (lacking := _NO_DATABASE.search(told)) is not None:
        hint = f"; createdb -E UTF8 {shlex.quote(lacking[1])} makes it"
    parts = told.split("; ")
    if not any(map(_ANSWERED.match, parts)):
        return StoreRefused(f"{url} cannot be reached: {told}{hint}")
    # A server is asked twice where it may be with or without TLS, and answers the same.
    said = "; ".join(dict.fromkeys(_ANSWERED.sub("", part, 1) for part in parts))
    return StoreRefused(f"{url}: the server was reached, and refuses: {said}{hint}")


def explain(error: psycopg.Error, named: str, *, lost: bool, writing: bool) -> Exception:
    """The exception to raise: a sentence, or the error if it is a bug."""
    code = error.sqlstate or ""
    if lost:
        told = f"the connection to {named} was lost: {one_line(error)}"
        return StoreLost(f"{told}; {_GOES_ON}" if writing else told)
    if code == _DENIED:
        return StoreRefused(f"{named}: {one_line(error)}; its owner can GRANT it")
    if code == _READ_ONLY:
        return StoreRefused(f"{named} cannot be written: {one_line(error)}")
    if code in _DAMAGED:
        return damaged(named, one_line(error))
    if code.startswith("53"):
        told = f"{named} cannot be written: {one_line(error)}"
        return StoreFull(f"{told}; {_GOES_ON} when there is room")
    if code in _GONE:
        return BadStore(f"{named} is not there any more: {one_line(error)}")
    if isinstance(error, _CALLER):
        return error
    if not writing:
        return BadStore(f"{named} cannot be read: {one_line(error)}")
    return StoreRefused(f"{named} cannot be written: {one_line(error)}; {_GOES_ON}")
