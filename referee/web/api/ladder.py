"""Standings, seasons and bots as the API tells them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from referee.ladder.teams import ONE_TEAM, are_one_team
from referee.reports.standings import Cell, Row, Standings, VariantTable
from referee.reports.tables.notes import disqualified_told
from referee.store.browsing import met_by
from referee.store.database import Store
from referee.store.house.rows import EntrantRow, RatingRow, SeasonRow, VersionRow
from referee.web.endpoint import Call
from referee.web.reading import Stood, variants_of
from referee.web.refusal import Refusal
from referee.web.shapes import (
    BotTold,
    CellTold,
    Ladder,
    LadderRow,
    LadderTable,
    Placed,
    SeasonTold,
    VersionTold,
)
from referee.web.sight import Sight

MOVEMENT = timedelta(days=1)
SHOWN_RULINGS = 50


def season_told(season: SeasonRow) -> SeasonTold:
    variants, time = variants_of(season)
    return SeasonTold(
        name=season.name,
        state=season.state,
        current=season.state != "closed",
        started=season.started,
        frozen_at=season.frozen_at,
        hidden=season.hidden,
        closed=season.closed,
        variants=variants,
        time=time,
    )


def ladder(
    call: Call,
    season: SeasonRow,
    *,
    everybody: bool,
    variant: str | None,
    since: timedelta = MOVEMENT,
) -> Ladder:
    """The tables of a season: of the versions that play, or of all there ever were."""
    stood, frozen = call.library.standings(season, call.sight)
    tables: list[LadderTable] = []
    if stood is not None:
        before = Before(call, season, since)
        for table in stood.standings.tables:
            if variant is None or table.variant == variant:
                rows = _rows(table, stood, call.sight, before, everybody=everybody)
                tables.append(LadderTable(variant=table.variant, rows=rows))
    if variant is not None and not tables and variant not in variants_of(season)[0]:
        raise Refusal(404, f"there is no variant {variant!r} in season {season.name}")
    return Ladder(
        season=season.name,
        state=season.state,
        frozen=frozen,
        frozen_at=season.frozen_at if frozen else None,
        at=None if stood is None else stood.at,
        level=None if stood is None else stood.standings.level,
        played=0 if stood is None else stood.standings.played,
        tables=tables,
        notes=[
            *([ONE_TEAM] if season.state != "closed" and _is_of_one_team(call) else []),
            *([] if stood is None else _notes(stood.standings, season, call.sight)),
        ],
    )


def _is_of_one_team(call: Call) -> bool:
    """Whether nobody can meet anybody, since all bots that play are of one team."""
    teams = [
        bot.team_name
        for bot in call.sight.roster.bots.values()
        if bot.active is not None and not bot.paused and bot.disqualified is None
        if bot.kind != "connected" or bot.name in call.here
    ]
    return are_one_team(teams)


class Before:
    """How things stood some time before what is shown."""

    def __init__(self, call: Call, season: SeasonRow, since: timedelta) -> None:
        rows = call.library.ratings_at(season, call.sight.until(season), since)
        self._rows: dict[tuple[int, str], RatingRow] = {
            (row.version, row.variant): row for row in rows
        }

    def elo(self, version: int, variant: str | None) -> float | None:
        row = self._rows.get((version, variant or ""))
        return None if row is None else row.elo

    def ranks(self, versions: Iterable[int], variant: str | None) -> dict[int, int]:
        """Of those among these who had a rating then."""
        rated = [(elo, v) for v in versions if (elo := self.elo(v, variant)) is not None]
        ordered = sorted(rated, key=lambda each: -each[0])
        return {version: rank for rank, (_, version) in enumerate(ordered, start=1)}


def _rows(
    table: VariantTable, stood: Stood, sight: Sight, before: Before, *, everybody: bool
) -> list[LadderRow]:
    known: list[tuple[Row, VersionRow, EntrantRow]] = []
    for row in table.rows:
        version = sight.roster.called.get(row.name)
        if version is None:
            continue
        bot = sight.roster.bot_of(version)
        if everybody or stood.entered(bot).active == version.id:
            known.append((row, version, bot))
    ranks = before.ranks((version.id for _, version, _ in known), table.variant)
    found: list[LadderRow] = []
    rank: int | None = None
    last: int | None = None
    for place, (row, version, bot) in enumerate(known, start=1):
        if row.rank != last:
            rank, last = None if row.rank is None else place, row.rank
        entered = stood.entered(bot)
        found.append(
            LadderRow(
                rank=rank,
                rank_before=ranks.get(version.id),
                name=sight.called(version.name),
                bot=sight.bot_name(bot),
                version=version.number,
                label=sight.label(version),
                team=sight.team_name(bot),
                kind=bot.kind,
                active=entered.active == version.id,
                paused=entered.paused,
                disqualified=entered.disqualified,
                elo=row.elo,
                err95=row.err95,
                elo_before=before.elo(version.id, table.variant),
                bound=row.bound,
                bound_elo=row.bound_elo,
                games=row.games,
                wins=row.wins,
                draws=row.draws,
                losses=row.losses,
                score=row.score,
                unrated=row.unrated,
                faults=row.faults,
            )
        )
    return found


def _notes(standings: Standings, season: SeasonRow, sight: Sight) -> list[str]:
    """What organisers decided of bots, and of single games the last of it."""
    told = list(disqualified_told(standings.disqualified, sight.called))
    for ruling in standings.rulings[-SHOWN_RULINGS:]:
        met = " – ".join(sight.called(name) for name in ruling.players)
        winner = None if ruling.winner is None else sight.called(ruling.winner)
        done = "is void" if winner is None else f"is awarded to {winner}"
        told.append(f"Ruling: game {season.name}/{ruling.game} ({met}) {done}: {ruling.reason}")
    return told


def cells(
    call: Call, season: SeasonRow, variant: str | None, bot: str | None, against: str | None
) -> list[CellTold]:
    """How versions did against each other: all, or those of one bot, or of two."""
    stood, _ = call.library.standings(season, call.sight)
    if stood is None:
        return []
    table = next((each for each in stood.standings.tables if each.variant == variant), None)
    if table is None and variant is None and len(stood.standings.tables) == 1:
        table = stood.standings.tables[0]
    if table is None:
        raise Refusal(404, f"there is no variant {variant!r} in season {season.name}")
    first = None if bot is None else must_find(call, bot).id
    second = None if against is None else must_find(call, against).id
    called = call.sight.roster.called
    found: list[CellTold] = []
    for cell in table.cells or _stored_cells(call, season, table, first or second):
        one, other = called.get(cell.first), called.get(cell.second)
        if one is None or other is None:
            continue
        if first in (None, one.bot) and second in (None, other.bot):
            found.append(
                CellTold(
                    first=call.sight.called(cell.first),
                    second=call.sight.called(cell.second),
                    games=cell.games,
                    wins=cell.wins,
                    draws=cell.draws,
                    losses=cell.losses,
                    points=cell.points,
                    score=cell.score,
                    distinct=cell.distinct,
                )
            )
    return found


def _stored_cells(
    call: Call, season: SeasonRow, table: VariantTable, bot: int | None
) -> list[Cell]:
    """Of a ladder so large that its tables come without cells: those of one bot, counted anew."""
    folder = call.library.folder(season)
    if not any(row.games for row in table.rows) or call.sight.until(season) is not None:
        return []
    if bot is None:
        raise Refusal(400, "there are too many to tell all of them: name a bot")
    versions = call.sight.roster.versions
    own = [version.id for version in versions.values() if version.bot == bot]
    with Store.read(folder) as store:
        met = met_by(store, own, table.variant)
    return [
        Cell(
            first=versions[first].name,
            second=versions[second].name,
            games=each.games,
            wins=each.wins,
            draws=each.draws,
            losses=each.losses,
            points=each.points,
            score=round(each.points / each.games, 6),
            distinct=each.distinct,
        )
        for (first, second), each in met.items()
        if first in versions and second in versions
    ]


# Bots.


def must_find(call: Call, name: str) -> EntrantRow:
    """The bot that the visitor calls so. Raises Refusal."""
    bot = call.sight.find_bot(name)
    if bot is None:
        raise Refusal(404, f"there is no bot {name!r}")
    return bot


def bot_told(bot: EntrantRow, sight: Sight, here: set[str]) -> BotTold:
    active = None if bot.active is None else sight.roster.versions.get(bot.active)
    return BotTold(
        name=sight.bot_name(bot),
        team=sight.team_name(bot),
        kind=bot.kind,
        paused=bot.paused,
        disqualified=bot.disqualified,
        active=None if active is None else active.number,
        connected=bot.kind == "connected" and bot.name in here,
        created=bot.created,
    )


def version_told(call: Call, version: VersionRow) -> VersionTold:
    sight = call.sight
    owned = sight.visitor.owns(version.team)
    return VersionTold(
        bot=sight.called(version.bot_name),
        number=version.number,
        name=sight.called(version.name),
        label=sight.label(version),
        state=version.state,
        submitted=version.submitted,
        changed=version.changed,
        told=call.house.versions.told(version.id) if owned else None,
    )


def placed(call: Call, season: SeasonRow, bot: EntrantRow) -> list[Placed]:
    """Where the versions of a bot stand, by variant."""
    tables = ladder(call, season, everybody=True, variant=None).tables
    name = call.sight.bot_name(bot)
    return [
        Placed(variant=table.variant, row=row)
        for table in tables
        for row in table.rows
        if row.bot == name
    ]
