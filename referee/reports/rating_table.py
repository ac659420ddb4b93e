"""Ratings for people: a table for a terminal, or in Markdown, and sentences below it.

Of results from anywhere only the games are known, so there are no faults, no distinct games and no
cross-table here; all else is as in the tables of a tournament, and made by the same hands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from rich.console import RenderableType

from referee.ratings.ranks import TIE_BREAKS, RankBy
from referee.ratings.rating import PlayerRating, Ratings
from referee.reports.rating_values import draw_rate_of, score_of
from referee.reports.tables.cells import (
    elo_cell,
    error_cell,
    likelihood_cell,
    one_line,
    percent_cell,
    points_cell,
    range_cell,
)
from referee.reports.tables.columns import ALWAYS
from referee.reports.tables.markdown import escaped, grid
from referee.reports.tables.notes import Name, notes
from referee.reports.tables.text import Strip, fitted
from referee.reports.variant_table import Row, VariantTable
from referee.rules.numbers import amount


class RatingColumn(NamedTuple):
    heading: str
    cell: Callable[[PlayerRating], str]
    weight: int
    """Where there is no room for all, the column with the least goes first; ALWAYS stays."""
    left: bool = False


COLUMNS = (
    RatingColumn("#", lambda player: f"{player.rank}", ALWAYS),
    RatingColumn("range", lambda player: range_cell(player.rank_best, player.rank_worst), 6),
    RatingColumn("name", lambda player: one_line(player.name), ALWAYS, left=True),
    RatingColumn("Elo", lambda player: _elo(player), ALWAYS),
    RatingColumn("±", lambda player: error_cell(player.err95), 8),
    RatingColumn("games", lambda player: f"{player.games}", 5),
    RatingColumn("W", lambda player: f"{player.wins}", 7),
    RatingColumn("D", lambda player: f"{player.draws}", 7),
    RatingColumn("L", lambda player: f"{player.losses}", 7),
    RatingColumn("points", lambda player: points_cell(player.points), 3),
    RatingColumn("score %", lambda player: percent_cell(score_of(player)), ALWAYS),
    RatingColumn("opponents", lambda player: elo_cell(player.opponents), 1),
    RatingColumn("draws %", lambda player: percent_cell(draw_rate_of(player)), 2),
    RatingColumn("> next %", lambda player: likelihood_cell(player.superiority), 4),
)
NASH_COLUMNS = (
    RatingColumn("Nash %", lambda player: percent_cell(player.nash), 9),
    RatingColumn("Nash Elo", lambda player: elo_cell(player.nash_skill), 9),
)
NASH_NOTE = (
    "Nash: the mix of players that no player beats on average, the most even of all such mixes. "
    "Nash %: share in it. Nash Elo: average against it."
)


def ratings_text(
    ratings: Ratings, rank_by: RankBy, skipped: Mapping[str, int], width: int
) -> Iterator[RenderableType]:
    """Everything there is to show within this width, piece by piece."""
    yield headline(ratings, skipped)
    if ratings.players:
        yield fitted(
            [
                Strip(
                    column.heading,
                    [column.cell(player) for player in ratings.players],
                    ALWAYS if column.heading == rank_by else column.weight,
                    column.left,
                )
                for column in columns_of(ratings)
            ],
            width,
        )
        yield ""
        yield from rating_notes(ratings, rank_by)


def ratings_markdown(ratings: Ratings, rank_by: RankBy, skipped: Mapping[str, int]) -> str:
    lines = [escaped(headline(ratings, skipped)), ""]
    if ratings.players:
        columns = columns_of(ratings)
        rows = [[column.cell(player) for column in columns] for player in ratings.players]
        headings = [column.heading for column in columns]
        lines += grid(headings, rows, [column.left for column in columns])
        lines += ["", *(f"- {note}" for note in rating_notes(ratings, rank_by, escaped))]
    return "\n".join(lines).rstrip("\n") + "\n"


def columns_of(ratings: Ratings) -> tuple[RatingColumn, ...]:
    return COLUMNS + NASH_COLUMNS if ratings.nash else COLUMNS


def headline(ratings: Ratings, skipped: Mapping[str, int]) -> str:
    """How much was read, and what of it is in no rating."""
    games = sum(player.games for player in ratings.players) // 2
    told = f"{amount(games, 'game')} of {amount(len(ratings.players), 'player')}"
    for reason, count in skipped.items():
        told += f"; {amount(count, 'game')} left out: {reason}"
    return told


def rating_notes(ratings: Ratings, rank_by: RankBy, name: Name = one_line) -> Iterator[str]:
    """How the table was made and what it cannot tell, each a sentence or two."""
    table = VariantTable(
        variant=None,
        ranked_by=rank_by,
        tie_breaks=TIE_BREAKS[rank_by],
        rows=[_row(player) for player in ratings.players],
        cells=[],
        pools=ratings.pools,
        advantage=ratings.advantage,
        advantage_err95=ratings.advantage_err95,
        cycles=ratings.cycles,
        prior=ratings.prior,
    )
    yield from notes(table, name)
    if ratings.nash:
        yield NASH_NOTE


def _elo(player: PlayerRating) -> str:
    return elo_cell(player.elo, player.bound, player.bound_elo)


def _row(player: PlayerRating) -> Row:
    """As a row of a tournament in which nothing went wrong."""
    return Row(
        rank=player.rank,
        rank_best=player.rank_best,
        rank_worst=player.rank_worst,
        name=player.name,
        elo=player.elo,
        err95=player.err95,
        bound=player.bound,
        bound_elo=player.bound_elo,
        games=player.games,
        wins=player.wins,
        draws=player.draws,
        losses=player.losses,
        points=player.points,
        score=score_of(player),
        opponents=player.opponents,
        draw_rate=draw_rate_of(player),
        superiority=player.superiority,
        unrated=0,
        forfeits_won=0,
        bye_points=0.0,
        faults={},
    )
