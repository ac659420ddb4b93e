"""The columns of the main table: headings, cells, and which may be left out first."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from referee.reports.placing import KNOCKOUT
from referee.reports.standings import Row, VariantTable
from referee.reports.tables.cells import (
    elo_cell,
    error_cell,
    faults_cell,
    likelihood_cell,
    one_line,
    percent_cell,
    points_cell,
    range_cell,
    rank_cell,
)

ALWAYS = 9


class Column(NamedTuple):
    heading: str
    cell: Callable[[Row], str]
    weight: int
    """Where there is no room for all, the column with the least goes first; ALWAYS stays."""
    left: bool = False


def main_columns(table: VariantTable) -> list[Column]:
    """All columns that say something in this table."""
    by_points = table.ranked_by == "points"
    columns = [
        Column("#", lambda row: rank_cell(row.rank), ALWAYS),
        Column("range", lambda row: range_cell(row.rank_best, row.rank_worst), 6),
        Column("bot", lambda row: one_line(row.name), ALWAYS, left=True),
    ]
    if len(table.pools) > 1:
        pools = {name: n for n, pool in enumerate(table.pools, 1) for name in pool.players}
        columns.append(Column("pool", lambda row: f"{pools.get(row.name, '–')}", 8))
    if by_points:
        columns.append(Column("points", lambda row: points_cell(row.points), ALWAYS))
    columns += [
        Column("Elo", lambda row: elo_cell(row.elo, row.bound, row.bound_elo), ALWAYS),
        Column("±", lambda row: error_cell(row.err95), 8),
        Column("games", lambda row: f"{row.games}", 5),
        Column("W", lambda row: f"{row.wins}", 7),
        Column("D", lambda row: f"{row.draws}", 7),
        Column("L", lambda row: f"{row.losses}", 7),
        Column("score %", lambda row: percent_cell(row.score), ALWAYS),
        Column("opponents", lambda row: elo_cell(row.opponents), 1),
        Column("draws %", lambda row: percent_cell(row.draw_rate), 2),
    ]
    if table.ranked_by != KNOCKOUT:
        columns.append(Column("> next %", lambda row: likelihood_cell(row.superiority), 4))
    if any(row.unrated for row in table.rows):
        columns.append(Column("unrated", lambda row: f"{row.unrated}", 3))
    # Where there are faults, nobody should have to look for them.
    weight = 8 if any(row.faults for row in table.rows) else 3
    columns.append(Column("faults", lambda row: f"{sum(row.faults.values())}", weight))
    return columns


def with_codes(columns: list[Column]) -> list[Column]:
    """The same with every blame code in the last column, where lines may be long."""
    return [*columns[:-1], Column("faults", lambda row: faults_cell(row.faults), 3, left=True)]
