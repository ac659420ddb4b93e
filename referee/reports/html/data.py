"""All that a report shows, as plain values: the page is made of these and of nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from referee.ratings.games import Games
from referee.reports.arrays import NOT_RATED, GameArrays
from referee.reports.html.games import IN_A_BLOCK, Collected, Game, Ration, Teller, collect
from referee.reports.html.progress import Progress, progress
from referee.reports.rulings import Ruled
from referee.reports.standings import Standings, Timing
from referee.reports.tables.notes import closing_notes, notes
from referee.reports.variant_table import Terms, VariantTable
from referee.store.rows import BotRow, PairingRow
from referee.verdict import MEANINGS
from referee.version import __version__

MOST_CROSSED = 60
"""Bots in a cross-table; it grows with their square."""
MOST_DETAILS = 100
"""Faults of a bot and a kind that are shown one by one; all are counted."""

DRAWN = 2
NOBODY = 3
PAIR_BITS = 32
"""A pair's number in ratings: that of its pairing, shifted so far, and its own."""

Raw = tuple[int, int, bytes]
"""Pairing, number, record."""


class Source(Struct, frozen=True, kw_only=True):
    """What a report is made from."""

    standings: Standings
    timings: list[Timing]
    terms: Terms
    """How the tables were made, so that the ratings over time are made the same way."""
    bots: list[BotRow]
    pairings: list[PairingRow]
    games: GameArrays
    """Of the same games as the records."""
    records: Iterable[Raw]
    """By pairing and number."""
    started: str | None = None
    logs: dict[str, str] = {}
    """What bots wrote to stderr, by a name for it."""


class Meeting(Struct, frozen=True):
    """A pairing, with names for numbers."""

    id: int
    round: int
    variant: str
    first: str
    second: str
    replay: int


class Misdeed(Struct, frozen=True):
    """A fault in words."""

    name: str
    against: str
    code: str
    game: str
    """Pairing and number, joined by a dot."""
    turn: int
    detail: str
    received: str
    spent_us: int | None
    limit_us: int | None


class Piece(Struct, frozen=True):
    """A page with a part of the games."""

    page: str
    first: str
    """Of its games, by pairing and number."""
    last: str
    games: int


class Contents(Struct, frozen=True, kw_only=True):
    """The part of a report that is read as soon as it is opened."""

    referee: str
    private: bool
    started: str | None
    standings: Standings
    notes: list[list[str]]
    """What there is to say below each table."""
    level: str
    timings: list[Timing]
    progress: list[Progress | None]
    """One for each table."""
    bots: list[str]
    pairings: list[Meeting]
    endings: list[str]
    reasons: list[str]
    meanings: dict[str, str]
    rulings: dict[str, str]
    """By game: what was decided of it, and why."""
    faults: list[Misdeed]
    in_words: int
    """How many games are told in the words of the rule book."""
    untold: dict[str, str]
    in_a_block: int
    logs: dict[str, str]
    home: str = ""
    """The page with the tables, where this one has a part of the games alone."""
    pieces: list[Piece] = []
    """The pages with the games, where there are too many for this one."""


class Report(Struct, frozen=True):
    """A whole report, before it becomes a page."""

    contents: Contents
    columns: dict[str, list[Any]]
    blocks: list[str]


def gather(
    source: Source,
    *,
    private: bool = False,
    words: int | None = None,
    scripts: Sequence[str] = (),
) -> Report:
    """Collect what a report shows.

    `words` is how many games of each pairing are told in the words of the rule book, if not as
    many as a few seconds allow; `scripts` are the paths of variants that are not installed.
    Raises BadStore, BadVariant.
    """
    teller = Teller(scripts)
    ration = Ration(len(np.unique(source.games.pairing)), words)
    found = collect(source.records, teller, ration, private=private)
    names = {bot.id: bot.name for bot in source.bots}
    meetings = meetings_of(source.pairings, names)
    rulings = {ruling.game: ruling for ruling in source.standings.rulings}
    columns, endings, reasons = list_columns(found, meetings, rulings)
    contents = Contents(
        referee=__version__,
        private=private,
        started=source.started,
        standings=crossable(source.standings),
        notes=[list(notes(table)) for table in source.standings.tables],
        level=" ".join(closing_notes(source.standings)),
        timings=source.timings,
        progress=[progress_of(table, source, names) for table in source.standings.tables],
        bots=list(dict.fromkeys(name for each in meetings for name in (each.first, each.second))),
        pairings=meetings,
        endings=endings,
        reasons=reasons,
        meanings={code.value: meaning for code, meaning in MEANINGS.items()},
        rulings={game: decision(ruling) for game, ruling in rulings.items()},
        faults=misdeeds(game for game in found.games if game.key not in rulings),
        in_words=ration.games,
        untold=teller.untold,
        in_a_block=IN_A_BLOCK,
        logs=source.logs if private else {},
    )
    return Report(contents, columns, found.blocks)


