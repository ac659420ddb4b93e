"""`referee backup`: a copy of all that the daemon has, while it runs; and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import asdict

from referee.cli import console
from referee.cli.house import opened
from referee.cli.options import DATA, AsJson, Data
from referee.rules.numbers import amount
from referee.store.house.copying import back_up
from referee.store.house.missing import must_have_its_games, seasons_without_games
from referee.store.house.restoring import restore


def backup_command(
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="The tar file to write.")
    ] = None,
    restored: Annotated[
        Path | None,
        typer.Option(
            "--restore", metavar="FILE", help="Make a new data folder of this backup instead."
        ),
    ] = None,
    no_keys: Annotated[
        bool,
        typer.Option("--no-keys", help="Without the daemon's secret key; a new one is made then."),
    ] = False,
    data: Data = DATA,
    json: AsJson = False,
) -> None:
    """Copy the whole data folder into one file, while the daemon runs; or make a folder of it.

    The databases are copied as they were at one moment, with what was handed in and the logs. What
    was built is left out, and is built again. The file holds the daemon's secret key and the hashes
    of all tokens: only its owner can read it, and it should stay so. A restored folder is checked
    against the hashes in the file, and served by `referee serve --data FOLDER`.

    **Examples**

        referee backup --to contest-monday.tar

        referee backup --restore contest-monday.tar --data restored
    """
    if (to is None) == (restored is None):
        raise console.UsageError("give either --to FILE or --restore FILE")
    if restored is not None:
        if not restored.is_file():
            raise console.UsageError(f"{restored}: no such file")
        games = restore(restored, data)
        if json:
            console.print_json({"data": str(data), "seasons": games})
            return
        console.out.print(console.printable(str(data)))
        _tell_seasons(games)
        return
    assert to is not None
    with opened(data) as house:
        season = house.seasons.latest()
        if season is not None:
            must_have_its_games(house, season)
        lost = seasons_without_games(house)
        made = back_up(house, to, keys=not no_keys, tell=_progress)
    if json:
        console.print_json({**asdict(made), "lost": lost})
        return
    console.out.print(console.printable(made.path))
    _tell_seasons(made.seasons)
    for name in lost:
        told = "its games are gone, and only its tables are in the backup"
        console.err.print(f"season {console.printable(name)}: {told}")
    if made.keys:
        console.err.print("The daemon's secret key is in it: keep it as you keep the data folder")


def _tell_seasons(games: dict[str, int]) -> None:
    for season, number in games.items():
        console.err.print(f"season {console.printable(season)}: {amount(number, 'game')}")


def _progress(text: str) -> None:
    if console.err.is_terminal:
        console.err.print(text)
