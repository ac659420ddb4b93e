"""Ranks that ratings do not know: how far a bot came in a knockout, and who has none.

Whoever lost the final is second. The two who lost the semi-finals share places 3 and 4, those who
lost the quarter-finals places 5 to 8. Bots that nobody has beaten yet share the places before them.
Within a place the order is that of the ratings.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple

from msgspec.structs import replace

from referee.reports.variant_table import Row, VariantTable
from referee.tournament.formats import Round

KNOCKOUT = "knockout"
"""What such a table is ranked by."""
TIE_BREAKS = (
    "Ranked by how far each bot came in the knockout. "
    "Bots that lost in the same round share a rank, and the higher Elo stands first."
)


class Place(NamedTuple):
    """The first and the last of the places that some bots share."""

    first: int
    last: int


def places(bracket: Sequence[Round]) -> dict[str, Place]:
    """The place of each bot of this bracket, as far as it was played."""
    found: dict[str, Place] = {}
    for each in bracket:
        there = [name for tie in each.ties for name in (tie.first, tie.second) if name is not None]
        lost = {
            loser
            for tie in each.ties
            if tie.second is not None and tie.winner is not None
            for loser in (tie.first, tie.second)
            if loser != tie.winner
        }
        found.update((name, Place(len(each.ties) + 1, len(there))) for name in lost)
        still_in = len(there) - len(lost)
        found.update((name, Place(1, still_in)) for name in there if name not in lost)
    return found


def champion(bracket: Sequence[Round]) -> str | None:
    """Who won the final; None before that."""
    return bracket[-1].ties[0].winner if bracket and len(bracket[-1].ties) == 1 else None


def placed(table: VariantTable, by_name: Mapping[str, Place]) -> VariantTable:
    """The same table in the order of the knockout. Who was not in it comes last."""
    last = Place(len(by_name) + 1, len(table.rows))
    rows = []
    for row in sorted(table.rows, key=lambda row: by_name.get(row.name, last).first):
        first, worst = by_name.get(row.name, last)
        rows.append(replace(row, rank=first, rank_best=first, rank_worst=worst, superiority=None))
    return replace(in_order(table, rows), ranked_by=KNOCKOUT, tie_breaks=TIE_BREAKS)


def ranked_without(table: VariantTable, names: Collection[str]) -> VariantTable:
    """The same table, in which these bots have no rank and stand below all others."""
    ranked = [row for row in table.rows if row.name not in names]
    others = [row for row in table.rows if row.name in names]
    gone = sorted(row.ranks[0] for row in others)
    follows = {row.name: after.name for row, after in pairwise(table.rows)}
    rows = []
    for row, after in zip_longest(ranked, ranked[1:]):
        rank, best, worst = row.ranks
        rank -= bisect_left(gone, rank)
        best -= bisect_left(gone, best)
        worst = max(rank, worst - bisect_right(gone, worst))
        is_next = after is not None and follows[row.name] == after.name
        superiority = row.superiority if is_next else None
        rows.append(
            replace(row, rank=rank, rank_best=best, rank_worst=worst, superiority=superiority)
        )
    rows += [
        replace(row, rank=None, rank_best=None, rank_worst=None, superiority=None) for row in others
    ]
    return in_order(table, rows)


def in_order(table: VariantTable, rows: list[Row]) -> VariantTable:
    """The same table with these rows, and its cells in their order."""
    at = {row.name: number for number, row in enumerate(rows)}
    cells = sorted(table.cells, key=lambda cell: (at[cell.first], at[cell.second]))
    return replace(table, rows=rows, cells=cells)
