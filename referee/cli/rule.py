"""`referee rule`: what organisers decide of a game afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from referee.cli import console
from referee.cli.house import opened, person
from referee.cli.options import DATA, Data
from referee.cli.store import must_be_path

REPORT = "report.html"


def rule_command(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="Pairing and number: 12-34; of a season: 1/12-34.")
    ],
    what: Annotated[
        Literal["void", "award", "lift"],
        typer.Argument(
            metavar="void|award|lift",
            help="It counts for nobody; SEAT wins it; an earlier ruling is taken back.",
        ),
    ],
    seat: Annotated[
        int | None,
        typer.Argument(metavar="[SEAT]", help="0 or 1, for award.", show_default=False),
    ] = None,
    reason: Annotated[
        str, typer.Option(help="Why, in one line; it is shown below the tables.")
    ] = "",
    folder: Annotated[
        Path | None, typer.Option(help="The folder of a tournament, instead of the daemon's data.")
    ] = None,
    by: Annotated[str | None, typer.Option(help="Who decided it; you, if left out.")] = None,
    data: Data = DATA,
) -> None:
    """Decide on a game after an appeal. Its record stays as it is.

    The tables are computed again and carry a footnote; the faults of the game are in none of them.
    A second ruling on a game replaces the first. `referee verify` is about records, and finds what
    it found before. A knockout or Swiss round that was drawn from the old result stays drawn.

    **Examples**

        referee rule 12-34 void --reason "the host was out of memory" --folder tournaments/five

        referee rule 1/12-34 award 0 --reason "seat 1 read the other bot's files"

        referee rule 1/12-34 lift --reason "the appeal was withdrawn"
    """
    # Here, since most commands have no use for numpy and need not wait for it.
    from referee.daemon.appeals import read_appeal, rule_in_folder, rule_in_house

    appeal = read_appeal(game, what, seat, reason=reason, by=by or person())
    must_be_path(folder, "--folder", "rule by the folder on the machine that plays the tournament")
    if folder is not None:
        record, seen = rule_in_folder(folder, appeal), True
    else:
        with opened(data) as house:
            record, seen = rule_in_house(house, appeal)
    done = {"void": "is void", "lift": "counts as its record says"}.get(
        what, f"is awarded to {record.players[seat or 0]}"
    )
    console.out.print(f"Game {appeal.game} ({' – '.join(record.players)}) {done}")
    if not seen:
        console.out.print("The daemon that runs takes it into the tables")
    if folder is not None and (folder / REPORT).exists():
        console.out.print(f"{REPORT} is from before; write it again by: referee report {folder}")
