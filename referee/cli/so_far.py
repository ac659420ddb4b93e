"""The table of a tournament that is being played, for a terminal."""

from __future__ import annotations

from msgspec.structs import replace
from rich.console import RenderableType
from rich.text import Text

from referee.cli import console
from referee.reports.standings import Standings, standings
from referee.reports.tables.text import main_table, table_title
from referee.store.database import Store

MOST_ROWS = 30


def table_so_far(store: Store) -> list[RenderableType]:
    """The table over all variants, as far as it goes."""
    return shown_so_far(standings(store))


def shown_so_far(found: Standings) -> list[RenderableType]:
    """The same of tables that were drawn elsewhere."""
    table = found.tables[-1]
    title = Text(f"{table_title(table)}, so far", "bold")
    if len(table.rows) > MOST_ROWS:
        table = replace(table, rows=table.rows[:MOST_ROWS])
    return [title, main_table(table, console.err.width), ""]
