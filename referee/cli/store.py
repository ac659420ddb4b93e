"""Tournaments on a PostgreSQL server, on the command line: where one is kept, and where it is read.

A path would lose a slash of an address, so that what may be either is a plain word.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from referee.cli import console
from referee.mistake import Mistake
from referee.store.place import (
    Address,
    holds_tournament,
    is_address,
    read_address,
    tournaments_in,
    typed,
)
from referee.tournament.mistakes import BadSpec

StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="Keep the games in a PostgreSQL database: postgresql://HOST/DATABASE; #NAME after it "
        "is what the tournament is called there, its folder's name if not given.",
    ),
]
Where = Annotated[
    str,
    typer.Argument(
        metavar="DIR",
        help="The folder of a tournament, or its address: postgresql://HOST/DATABASE#NAME.",
        show_default=False,
    ),
]


def check_store(store: str | None, resume: Path | None, out: Path | None) -> None:
    """Read the URL, and say what becomes of a password in it. Raises BadStore, and BadSpec where it
    is given in place of a folder."""
    must_be_path(resume, "--resume", "--resume DIR --store URL#NAME goes on with it, from DIR")
    must_be_path(out, "--out", "--out DIR --store URL#NAME keeps the games there")
    if store is None:
        return
    address = read_address(store)
    if address.secrets:
        console.err.print(
            "The password is not kept: ~/.pgpass or the variable PGPASSWORD has to tell it when "
            "the tournament is read or resumed"
        )


def lists_tournaments(where: str) -> Address | None:
    """The database, if it is one that is named, and no tournament in it."""
    address = read_address(where) if is_address(where) else None
    return None if address is None or address.name else address


def show_tournaments(address: Address, *, as_json: bool) -> None:
    rows = tournaments_in(address)
    if as_json:
        console.print_json(rows)
        return
    if not rows:
        told = f"{address} holds no tournament that this user may read"
        console.err.print(console.printable(told))
        return
    console.out.columns(
        ["tournament", "games", "planned", "started", "finished"],
        [
            [
                typed(row.name),
                str(row.played),
                str(row.planned),
                row.started[:16].replace("T", " "),
                row.finished[:16].replace("T", " "),
            ]
            for row in rows
        ],
    )


def folder_of(where: str, option: str) -> Path:
    """Of a tournament that has to be in a folder here. Raises BadSpec."""
    if is_address(where):
        address = read_address(where)
        raise BadSpec(f"{option} is for the folder of a tournament, and {address} is an address")
    return Path(where)


def must_be_path(given: Path | None, option: str, instead: str) -> None:
    """That it is no address, of which a path has lost a slash. Raises BadSpec."""
    if given is not None and is_address(str(given).replace(":/", "://", 1)):
        # It is not shown: a password may be in it.
        raise BadSpec(f"{option} takes a folder, and an address is given: {instead}")


def must_be_records(file: str) -> None:
    """That it is no tournament, whose records are exported first. Raises Mistake."""
    where = str(read_address(file)) if is_address(file) else file
    if is_address(file) or holds_tournament(Path(file)):
        export = f"referee export {quote(where)} > games.jsonl"
        raise Mistake(
            f"{where} is a tournament, where a file of records is due: {export} writes one"
        )
