"""Ratings over time: a point a minute for every version and variant, after a day one an hour.

So much is enough for a curve, and three weeks of a busy ladder stay small. The last point of each
is kept apart as well: what was known last is asked for all the time, and must not take longer the
longer the season is.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from msgspec import Struct

from referee.store.house.books import Books, stamp
from referee.store.house.rows import RatingRow, SeasonRow

FRESH = timedelta(days=1)
"""How long every minute is kept."""
_COLUMNS = "version, variant, at, elo, err95, games"
_THEN = """SELECT past.version, past.variant, past.at, past.elo, past.err95, past.games
    FROM rating_now AS now JOIN rating AS past
    ON past.season = now.season AND past.version = now.version AND past.variant = now.variant
    AND past.at = (SELECT max(at) FROM rating WHERE season = now.season
        AND version = now.version AND variant = now.variant AND at <= ?)
    WHERE now.season = ? ORDER BY now.version, now.variant"""
_THIN = """DELETE FROM rating WHERE season = ?1 AND version = ?2 AND variant = ?3
    AND at >= ?4 AND at < ?5 AND EXISTS (
        SELECT 1 FROM rating AS later WHERE later.season = ?1 AND later.version = ?2
        AND later.variant = ?3 AND later.at > rating.at
        AND later.at < substr(rating.at, 1, 13) || ':59:59.999Z')"""


class RatingNow(Struct, frozen=True):
    """What the ratings say of a version at this moment."""

    version: int
    variant: str
    """Empty for the table over all variants."""
    elo: float | None
    err95: float | None
    games: int


class Ratings:
    """How the versions of a season came to where they are."""

    def __init__(self, books: Books) -> None:
        self._books = books
        self._thinned = ""
        """Up to when this process has seen to it that old points are an hour apart."""

    def note(self, season: SeasonRow, ratings: Iterable[RatingNow]) -> None:
        """Keep how things stand. Within a minute, the last word counts.

        A version that has played no game since its last point gets no other. No point that is made
        after a freeze is of its minute or an earlier one, though the clock be set back.
        """
        with self._books.changing():
            minute = self._minute(season)
            known = {(row.version, row.variant): row.games for row in self.latest(season)}
            points = [
                (season.id, now.version, now.variant, minute, now.elo, now.err95, now.games)
                for now in ratings
                if known.get((now.version, now.variant)) != now.games
            ]
            for table in ("rating", "rating_now"):
                self._books.write_many(
                    f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?, ?, ?, ?, ?)", points
                )
            self.thin(datetime.fromisoformat(minute) - FRESH)

    def _minute(self, season: SeasonRow) -> str:
        """That of a point that is made now."""
        now = self._books.now()[:16] + ":00.000Z"
        frozen = self._books.first(
            "SELECT frozen_at FROM season WHERE id = ? AND frozen_at IS NOT NULL AND revealed = 0",
            (season.id,),
        )
        return now if frozen is None else max(now, _next_minute(frozen[0]))

    def latest(self, season: SeasonRow) -> list[RatingRow]:
        """The last point of every version and variant."""
        query = f"SELECT {_COLUMNS} FROM rating_now WHERE season = ? ORDER BY version, variant"
        return [RatingRow(*found) for found in self._books.rows(query, (season.id,))]

    def at(self, season: SeasonRow, when: datetime) -> list[RatingRow]:
        """How things stood then: the last point of every version and variant before that."""
        return [RatingRow(*found) for found in self._books.rows(_THEN, (stamp(when), season.id))]

    def of_version(self, season: SeasonRow, version: int) -> list[RatingRow]:
        """All points of a version, by variant and time."""
        query = f"""SELECT {_COLUMNS} FROM rating
            WHERE season = ? AND version = ? ORDER BY variant, at"""
        return [RatingRow(*found) for found in self._books.rows(query, (season.id, version))]

    def of_bot(self, season: SeasonRow, bot: int) -> list[RatingRow]:
        """All points of all versions of a bot, by variant and time."""
        query = f"""SELECT {_COLUMNS} FROM rating WHERE season = ?
            AND version IN (SELECT id FROM version WHERE bot = ?) ORDER BY variant, at, version"""
        return [RatingRow(*found) for found in self._books.rows(query, (season.id, bot))]

    def thin(self, before: datetime) -> None:
        """Of the hours before this one, keep the last point of each. It looks only at what has
        come to be older since this process did it last."""
        hour = stamp(before)[:13] + ":00:00.000Z"
        if hour <= self._thinned:
            return
        with self._books.changing():
            keys = self._books.rows("SELECT season, version, variant FROM rating_now")
            self._books.write_many(_THIN, [(*key, self._thinned, hour) for key in keys])
        self._thinned = hour


def _next_minute(at: str) -> str:
    return stamp(datetime.fromisoformat(at) + timedelta(minutes=1))[:16] + ":00.000Z"
