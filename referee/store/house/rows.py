"""What the house holds, as plain rows. No row holds a token, nor anything made of one."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Role = Literal["organiser", "team", "viewer"]
Kind = Literal["submitted", "connected"]
VersionState = Literal["queued", "building", "checking", "playing", "rejected", "retired"]
SeasonState = Literal["open", "frozen", "closed"]
TournamentState = Literal["queued", "playing", "finished", "failed"]
RulingWhat = Literal["void", "award", "lift"]


class TeamRow(Struct, frozen=True):
    """Somebody with a token: a team, an organiser, or one who may only look."""

    id: int
    name: str
    role: Role
    has_token: bool
    created: str


class NewTeam(Struct, frozen=True):
    """A team of an imported list."""

    name: str
    role: Role
    token: str | None
    """Told this once; None where the team was there already and keeps the one it has."""


class EntrantRow(Struct, frozen=True):
    """A bot by its name, whichever version of it plays."""

    id: int
    name: str
    team: int | None
    """None: the organisers' own."""
    team_name: str | None
    kind: Kind
    public_key: str | None
    """Of CURVE, as Z85 text."""
    has_token: bool
    paused: bool
    disqualified: str | None
    """Why; None while it is not."""
    active: int | None
    """The id of the version that the ladder shows."""
    created: str


class VersionRow(Struct, frozen=True):
    """One version of a bot: a player of its own in the ratings."""

    id: int
    """Its number in the store of every season, too."""
    bot: int
    bot_name: str
    kind: Kind
    team: int | None
    team_name: str | None
    number: int
    """From 1 for every bot."""
    label: str
    """What its authors call it."""
    state: VersionState
    definition: str
    """JSON of a `Bot` that can be started; empty until it was built, and for connected ones."""
    hello: str
    """JSON of what a connected bot said of itself."""
    hash: str
    """SHA-256 of the archive; empty for connected ones."""
    size: int
    room: int
    """What was unpacked and built of it, in bytes; 0 until it has passed."""
    kept: bool
    """Whether its archive is still there."""
    submitted: str
    changed: str
    """When it came into its state."""

    @property
    def takes(self) -> int:
        """Bytes on the disk."""
        return self.size + self.room

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"{self.bot_name} v{self.number}"


class SeasonRow(Struct, frozen=True):
    """A ladder from its start to its end."""

    id: int
    name: str
    spec: str
    """JSON of a tournament's Spec: variants, options, clock, confinement."""
    state: SeasonState
    started: str
    frozen_at: str | None
    revealed: bool
    closed: str | None

    @property
    def hidden(self) -> bool:
        """Whether the public sees the frozen standings instead of the true ones."""
        return self.frozen_at is not None and not self.revealed


class RatingRow(Struct, frozen=True):
    """The rating of a version at a time."""

    version: int
    variant: str
    """Empty for the table over all variants."""
    at: str
    elo: float | None
    err95: float | None
    games: int


class HouseRulingRow(Struct, frozen=True):
    """What an organiser decided of a game of a season."""

    id: int
    season: int
    pairing: int
    number: int
    what: RulingWhat
    seat: int | None
    reason: str
    by: str
    at: str
    applied: bool
    """Whether it is in the season's store, and in the tables of one that nobody plays."""


class TournamentRow(Struct, frozen=True):
    """A tournament that somebody asked the daemon for."""

    id: int
    spec: str
    state: TournamentState
    told: str
    by: str
    asked: str
    changed: str


class JournalRow(Struct, frozen=True):
    """Who did what when."""

    id: int
    at: str
    who: str
    what: str


class Keep(Struct, frozen=True):
    """How long the records of a season's games are kept; their results always are."""

    days: float | None = None
    """None is for ever."""
    bytes: int | None = None
    """Of the season's database; None is as much as there is room for."""


class Limits(Struct, frozen=True):
    """What a team may do; organisers may do more."""

    submission_bytes: int = 20_000_000
    submissions_an_hour: int = 10
    bots_a_team: int = 20
    versions_a_bot: int = 100
    """So many archives are kept; the oldest that do not play go first."""
    team_bytes: int = 1_000_000_000
    """On the disk, of all that a team handed in, with what was unpacked and built of it."""
