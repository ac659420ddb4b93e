"""What the house adds to the archive of a season: who handed in what."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from referee.reports.archive.facts import Entrant
from referee.reports.archive.make import Wish
from referee.rules.registry import is_path
from referee.store.connect import FILE
from referee.store.house.house import House
from referee.store.house.mistakes import Conflict


class _Rules(Struct):
    """Of a season's spec, what matters here."""

    variants: tuple[str, ...] = ()


def season_to_archive(house: House, name: str, wish: Wish) -> tuple[Path, Wish]:
    """The folder of a season, and the wish with what is known of those who played in it, and with
    the season's own scripts.

    Raises Unknown, and Conflict where nothing was played yet.
    """
    season = house.seasons.named(name)
    folder = house.seasons.folder(season)
    if not (folder / FILE).exists():
        raise Conflict(f"the season {season.name} has no games yet")
    entrants = {
        row.id: Entrant(
            team=row.team_name,
            kind=row.kind,
            label=row.label,
            submitted=row.submitted,
            archive_sha256=row.hash,
        )
        for row in house.versions.all()
    }
    spec = msgspec.json.decode(season.spec, type=_Rules)
    scripts = (*filter(is_path, spec.variants), *wish.scripts)
    return folder, replace(wish, season=season.name, entrants=entrants, scripts=scripts)