def list_columns(
    found: Collected, meetings: Sequence[Meeting], rulings: Mapping[str, Ruled] = {}
) -> tuple[dict[str, list[Any]], list[str], list[str]]:
    """The list of games in columns, and the endings and reasons that it names by number."""
    place = {meeting.id: at for at, meeting in enumerate(meetings)}
    endings: dict[str, int] = {}
    reasons: dict[str, int] = {}
    columns: dict[str, list[Any]] = {
        name: []
        for name in (
            *("pairing", "number", "swapped", "result", "ending", "reason", "plays"),
            *("scores0", "scores1"),
        )
    }
    for game in found.games:
        at = place[game.pairing]
        row = (
            at,
            game.number,
            int(game.players[0] != meetings[at].first),
            _result(game, rulings.get(game.key)),
            endings.setdefault(game.ending, len(endings)),
            reasons.setdefault(game.reason, len(reasons)),
            game.plays,
            *game.scores,
        )
        for column, value in zip(columns.values(), row, strict=True):
            column.append(value)
    return columns, list(endings), list(reasons)


def meetings_of(pairings: Iterable[PairingRow], names: Mapping[int, str]) -> list[Meeting]:
    return [
        Meeting(row.id, row.round, row.variant, names[row.first], names[row.second], row.replay)
        for row in pairings
    ]


def decision(ruling: Ruled) -> str:
    done = "void" if ruling.winner is None else f"awarded to {ruling.winner}"
    return f"Ruling: {done}: {ruling.reason}"


def _result(game: Game, ruling: Ruled | None) -> int:
    """The seat that won, or DRAWN, or NOBODY in a void game."""
    if ruling is not None:
        return NOBODY if ruling.seat is None else ruling.seat
    if game.winner is not None:
        return game.winner
    return DRAWN if game.rated else NOBODY


def crossable(standings: Standings) -> Standings:
    """Without the cells of a cross-table that would be too large to be shown."""
    return replace(standings, tables=[_cut(table) for table in standings.tables])


def _cut(table: VariantTable) -> VariantTable:
    shown = {row.name for row in table.rows[:MOST_CROSSED]}
    cells = [cell for cell in table.cells if cell.first in shown and cell.second in shown]
    return replace(table, cells=cells)


def progress_of(table: VariantTable, source: Source, names: Mapping[int, str]) -> Progress | None:
    """Rating over time in one table; None where nothing is rated, or by far too many bots."""
    games = source.games
    of_table = [row.id for row in source.pairings if table.variant in (None, row.variant)]
    wanted = np.isin(games.pairing, of_table) & (games.points != NOT_RATED)
    if not wanted.any():
        return None
    order = {row.name: at for at, row in enumerate(table.rows)}
    place = np.array([order.get(names.get(bot, ""), 0) for bot in range(max(names) + 1)])
    rated = Games(
        players=list(order),
        first=place[games.first[wanted]].astype(np.int32),
        second=place[games.second[wanted]].astype(np.int32),
        points=games.points[wanted].astype(np.int8),
        pair=games.pairing[wanted] << PAIR_BITS | games.pair[wanted],
    )
    return progress(rated, games.pairing[wanted], source.terms)


def misdeeds(
    games: Iterable[Game],
    most: int = MOST_DETAILS,
    seen: dict[tuple[str, str], int] | None = None,
) -> list[Misdeed]:
    """The first faults of each bot and kind. `seen` counts them over several calls."""
    seen = {} if seen is None else seen
    found: list[Misdeed] = []
    for game in games:
        for fault in game.faults:
            name, code = game.players[fault.seat], fault.code.value
            seen[name, code] = seen.get((name, code), 0) + 1
            if seen[name, code] <= most:
                found.append(
                    Misdeed(
                        name=name,
                        against=game.players[1 - fault.seat],
                        code=code,
                        game=game.key,
                        turn=fault.turn,
                        detail=fault.detail,
                        received=fault.received,
                        spent_us=fault.spent_us,
                        limit_us=fault.limit_us,
                    )
                )
    return found
