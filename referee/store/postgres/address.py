"""Where a tournament is in a PostgreSQL database, as one word: postgresql://HOST/DATABASE#NAME.

What stands before the `#` is what every program of PostgreSQL takes; what follows is the schema.
A password is not part of it: it would be shown to whoever looks at the processes of a machine, at
a message or at a file. One that is given in a URL all the same is remembered for as long as this
process lives, and told to nobody but the server.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from referee.store.connect import FILE, sync_folder
from referee.store.postgres.url import is_address, parts_of
from referee.store.trouble import BadStore, StoreRefused

__all__ = [
    "Address",
    "Listed",
    "address_in",
    "is_address",
    "must_be_free",
    "must_fit",
    "named_after",
    "read_address",
    "write_address",
]

ADDRESS = "store.url"
"""The file in a tournament's folder that says where its database is."""
LONGEST_NAME = 63
"""Bytes; PostgreSQL would cut off the rest without a word."""
_secrets: dict[str, dict[str, str]] = {}
"""By URL: what was said in it once and is not in it any more."""


class Address(Struct, frozen=True):
    """A database, and a tournament in it."""

    url: str
    """Without secrets."""
    name: str = ""
    """The schema; empty where none is named."""

    def __str__(self) -> str:
        return f"{self.url}#{typed(self.name)}" if self.name else self.url

    @property
    def secrets(self) -> dict[str, str]:
        """What has to be added to the URL for the server to let us in."""
        return _secrets.get(self.url, {})


class Listed(Struct, frozen=True):
    """A tournament of a database, in one line."""

    name: str
    address: str
    started: str
    finished: str
    """Empty while it is played."""
    played: int
    planned: int
    """Games, as far as the format knows them."""


def read_address(text: str) -> Address:
    """Raises BadStore."""
    parts = parts_of(text)
    if parts.secrets:
        _secrets[parts.url] = parts.secrets
    return must_fit(Address(parts.url, parts.name))


def must_fit(address: Address) -> Address:
    """That its name can be that of a schema, and of a file. Raises BadStore."""
    name = address.name
    another = f"--store {address.url}#NAME gives the tournament another one"
    if len(name.encode(errors="replace")) > LONGEST_NAME or not name.isprintable():
        raise BadStore(
            f"{name!r} is no name that a database takes, which is up to {LONGEST_NAME} bytes of "
            f"text; {another}"
        )
    if name.startswith("pg_") or name in ("public", "information_schema"):
        raise BadStore(f"{name} is a name of PostgreSQL's own; {another}")
    if name.startswith(".") or "/" in name:
        # A report and an archive by address are files of this name.
        raise BadStore(
            f"{name} is no name for a tournament, which begins with no dot and has no slash in it; "
            f"{another}"
        )
    return address


def typed(name: str) -> str:
    """The name of a tournament as it stands in an address."""
    return "".join(each if each.isalnum() or not each.isascii() else quote(each) for each in name)


def named_after(address: Address, folder: Path) -> Address:
    """The same, for the tournament in this folder if it names none. Raises BadStore."""
    return address if address.name else must_fit(replace(address, name=folder.resolve().name))


# The file in the tournament's folder.


def address_in(folder: Path) -> Address | None:
    """Where the folder says that its database is; None where it says nothing. Raises BadStore."""
    path = folder / ADDRESS
    try:
        text = path.read_text("utf-8").strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BadStore(f"{path} cannot be read: {error}") from None
    try:
        address = read_address(text)
    except BadStore as bad:
        raise BadStore(f"{path}: {bad}") from None
    return named_after(address, folder)


def must_be_free(folder: Path, address: Address) -> None:
    """That the folder holds no other tournament. Raises BadStore."""
    if (folder / FILE).exists():
        raise BadStore(f"{folder} already holds a tournament in {FILE}: take another folder")
    if (before := address_in(folder)) is not None and before != address:
        raise BadStore(f"{folder} already holds a tournament, in {before}")


def write_address(folder: Path, address: Address) -> None:
    """Raises StoreRefused."""
    path = folder / ADDRESS
    new = folder / f"{ADDRESS}.new"
    try:
        new.unlink(missing_ok=True)
        with new.open("x", encoding="utf-8") as file:
            file.write(f"{address}\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
        sync_folder(folder)
    except OSError as error:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        raise StoreRefused(f"{path} cannot be written: {error.strerror}") from error
