"""What an archive tells of what it is of, for programs."""

from __future__ import annotations

from msgspec import Struct

from referee.reports.archive.sources import Source


class Entrant(Struct, frozen=True, kw_only=True):
    """What the house knows of a version that plays, beyond the store."""

    team: str | None = None
    kind: str = ""
    label: str = ""
    submitted: str = ""
    archive_sha256: str = ""


class Player(Struct, frozen=True, kw_only=True):
    """Who played."""

    id: int
    name: str
    version: str
    hash: str
    """Of its folder, as records have it."""
    entrant: Entrant | None = None


class Facts(Struct, frozen=True, kw_only=True):
    """What an archive is of."""

    name: str
    season: str | None
    referee: str
    """That made the archive."""
    played_by: str | None
    """The referee that the season began with."""
    started: str | None
    finished: str | None
    level: str
    seed: str | None
    salt: str | None
    games: int
    records: int
    """Fewer than games where old ones were dropped."""
    private: bool
    """Whether the records have the notes of the bots."""
    variants: list[Source]
    players: list[Player]
