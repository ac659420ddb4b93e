"""`referee rate`: results from anywhere."""

from __future__ import annotations

import ctypes
import gc
import math
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

import typer

from referee.cli import console

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
"""As malloc.h numbers them."""
_KEPT = 1 << 25


def rate_command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Results, packed with gzip or not; - is stdin.",
            show_default=False,
        ),
    ],
    format_: Annotated[
        Literal["auto", "csv", "pgn", "records"],
        typer.Option("--format", help="What the files are; auto looks into them."),
    ] = "auto",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, a line for each player.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    advantage: Annotated[
        bool, typer.Option("--advantage", help="Estimate what the first seat is worth.")
    ] = False,
    anchor: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=ELO", help="Give a player its Elo. Can be repeated."),
    ] = None,
    prior: Annotated[
        bool,
        typer.Option(
            "--prior", help="Add a virtual draw with an average opponent for each player."
        ),
    ] = False,
    rank_by: Annotated[
        Literal["elo", "points"], typer.Option(help="What the table is in the order of.")
    ] = "elo",
    nash: Annotated[
        bool,
        typer.Option(
            "--nash",
            help="Add the mix that no player beats: each one's share in it, and Elo against it.",
        ),
    ] = False,
) -> None:
    """Rate players by results from anywhere: Elo with 95 % intervals, rank ranges, cycles.

    CSV: `a,b,result`, a in the first seat, the result `1-0`, `0-1` or `1/2-1/2`; a column `pair`
    before them marks games of the same two players that share their chance. PGN: the tags White,
    Black and Result. Records: what `--records` and `referee export` write.

    **Examples**

        referee rate games.csv

        referee rate games.pgn.gz --advantage --anchor stockfish=3600

        referee export tournaments/five | referee rate - --json
    """
    if json + csv + markdown > 1:
        raise typer.BadParameter("only one of --json, --csv and --markdown can be given")
    anchors = _anchors(anchor or [])
    for file in files:
        if not Path(file).is_file():
            from referee.cli.store import must_be_records  # the store: not for a plain file

            must_be_records(file)
    _prepare()
    # Imported only here: most commands have no use for numpy and need not wait for it. What is
    # imported stays, and to look through it for garbage, now or at the end, takes ten milliseconds.
    gc.disable()
    from referee.ratings.rating import rate
    from referee.reports import rating_values
    from referee.results.reading import read_results

    gc.freeze()
    gc.enable()
    games, skipped = read_results(files, None if format_ == "auto" else format_)
    ratings = rate(
        games, advantage=advantage, anchors=anchors, prior=prior, rank_by=rank_by, nash=nash
    )
    if json:
        _print(rating_values.ratings_json(ratings, skipped))
    elif csv:
        _print(rating_values.ratings_csv(ratings).encode())
    else:
        from referee.reports.rating_table import ratings_markdown, ratings_text

        if markdown:
            _print(ratings_markdown(ratings, rank_by, skipped).encode())
        else:
            for piece in ratings_text(ratings, rank_by, skipped, console.out.width):
                console.out.print(piece)


def _prepare() -> None:
    """Settle what numpy works with, before it is imported.

    One thread for the matrices of a table: more of them mostly wait for each other, and the last
    digits do not depend on how many cores there are. And freed memory is kept for the next array:
    to get pages from the system and to clear them for every sum takes longer than the sum.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with suppress(OSError, AttributeError, TypeError):  # Only the GNU library has it.
        settle = ctypes.CDLL(None).mallopt
        settle(_M_MMAP_THRESHOLD, _KEPT)
        settle(_M_TRIM_THRESHOLD, _KEPT)


def _anchors(words: list[str]) -> dict[str, float]:
    """`--anchor stockfish=3600` as a mapping. A name may hold an equals sign, a number none."""
    anchors: dict[str, float] = {}
    for word in words:
        name, equals, number = word.rpartition("=")
        try:
            elo = float(number)
        except ValueError:
            elo = math.nan
        if not equals or not name or not math.isfinite(elo):
            raise typer.BadParameter(
                f"--anchor takes NAME=ELO, for example best=3000, not {word!r}"
            )
        if name in anchors:
            raise typer.BadParameter(f"--anchor {name} is given twice")
        anchors[name] = elo
    return anchors


def _print(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
