"""Tables for a terminal: as many columns as it has room for, the least important left out first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.console import RenderableType
from rich.text import Text

from referee.reports.standings import Standings, Timing, VariantTable
from referee.reports.tables.cells import faults_cell, one_line, percent_cell
from referee.reports.tables.columns import ALWAYS, main_columns
from referee.reports.tables.notes import closing_notes, headline, notes
from referee.reports.tables.rounds import round_lines, round_title

GAP = 2
LEAST_NAME = 8
"""A name is cut to no less than this, however narrow the terminal is."""
BOLD, DIM = "bold", "dim"


class Strip(NamedTuple):
    """One column of text, ready to be measured."""

    heading: str
    cells: Sequence[str]
    weight: int = ALWAYS
    left: bool = False

    @property
    def width(self) -> int:
        return max(map(cell_len, (self.heading, *self.cells)))


def as_text(standings: Standings, width: int) -> Iterator[RenderableType]:
    """Everything there is to show, piece by piece. What is true of all tables is said once."""
    title = Text(one_line(standings.name) or "Tournament", BOLD)
    yield Text.assemble(title, f": {headline(standings)}")
    told = [list(notes(table)) for table in standings.tables]
    common = [note for note in told[0] if all(note in each for each in told)] if told else []
    for table, own in zip(standings.tables, told, strict=True):
        yield ""
        if len(standings.tables) > 1:
            yield Text(table_title(table), BOLD)
        yield main_table(table, width)
        below = [
            f"Faults of {one_line(row.name)}: {faults_cell(row.faults)}"
            for row in table.rows
            if row.faults
        ] + [note for note in own if note not in common]
        yield from ["", *below] if below else []
        yield from _cross_table(table, width)
    yield from _bracket(standings)
    yield ""
    yield from common
    yield from closing_notes(standings)


def table_title(table: VariantTable) -> str:
    return "all variants" if table.variant is None else table.variant


def main_table(table: VariantTable, width: int) -> Text:
    """The rows of a table within this width; of use while a tournament runs, too."""
    strips = [
        Strip(column.heading, [column.cell(row) for row in table.rows], column.weight, column.left)
        for column in main_columns(table)
    ]
    return fitted(strips, width)


def fitted(strips: Sequence[Strip], width: int) -> Text:
    """A table of the columns that fit, names cut if even those that must stay do not."""
    kept = list(strips)
    while _width(kept) > width and any(strip.weight < ALWAYS for strip in kept):
        least = min(strip.weight for strip in kept)
        kept = [strip for strip in kept if strip.weight > least]
    over = _width(kept) - width
    room = [
        max(strip.width - over, LEAST_NAME) if strip.left and over > 0 else strip.width
        for strip in kept
    ]
    # Laid out here, where all widths are known: rich takes seconds over a thousand bots.
    columns = [
        [_aligned(cell, most, left=strip.left) for cell in (strip.heading, *strip.cells)]
        for strip, most in zip(kept, room, strict=True)
    ]
    heading, *lines = ((" " * GAP).join(line).rstrip() for line in zip(*columns, strict=True))
    return Text("\n", no_wrap=True).join([Text(heading, DIM), *map(Text, lines)])


def _aligned(cell: str, width: int, *, left: bool) -> str:
    spare = width - cell_len(cell)
    if spare < 0:
        return f"{set_cell_size(cell, width - 1)}…"
    return cell + " " * spare if left else " " * spare + cell


def _width(strips: Sequence[Strip]) -> int:
    return sum(strip.width + GAP for strip in strips) - GAP


def _least_width(strips: Sequence[Strip]) -> int:
    """With names cut as far as they may be."""
    spare = sum(max(strip.width - LEAST_NAME, 0) for strip in strips if strip.left)
    return _width(strips) - spare


def _cross_table(table: VariantTable, width: int) -> Iterator[RenderableType]:
    """Scores in per cent of the row's bot; the columns are numbered like the rows."""
    if len(table.rows) < 2 or not table.cells:
        return
    yield ""
    # The headings alone tell of a thousand bots that their columns do not fit.
    if sum(len(str(number)) + GAP for number in range(1, 1 + len(table.rows))) <= width:
        for whole in (False, True):
            strips = _crossed(table, whole=whole)
            if _least_width(strips) <= width:
                yield "Score in % against each"
                yield fitted(strips, width)
                if any(cell.repeats for cell in table.cells):
                    yield "* fewer than half of the games are distinct"
                return
    yield (
        f"The cross-table of {len(table.rows)} bots does not fit here: see crosstable.csv "
        "or standings.md."
    )


def _crossed(table: VariantTable, *, whole: bool) -> list[Strip]:
    names = [row.name for row in table.rows]
    scores: dict[tuple[str, str], str] = {(name, name): "·" for name in names}
    for cell in table.cells:
        score = percent_cell(cell.score)
        shown = score if not whole or cell.score is None else f"{100 * cell.score:.0f}"
        scores[cell.first, cell.second] = shown + ("*" if cell.repeats else "")
    numbers = [str(number) for number, _ in enumerate(names, start=1)]
    return [
        Strip("", numbers),
        Strip("bot", [one_line(name) for name in names], left=True),
        *(
            Strip(number, [scores.get((first, second), "") for first in names])
            for number, second in zip(numbers, names, strict=True)
        ),
    ]


def _bracket(standings: Standings) -> Iterator[RenderableType]:
    for each in standings.bracket:
        yield ""
        yield Text(round_title(each), BOLD)
        for line in round_lines(each, knockout=standings.format == "knockout"):
            yield f"  {line}"


def timing_table(timings: Sequence[Timing], width: int) -> Text:
    """Time per move. It differs from run to run, so it stands in no other table."""
    return fitted(
        [
            Strip("variant", [timing.variant for timing in timings], 1, left=True),
            Strip("bot", [one_line(timing.name) for timing in timings], left=True),
            Strip("moves", [f"{timing.moves}" for timing in timings], 2),
            Strip("mean ms", [f"{timing.mean_us / 1000:.3f}" for timing in timings]),
            Strip("median ms", [f"{timing.median_us / 1000:.3f}" for timing in timings]),
            Strip("99 % ms", [f"{timing.p99_us / 1000:.3f}" for timing in timings]),
        ],
        width,
    )
