"""What PostgreSQL says went wrong, as one sentence that names the tournament.

The server tells by five letters what it is about; where the connection itself failed there are
none, and what libpq says (no such host, wrong password, no such database) is the sentence.
"""

from __future__ import annotations

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
_GOES_ON = "every game that was committed is safe, and the tournament can be resumed"


class StoreLost(StoreRefused):
    """The connection to the server is gone. What was committed is safe."""


def one_line(error: BaseException | str) -> str:
    """What the server or libpq said, without their labels and line breaks."""
    text = "; ".join(" ".join(line.split()) for line in str(error).splitlines() if line.strip())
    for label in ("consuming input failed: ", "sending query failed: ", "connection failed: "):
        text = text.removeprefix(label)
    return text.rstrip(".")


def explain_refusal(error: psycopg.Error, url: str) -> StoreRefused:
    """Why there is no connection."""
    told = one_line(error)
    if isinstance(error, psycopg.ProgrammingError):
        # Of what is not understood, nobody knows whether it is secret.
        return StoreRefused(f"the URL of the store is not understood: {told}")
    hint = ""
    if "password" in told:
        hint = "; ~/.pgpass or the variable PGPASSWORD tells the password"
    return StoreRefused(f"{url} cannot be reached: {told}{hint}")


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
