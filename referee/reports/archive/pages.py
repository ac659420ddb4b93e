"""The pages of an archive: one with the tables, and one for each piece of the games.

The report of a tournament is one file, which is good up to some 100,000 games. Here the first page
has the tables, the ratings over time, the faults and who met whom, and opens at once however many
games there are; it leads to pages with some thousands of games each, which are reports themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from msgspec.structs import replace

from referee.reports.html.data import (
    Contents,
    Misdeed,
    Piece,
    Report,
    Source,
    crossable,
    decision,
    list_columns,
    meetings_of,
    misdeeds,
    progress_of,
)
from referee.reports.html.games import IN_A_BLOCK, Ration, Teller, collect
from referee.reports.html.page import page
from referee.reports.tables.notes import closing_notes, notes
from referee.verdict import MEANINGS
from referee.version import __version__

FOLDER = "report"
FIRST = "index.html"
EFFORT = 10 * Ration.EFFORT
"""For games in the words of the rule book: about half a minute."""
MOST_DETAILS = 20
"""Faults of a bot and a kind on the first page."""

Raw = tuple[int, int, bytes]


class Pages:
    """Made a piece at a time, the first page last."""

    def __init__(
        self, source: Source, pairings: int, *, private: bool, words: int | None, scripts: list[str]
    ) -> None:
        """`pairings` is how many have games; `words` and `scripts` are those of a report."""
        self._source = source
        self._private = private
        self._teller = Teller(scripts)
        self._ration = Ration(pairings, words, effort=EFFORT)
        self._names = {bot.id: bot.name for bot in source.bots}
        self._rows = {row.id: row for row in source.pairings}
        self._rulings = {ruling.game: ruling for ruling in source.standings.rulings}
        self._pieces: list[Piece] = []
        self._on: dict[int, tuple[int, int, int]] = {}
        """By pairing: its games, and the first and the last piece that they are in."""
        self._faults: list[Misdeed] = []
        self._blamed: dict[tuple[str, str], int] = {}

    def piece(self, name: str, records: Sequence[Raw]) -> str:
        """The page of some games, in order."""
        told = self._ration.games
        found = collect(records, self._teller, self._ration, private=self._private)
        here = [(pairing, sum(1 for _ in run)) for pairing, run in _runs(records)]
        meetings = meetings_of([self._rows[pairing] for pairing, _ in here], self._names)
        columns, endings, reasons = list_columns(found, meetings, self._rulings)
        keys = [game.key for game in found.games]
        self._pieces.append(Piece(name, keys[0], keys[-1], len(keys)))
        self._note(here)
        counted = [game for game in found.games if game.key not in self._rulings]
        self._faults += misdeeds(counted, MOST_DETAILS, self._blamed)
        standings = replace(
            self._source.standings,
            name=f"{self._source.standings.name}: games {keys[0]} to {keys[-1]}",
            variants=list(dict.fromkeys(each.variant for each in meetings)),
            finished=True,
            played=len(keys),
            planned=len(keys),
            tables=[],
            bracket=[],
            rulings=[],
        )
        contents = replace(
            self._contents(),
            standings=standings,
            bots=list(dict.fromkeys(n for each in meetings for n in (each.first, each.second))),
            pairings=meetings,
            endings=endings,
            reasons=reasons,
            rulings={key: decision(self._rulings[key]) for key in keys if key in self._rulings},
            in_words=self._ration.games - told,
            untold=self._teller.untold,
            home=FIRST,
        )
        return page(Report(contents, columns, found.blocks))

    def first(self) -> str:
        """The page with the tables, once there are all the others."""
        source = self._source
        tables = source.standings.tables
        played = [self._rows[pairing] for pairing in self._on]
        bots = list(dict.fromkeys(self._names[bot] for r in played for bot in (r.first, r.second)))
        place = {name: at for at, name in enumerate(bots)}
        variant = {name: at for at, name in enumerate(source.standings.variants)}
        columns = {
            "id": [row.id for row in played],
            "variant": [variant[row.variant] for row in played],
            "first": [place[self._names[row.first]] for row in played],
            "second": [place[self._names[row.second]] for row in played],
            **{
                name: [counted[at] for counted in self._on.values()]
                for at, name in enumerate(("games", "page", "last"))
            },
        }
        contents = replace(
            self._contents(),
            standings=crossable(source.standings),
            notes=[list(notes(table)) for table in tables],
            timings=source.timings,
            progress=[progress_of(table, source, self._names) for table in tables],
            bots=bots,
            faults=self._faults,
            pieces=self._pieces,
        )
        return page(Report(contents, columns, []))

    def _note(self, here: Sequence[tuple[int, int]]) -> None:
        at = len(self._pieces) - 1
        for pairing, games in here:
            before, first, _ = self._on.get(pairing, (0, at, at))
            self._on[pairing] = (before + games, first, at)

    def _contents(self) -> Contents:
        """What all pages have in common, and nothing else yet."""
        return Contents(
            referee=__version__,
            private=self._private,
            started=self._source.started,
            standings=self._source.standings,
            notes=[],
            level=" ".join(closing_notes(self._source.standings)),
            timings=[],
            progress=[],
            bots=[],
            pairings=[],
            endings=[],
            reasons=[],
            meanings={code.value: meaning for code, meaning in MEANINGS.items()},
            rulings={},
            faults=[],
            in_words=0,
            untold={},
            in_a_block=IN_A_BLOCK,
            logs={},
        )


def _runs(records: Sequence[Raw]) -> groupby[int, Raw]:
    return groupby(records, key=lambda raw: raw[0])
