"""`referee report`: a tournament as one page for the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.cli import console
from referee.cli.store import Where


def report_command(
    folder: Where,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write; if not given, report.html in the folder, or NAME.html here for an "
            "address."
        ),
    ] = None,
    private: Annotated[
        bool,
        typer.Option("--private", help="With the bots' notes and what they wrote to stderr."),
    ] = False,
    words: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="GAMES",
            help="Games of each pairing that are told in the words of the rule book; as many as "
            "take a few seconds if not given. Of the others the moves are shown.",
        ),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option("--variant", "-v", help="Path of the script, where a variant is one."),
    ] = None,
) -> None:
    """Write a tournament as one HTML file: tables, ratings over time, games to replay, faults.

    The file needs no network and no other file; it can be mailed, kept and printed. It can be made
    at any time, while the tournament is running too. The path is printed.

    **Examples**

        referee report tournaments/five

        referee report tournaments/five --out five.html --private
    """
    # numpy is behind it, which no other command should wait for.
    from referee.reports.html.make import write_report

    path = write_report(folder, out, private=private, words=words, scripts=variant or ())
    console.out.print(console.printable(str(path)))
