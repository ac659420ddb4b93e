"""Seasons whose games are gone: the house knows of them, and their file is not there."""

from __future__ import annotations

from pathlib import Path

from referee.store.connect import FILE
from referee.store.house.house import House
from referee.store.house.mistakes import BadHouse
from referee.store.house.rows import SeasonRow


def has_lost_its_games(house: House, row: SeasonRow) -> Path | None:
    """The file with the games of a season, where it is gone though the house knows of games."""
    path = house.seasons.folder(row) / FILE
    known = house.ratings.latest(row) or any(each.applied for each in house.rulings.of_season(row))
    return path if known and not path.exists() else None


def seasons_without_games(house: House) -> list[str]:
    """Of these a backup has the tables alone."""
    return [row.name for row in house.seasons.all() if has_lost_its_games(house, row)]


def must_have_its_games(house: House, row: SeasonRow) -> None:
    """Raises BadHouse where a season that is not closed is without the games that it had."""
    lost = has_lost_its_games(house, row)
    if lost is not None and row.state != "closed":
        raise BadHouse(
            f"the games of season {row.name} are gone: there is no {lost}; bring it back from a "
            "copy (`referee backup --restore`), or give the season up by `referee season close` "
            "and begin another by `referee season start`"
        )
