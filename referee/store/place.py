"""Where the database of a tournament is: in its folder, unless the folder says on which server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from referee.store.connect import FILE, InFolder, must_hold_tournament
from referee.store.engine import OnServer, Place
from referee.store.postgres.address import (
    ADDRESS,
    Address,
    Listed,
    address_in,
    is_address,
    named_after,
    read_address,
    typed,
    write_address,
)
from referee.store.trouble import BadStore, StoreRefused


def holds_tournament(folder: Path) -> bool:
    return (folder / FILE).exists() or (folder / ADDRESS).exists()


def place_in(folder: Path) -> Place:
    """Of the tournament that this folder holds. Raises BadStore."""
    if is_address(str(folder).replace(":/", "://", 1)):
        # As a path it has lost a slash. It is not shown: a password may be in it.
        raise BadStore("an address, postgresql:…, is given where the folder of a tournament is due")
    address = address_in(folder)
    if address is not None:
        return in_database(address, folder)
    must_hold_tournament(folder)
    return InFolder(folder)


def new_place(folder: Path, address: Address | None) -> Place:
    """For a tournament in a folder that holds none yet. Raises BadStore."""
    if address is not None:
        return in_database(named_after(address, folder), folder)
    if (before := address_in(folder)) is not None:
        raise BadStore(f"{folder} already holds a tournament, in {before}")
    return InFolder(folder)


def must_be_free(folder: Path, address: Address) -> None:
    """That a tournament can be made there, as far as can be told before. Raises BadStore."""
    in_database(named_after(address, folder), folder).must_be_free()


def moved_to(folder: Path, address: Address) -> Address | None:
    """Where the database of this folder's tournament has been brought, or where the tournament was
    begun from another machine; None where the folder says so already. Raises BadStore."""
    before = address_in(folder)
    if not address.name and before is not None:
        address = Address(address.url, before.name)
    address = named_after(address, folder)
    if address == before:
        return None
    if (folder / FILE).exists():
        raise BadStore(
            f"{folder} keeps its games in {FILE}, and games of a file are not moved into a "
            "database: go on without --store, or take another folder"
        )
    return address


def in_database(address: Address, folder: Path | None = None) -> OnServer:
    must_have_driver()
    from referee.store.postgres.server import InDatabase

    return InDatabase(address, folder)


def tournaments_in(address: Address) -> Sequence[Listed]:
    """Those of a database, by name. Raises BadStore."""
    must_have_driver()
    from referee.store.postgres.server import tournaments

    return tournaments(address)


def must_have_driver() -> None:
    """That PostgreSQL can be spoken to. Raises BadStore."""
    try:
        import psycopg  # noqa: F401 - to see whether it is there
    except ImportError:
        raise BadStore(
            "a PostgreSQL store needs psycopg: pip install 'referee[postgres]'"
        ) from None


def make_folder(folder: Path) -> list[Path]:
    """Those that were not there, the innermost first. Raises StoreRefused."""
    try:
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreRefused(f"{folder} cannot be made: {error.strerror}") from error
    return missing


__all__ = [
    "Address",
    "Listed",
    "holds_tournament",
    "in_database",
    "is_address",
    "make_folder",
    "moved_to",
    "must_be_free",
    "new_place",
    "place_in",
    "read_address",
    "tournaments_in",
    "typed",
    "write_address",
]
