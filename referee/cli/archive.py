"""`referee archive`: a season or a tournament as a folder to keep."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from referee.cli import console
from referee.cli.house import opened
from referee.cli.options import DATA, AsJson, Data
from referee.rules.numbers import amount
from referee.store.place import holds_tournament, is_address, place_in, read_address

TELL_S = 2.0
PIECE = 5_000


def archive_command(
    season: Annotated[
        str,
        typer.Argument(
            metavar="SEASON", help="Name of a season, or the folder or the address of a tournament."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="A new folder, or a file NAME.tar; archive-SEASON if not given."),
    ] = None,
    private: Annotated[
        bool, typer.Option("--private", help="With the notes that bots wrote for their authors.")
    ] = False,
    piece: Annotated[
        int,
        typer.Option(min=1, max=100_000, metavar="GAMES", help="Games in a file and on a page."),
    ] = PIECE,
    words: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="GAMES",
            help="Games of each pairing that are told in the words of the rule book; as many as "
            "take half a minute if not given.",
        ),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(
            "--variant",
            "-v",
            help="Path of the script, where a variant of a tournament is one; those of a season "
            "are known.",
        ),
    ] = None,
    data: Data = DATA,
    json: AsJson = False,
) -> None:
    """Archive a season: records, tables, spec, rules, hashes, and pages that open fast.

    The records are in pieces of some thousand games, each with a page of its own to replay them;
    the first page has the tables and says who met whom, and opens at once however many games there
    are. It can be made at any time, while the daemon plays too, and from the folder of any
    tournament. The same state gives the same bytes. `sha256sum -c MANIFEST` checks the files,
    `referee verify FOLDER` judges the games again.

    **Examples**

        referee archive 1

        referee archive 1 --out season-1.tar --data /srv/contest

        referee archive tournaments/five --private
    """
    from referee.daemon.archiving import season_to_archive  # numpy: not before it is needed
    from referee.reports.archive.make import Wish, make_archive

    wish = Wish(private=private, games_a_piece=piece, words=words, scripts=tuple(variant or ()))
    folder: str | Path = season
    named = Path(season)
    if is_address(season):
        name = read_address(season).name
    elif "/" in season or (holds_tournament(named) and not (data / "house.db").exists()):
        place_in(named)  # or say that it holds none
        name = named.resolve().name
    else:
        with opened(data) as house:
            folder, wish = season_to_archive(house, season, wish)
        name = season
    made = make_archive(folder, out or Path(f"archive-{name}"), wish, _Told())
    if json:
        console.print_json(made)
        return
    console.out.print(console.printable(made.path))
    lacking = made.games - made.records
    kept = f", {amount(lacking, 'record')} no longer kept" if lacking else ""
    megabytes = f"{made.bytes / 1e6:.1f} MB"
    console.err.print(
        f"{amount(made.games, 'game')}{kept}, in {amount(made.pieces, 'piece')}, {megabytes}"
    )


class _Told:
    """Says on stderr how far it is, now and then."""

    def __init__(self) -> None:
        self._due = time.monotonic() + TELL_S

    def __call__(self, done: int, games: int) -> None:
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + TELL_S
            print(f"{done} of {games} games", file=sys.stderr, flush=True)
