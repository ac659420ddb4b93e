"""Tournaments on a PostgreSQL server, on the command line: where one is kept, and where it is read.

A path would lose a slash of an address, so that what may be either is a plain word.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.cli import console
from referee.store.place import Address, attach, is_address, read_address, tournaments_in
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


def check_store(store: str | None, resume: Path | None) -> None:
    """Read the URL, and where a tournament goes on, have its folder say so. Raises BadStore."""
    if store is None:
        return
    address = read_address(store)
    if address.secrets:
        console.err.print(
            "The password is not kept: ~/.pgpass or the variable PGPASSWORD has to tell it when "
            "the tournament is read or resumed"
        )
    if resume is not None:
        attach(resume, address)


def lists_tournaments(where: str) -> Address | None:
    """The database, if it is one that is named, and no tournament in it."""
    address = read_address(where) if is_address(where) else None
    return None if address is None or address.name else address


def show_tournaments(address: Address, *, as_json: bool) -> None:
    rows = tournaments_in(address)
    if as_json:
        console.print_json(rows)
        return
    console.out.columns(
        ["tournament", "games", "planned", "started", "finished"],
        [
            [
                row.name,
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
