"""Tournaments that the daemon was asked for: all of them, and the tables of one."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from msgspec import Struct

from referee.reports.standings import Row, VariantTable
from referee.web.api import games, reads
from referee.web.api.asked import GamesAsked, OneTournament
from referee.web.endpoint import Call, Nothing
from referee.web.pages.standings import chosen, tabs
from referee.web.shapes import Cursor, LadderTable, Number, VariantName

SHOWN = 100
IN_A_LIST = 30


class PageAsked(Struct, frozen=True):
    tournament: Number
    variant: VariantName | None = None
    before: Cursor | None = None


class Placed(Struct, frozen=True):
    """A row of a table, with the name that the visitor knows."""

    name: str
    row: Row


def all_tournaments(call: Call, _: Nothing) -> dict[str, Any]:
    return {"tournaments": reads.tournaments(call, Nothing()).tournaments[-SHOWN:][::-1]}


def tournament(call: Call, asked: PageAsked) -> dict[str, Any]:
    told = reads.tournament(call, OneTournament(asked.tournament))
    shelf = call.library.shelf(f"t{told.id}")
    where = f"/tournaments/{told.id}"
    stood = call.library.standings_in(shelf.folder) if shelf.games else None
    tables = [] if stood is None else stood.standings.tables
    # Which of them is shown is chosen as on the ladder.
    found = [LadderTable(variant=table.variant, rows=[]) for table in tables]
    shown = chosen(found, asked.variant)
    table = None if shown is None else tables[found.index(shown)]
    page = games.page(call, GamesAsked(season=shelf.name, limit=IN_A_LIST, before=asked.before))
    older = None if page.next is None else f"{where}?{urlencode({'before': page.next})}"
    return {
        "tournament": told,
        "standings": None if stood is None else stood.standings,
        "tabs": tabs(where, found, shown, {}),
        "variant": None if shown is None else shown.variant,
        "rows": [] if table is None else _rows(call, table),
        "left_out": {} if stood is None or call.sight.veiled else stood.standings.left_out,
        "games": page.games,
        "older": older,
    }


def _rows(call: Call, table: VariantTable) -> list[Placed]:
    return [Placed(call.sight.called(row.name), row) for row in table.rows]
