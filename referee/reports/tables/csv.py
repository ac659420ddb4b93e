"""Tables as CSV: one line a row or a pairing, every variant in one file, unknown figures empty."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from referee.reports.arrays import CODES
from referee.reports.standings import Cell, Row, Standings, Timing, VariantTable

ALL_VARIANTS = "all variants"
"""In the column `variant`; no variant's name has a blank in it."""
ROW = tuple(field for field in Row.__struct_fields__ if field != "faults")
CELL = Cell.__struct_fields__
RULING = ("game", "variant", "first", "second", "what", "winner", "reason", "by", "at")
TIMING = Timing.__struct_fields__


def standings_csv(standings: Standings) -> str:
    """`faults` is their number; each blame code has a column of its own behind it. Last comes the
    level at which the bots were confined."""
    level = standings.level
    return _written(
        ["variant", *ROW, "faults", *CODES, "level"],
        (
            [_name(table), *(getattr(row, field) for field in ROW), *_faults(row), level]
            for table in standings.tables
            for row in table.rows
        ),
    )


def crosstable_csv(standings: Standings) -> str:
    """Every two that met, seen from each side; the level comes last, as in the standings."""
    return _written(
        ["variant", *CELL, "level"],
        (
            [_name(table), *(getattr(cell, field) for field in CELL), standings.level]
            for table in standings.tables
            for cell in table.cells
        ),
    )


def rulings_csv(standings: Standings) -> str:
    lines = (
        [
            *(ruling.game, ruling.variant, *ruling.players),
            *(ruling.what, ruling.winner, ruling.reason, ruling.by, ruling.at),
        ]
        for ruling in standings.rulings
    )
    return _written(RULING, lines)


def timing_csv(timings: Sequence[Timing], level: str) -> str:
    """`level` is that of the standings: walls cost time."""
    lines = ([*(getattr(timing, field) for field in TIMING), level] for timing in timings)
    return _written([*TIMING, "level"], lines)


def _faults(row: Row) -> list[int]:
    return [sum(row.faults.values()), *(row.faults.get(code, 0) for code in CODES)]


def _name(table: VariantTable) -> str:
    return ALL_VARIANTS if table.variant is None else table.variant


def _written(headings: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows(lines)
    return text.getvalue()
