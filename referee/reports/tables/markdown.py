"""Tables in Markdown, for a README or a forum."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from referee.reports.standings import Standings, Timing, VariantTable
from referee.reports.tables.cells import one_line, percent_cell
from referee.reports.tables.columns import main_columns, with_codes
from referee.reports.tables.notes import closing_notes, headline, notes
from referee.reports.tables.rounds import round_lines, round_title

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


def escaped(text: str) -> str:
    """Text that Markdown shows as it is, in a cell too."""
    return _SPECIAL.sub(r"\\\1", one_line(text))


def as_markdown(standings: Standings) -> str:
    return "\n".join(_lines(standings)) + "\n"


def _lines(standings: Standings) -> Iterator[str]:
    yield f"# {escaped(standings.name) or 'Tournament'}"
    yield ""
    yield escaped(" ".join([f"{headline(standings)}.", *closing_notes(standings)]))
    for table in standings.tables:
        yield ""
        yield f"## {escaped(table.variant) if table.variant is not None else 'All variants'}"
        yield ""
        yield from _main(table)
        yield ""
        for note in notes(table, escaped):
            yield f"- {note}"
        yield from _cross_table(table)
    for each in standings.bracket:
        yield ""
        yield f"### {escaped(round_title(each))}"
        yield ""
        knockout = standings.format == "knockout"
        for line in round_lines(each, knockout=knockout, name=escaped):
            yield f"- {line}"


def _main(table: VariantTable) -> Iterator[str]:
    columns = with_codes(main_columns(table))
    yield from grid(
        [column.heading for column in columns],
        [[column.cell(row) for column in columns] for row in table.rows],
        [column.left for column in columns],
    )


def _cross_table(table: VariantTable) -> Iterator[str]:
    if len(table.rows) < 2 or not table.cells:
        return
    yield ""
    yield "### Cross-table"
    yield ""
    yield "Score in %, and the games; where some are copies of others as distinct/games."
    yield ""
    names = [row.name for row in table.rows]
    shown = {(name, name): "·" for name in names}
    for cell in table.cells:
        games = f"{cell.distinct}/{cell.games}" if cell.distinct < cell.games else f"{cell.games}"
        shown[cell.first, cell.second] = f"{percent_cell(cell.score)} ({games})"
    yield from grid(
        ["bot", *names],
        [[first, *(shown.get((first, second), "") for second in names)] for first in names],
        [True, *(False for _ in names)],
    )


def timings_as_markdown(timings: Sequence[Timing]) -> str:
    rows = [
        [
            timing.variant,
            timing.name,
            f"{timing.moves}",
            f"{timing.mean_us / 1000:.3f}",
            f"{timing.median_us / 1000:.3f}",
            f"{timing.p99_us / 1000:.3f}",
        ]
        for timing in timings
    ]
    headings = ["variant", "bot", "moves", "mean ms", "median ms", "99 % ms"]
    return "\n".join(grid(headings, rows, [True, True, False, False, False, False])) + "\n"


def grid(
    headings: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[bool]
) -> Iterator[str]:
    """A table; its cells are plain text and are escaped here."""
    yield "| " + " | ".join(map(escaped, headings)) + " |"
    yield "|" + "|".join(" :-- " if each else " --: " for each in left) + "|"
    for row in rows:
        yield "| " + " | ".join(map(escaped, row)) + " |"
