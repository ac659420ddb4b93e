"""The ladder, head-to-head, and seasons."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from urllib.parse import urlencode

from msgspec import Meta, Struct

from referee.store.house.rows import SeasonRow
from referee.web import patterns
from referee.web.api import games, ladder
from referee.web.api.asked import GamesAsked, OfTwo
from referee.web.endpoint import Call, Nothing
from referee.web.pages.drawing import BAR_HEIGHT, BAR_WIDTH, Bar, bars
from referee.web.reading import variants_of
from referee.web.refusal import Refusal
from referee.web.shapes import CellTold, LadderRow, LadderTable, SeasonName, VariantName

ALL = "all"
"""What the table over all variants is called in an address."""
SHOWN_LIVE = 5
SHOWN_GAMES = 8
MOST_CROSSED = 40
DAY, HOUR = timedelta(days=1), timedelta(hours=1)


class FrontAsked(Struct, frozen=True):
    season: SeasonName | None = None
    variant: VariantName | None = None
    versions: Annotated[str, Meta(pattern=patterns.VERSIONS)] = "active"


class Tab(Struct, frozen=True):
    """A link to the same page for another variant."""

    label: str
    href: str
    current: bool


class Rung(Struct, frozen=True, kw_only=True):
    """A row of the ladder with what is drawn of it."""

    row: LadderRow
    bar: Bar | None
    climbed: int | None
    """Ranks, since the time that `since` tells; None for one who is new."""
    gained: float | None


def front(call: Call, asked: FrontAsked) -> dict[str, Any]:
    """The ladder of a season, the latest if none is named."""
    seasons = call.library.seasons()
    if not seasons and asked.season is None:
        return {"season": None}
    season = call.library.season(asked.season)
    since, told = _since(season)
    everybody = asked.versions == "all"
    found = ladder.ladder(call, season, everybody=everybody, variant=None, since=since)
    tables = _of_all_variants(found.tables, season)
    table = chosen(tables, asked.variant)
    rows = [] if table is None else table.rows
    drawn, marks = bars(rows)
    extra = {} if season is seasons[-1] else {"season": season.name}
    rungs = [_rung(row, bar) for row, bar in zip(rows, drawn, strict=True)]
    return {
        "season": ladder.season_told(season),
        "ladder": found,
        "tabs": tabs("/", tables, table, extra),
        "variant": None if table is None else table.variant,
        "rungs": rungs,
        "moved": any(rung.climbed is not None for rung in rungs),
        "marks": marks,
        "bar": (BAR_WIDTH, BAR_HEIGHT),
        "since": told,
        "everybody": everybody,
        "latest": season is seasons[-1],
        "running": games.live(call, Nothing()).games[:SHOWN_LIVE],
        "games": games.page(call, GamesAsked(season=season.name, limit=SHOWN_GAMES)).games,
    }


def _since(season: SeasonRow) -> tuple[timedelta, str]:
    """On the first day of a season, movement is that of the last hour."""
    age = datetime.now(UTC) - datetime.fromisoformat(season.started)
    return (DAY, "since yesterday") if age > DAY else (HOUR, "in the last hour")


def _rung(row: LadderRow, bar: Bar | None) -> Rung:
    before = (row.rank_before, row.elo_before)
    return Rung(
        row=row,
        bar=bar,
        climbed=None if before[0] is None or row.rank is None else before[0] - row.rank,
        gained=None if before[1] is None or row.elo is None else row.elo - before[1],
    )


def _of_all_variants(tables: list[LadderTable], season: SeasonRow) -> list[LadderTable]:
    """Those that nobody has played yet are empty."""
    there = {table.variant: table for table in tables}
    names = dict.fromkeys([*variants_of(season)[0], *there])
    return [
        there.get(name) or LadderTable(variant=name, rows=[])
        for name in sorted(names, key=lambda name: name is None)
    ]


def chosen(tables: list[LadderTable], variant: str | None) -> LadderTable | None:
    """The table that an address means. Raises Refusal."""
    if not tables:
        return None
    if variant is None:
        if tables[-1].variant is None:
            return tables[-1]
        return next((table for table in tables if table.rows), tables[0])
    for table in tables:
        if (table.variant or ALL) == variant:
            return table
    raise Refusal(404, f"there is no variant {variant!r} in this season")


def tabs(
    where: str, tables: list[LadderTable], table: LadderTable | None, extra: dict[str, str]
) -> list[Tab]:
    """All variants first."""
    ordered = sorted(tables, key=lambda each: each.variant is not None)
    return [
        Tab(
            each.variant or "all variants",
            f"{where}?{urlencode({'variant': each.variant or ALL, **extra})}",
            each is table,
        )
        for each in ordered
    ]


# Head-to-head.


class Cross(Struct, frozen=True):
    """A cell of the cross-table."""

    cell: CellTold | None
    heat: str
    """The class that colours it, by tenths of the score; empty where nothing was played."""
    own: bool = False


def head_to_head(call: Call, asked: OfTwo) -> dict[str, Any]:
    season = call.library.season(asked.season)
    found = ladder.ladder(call, season, everybody=False, variant=None)
    tables = _of_all_variants(found.tables, season)
    table = chosen(tables, asked.variant)
    rows = [] if table is None else table.rows
    shown = rows[:MOST_CROSSED]
    cells: list[CellTold] = []
    why_not = ""
    if shown and table is not None:
        try:
            cells = ladder.cells(call, season, table.variant, None, None)
        except Refusal:
            why_not = "There are too many bots for one table: the page of each has its opponents."
    by_names = {(cell.first, cell.second): cell for cell in cells}
    extra = {} if season is call.library.seasons()[-1] else {"season": season.name}
    return {
        "season": ladder.season_told(season),
        "tabs": tabs("/head-to-head", tables, table, extra),
        "variant": None if table is None else table.variant,
        "rows": shown,
        "left_out": len(rows) - len(shown),
        "crossed": [
            [_cross(by_names.get((row.name, column.name)), row is column) for column in shown]
            for row in shown
        ],
        "why_not": why_not,
    }


def _cross(cell: CellTold | None, own: bool) -> Cross:
    if cell is None or cell.score is None:
        return Cross(None, "", own)
    return Cross(cell, f"heat-{round(10 * cell.score)}", own)


# Seasons.


def seasons(call: Call, _: Nothing) -> dict[str, Any]:
    told = [ladder.season_told(season) for season in reversed(call.library.seasons())]
    return {"seasons": told}
