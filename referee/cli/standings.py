"""`referee standings` and `referee export`: what a tournament has in store."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer
from msgspec.structs import replace

from referee.cli import console
from referee.cli.store import Where, folder_of, lists_tournaments, show_tournaments
from referee.record import encode_record
from referee.rules.registry import BadVariant


def standings_command(
    folder: Where,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, a line for each bot.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    variant: Annotated[
        str | None, typer.Option("--variant", "-v", help="The table of this variant alone.")
    ] = None,
    rank_by: Annotated[
        Literal["elo", "points"] | None,
        typer.Option(help="Rank otherwise than the tournament says.", show_default=False),
    ] = None,
    timing: Annotated[
        bool, typer.Option("--timing", help="The time per move instead of the tables.")
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Write the files in DIR again, and print nothing.")
    ] = False,
) -> None:
    """Show the tables of a tournament, finished or in progress.

    On a terminal the time per move is shown below them.

    **Examples**

        referee standings tournaments/five

        referee standings tournaments/five --variant duel --rank-by points --markdown

        referee standings tournaments/five --write

        referee standings postgresql://db.example/contest#five

    Of a PostgreSQL database without a #NAME the tournaments in it are listed.
    """
    if json + csv + markdown + write > 1:
        raise console.UsageError("only one of --json, --csv, --markdown and --write can be given")
    if write and (variant is not None or timing):
        raise console.UsageError("--write writes all tables; leave --variant and --timing out")
    of_one = csv or markdown or write or timing or variant is not None
    if not of_one and (database := lists_tournaments(folder)) is not None:
        show_tournaments(database, as_json=json)
        return
    # Here, since most commands have no use for numpy and need not wait for it.
    from referee.reports.standings import standings, timings
    from referee.reports.tables import csv as as_csv
    from referee.reports.tables.files import write_tables
    from referee.reports.tables.markdown import as_markdown, timings_as_markdown
    from referee.reports.tables.text import as_text, timing_table
    from referee.store.database import Store

    with Store.read(folder) as store:
        found, times = standings(store, rank_by=rank_by), timings(store)
    if variant is not None:
        if variant not in found.variants:
            known = ", ".join(found.variants) or "none yet"
            raise BadVariant(f"there is no variant {variant!r} in this tournament; it has {known}")
        tables = [table for table in found.tables if table.variant == variant]
        found = replace(found, tables=tables)
        times = [time for time in times if time.variant == variant]
    if write:
        write_tables(folder_of(folder, "--write"), found, times)
    elif json:
        console.print_json(times if timing else found)
    elif csv:
        text = as_csv.timing_csv(times, found.level) if timing else as_csv.standings_csv(found)
        _print(text.encode())
    elif markdown:
        _print((timings_as_markdown(times) if timing else as_markdown(found)).encode())
    elif timing:
        console.out.print(timing_table(times, console.out.width))
    else:
        console.out.pieces(as_text(found, console.out.width))
        if times and console.out.is_terminal:
            console.out.print()
            console.out.print(timing_table(times, console.out.width))


def export_command(
    folder: Where,
    private: Annotated[
        bool, typer.Option("--private", help="With the notes that bots wrote for their authors.")
    ] = False,
    variant: Annotated[
        str | None, typer.Option("--variant", "-v", help="Only games of this variant.")
    ] = None,
    bot: Annotated[str | None, typer.Option("--bot", help="Only games of this bot.")] = None,
) -> None:
    """Write the records of a tournament to standard output, as JSON lines in their order.

    `referee verify` and `referee replay` read them.

    **Example**

        referee export tournaments/five --bot counter > games.jsonl
    """
    from referee.reports.export import exported
    from referee.store.database import Store

    with Store.read(folder) as store:
        try:
            for record in exported(store, private=private, variant=variant, bot=bot):
                sys.stdout.buffer.write(encode_record(record) + b"\n")
            sys.stdout.buffer.flush()
        except OSError as error:
            error.filename = error.filename or "standard output"
            raise


def _print(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
