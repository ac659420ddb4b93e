"""Ratings for programs: JSON and CSV. What is not known is null, or empty, and never NaN."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from referee.ratings.rating import Cycles, PlayerRating, Pool, Ratings

FIELDS = (*PlayerRating.__struct_fields__, "score", "draw_rate")
NASH_FIELDS = ("nash", "nash_skill")
"""Only in a table that was asked for them."""


class RatingReport(Struct, frozen=True, kw_only=True):
    """What `referee rate --json` prints."""

    players: list[dict[str, object]]
    """In rank order; the fields of PlayerRating, score and draw_rate; of Nash only if asked for."""
    pools: list[Pool]
    advantage: float | None
    advantage_err95: float | None
    cycles: Cycles | None
    prior: bool
    games: int
    skipped: Mapping[str, int]
    """Games that were read and are in no rating, by the reason."""


def ratings_json(ratings: Ratings, skipped: Mapping[str, int]) -> bytes:
    """One JSON object on one line."""
    report = RatingReport(
        players=_rows(ratings),
        pools=ratings.pools,
        advantage=ratings.advantage,
        advantage_err95=ratings.advantage_err95,
        cycles=ratings.cycles,
        prior=ratings.prior,
        games=sum(player.games for player in ratings.players) // 2,
        skipped=skipped,
    )
    return msgspec.json.encode(report) + b"\n"


def ratings_csv(ratings: Ratings) -> str:
    """A line for every player, in rank order."""
    text = io.StringIO()
    fields = [name for name in FIELDS if ratings.nash or name not in NASH_FIELDS]
    writer = csv.DictWriter(text, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_rows(ratings))
    return text.getvalue()


def score_of(player: PlayerRating) -> float | None:
    """Share of the points, 0 to 1."""
    return player.points / player.games if player.games else None


def draw_rate_of(player: PlayerRating) -> float | None:
    return player.draws / player.games if player.games else None


def _rows(ratings: Ratings) -> list[dict[str, object]]:
    rows = []
    for player in ratings.players:
        fields: dict[str, object] = msgspec.structs.asdict(player)
        if not ratings.nash:
            for name in NASH_FIELDS:
                del fields[name]
        rows.append(fields | {"score": score_of(player), "draw_rate": draw_rate_of(player)})
    return rows
