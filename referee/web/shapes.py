"""What the API answers: every JSON object that leaves it, and what it asks for."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from referee.protocol.messages import NAME_LIMIT
from referee.record import Record
from referee.store.house.rows import (
    Kind,
    RulingWhat,
    SeasonState,
    TournamentState,
    VersionState,
)
from referee.web import patterns

SeasonName = Annotated[str, Meta(pattern=patterns.SEASON, description="The name of a season.")]
ShelfName = Annotated[
    str,
    Meta(
        pattern=patterns.SEASON,
        description="The name of a season, or `t` and the number of a tournament: `t7`.",
    ),
]
GameName = Annotated[
    str,
    Meta(
        pattern=patterns.GAME,
        description="A game within its season: its pairing and its number, for example `12-34`.",
    ),
]
BotName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=NAME_LIMIT,
        pattern=patterns.BOT,
        description="The name of a bot.",
    ),
]
VariantName = Annotated[
    str, Meta(max_length=60, pattern=patterns.VARIANT, description="A variant.")
]
Number = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Limit = Annotated[int, Meta(ge=1, le=500, description="How many at most.")]
Cursor = Annotated[
    str,
    Meta(
        max_length=60,
        pattern=patterns.CURSOR,
        description="`next` of the page before.",
    ),
]
Reason = Annotated[str, Meta(min_length=1, max_length=500)]


# Seasons and standings.


class SeasonTold(Struct, frozen=True, kw_only=True):
    """A ladder from its start to its end."""

    name: str
    state: SeasonState
    current: bool
    """Whether games are being played in it."""
    started: str
    frozen_at: str | None
    hidden: bool
    """Whether the public sees the standings of that moment."""
    closed: str | None
    variants: list[str]
    time: str
    """What a bot has for a move."""


class Seasons(Struct, frozen=True):
    seasons: list[SeasonTold]


class LadderRow(Struct, frozen=True, kw_only=True):
    """One version of a bot in the table of a variant."""

    rank: int | None
    """None for a bot that is disqualified, or that skips variants in the table over all."""
    rank_before: int | None
    """A day earlier, among those who are in the table now."""
    name: str
    """`BOT vNUMBER`."""
    bot: str
    version: int
    label: str
    team: str | None
    kind: Kind
    active: bool
    """Whether it is the version that plays."""
    paused: bool
    disqualified: str | None
    elo: float | None
    err95: float | None
    elo_before: float | None
    bound: str | None
    """`>` or `<` for a perfect score, which has no Elo but the bound `bound_elo`."""
    bound_elo: float | None
    games: int
    wins: int
    draws: int
    losses: int
    score: float | None
    unrated: int
    faults: dict[str, int]


class LadderTable(Struct, frozen=True, kw_only=True):
    variant: str | None
    """null: over all variants."""
    rows: list[LadderRow]


class Ladder(Struct, frozen=True, kw_only=True):
    """The standings of a season."""

    season: str
    state: SeasonState
    frozen: bool
    """Whether these are the standings of `frozen_at` and not those of now."""
    frozen_at: str | None
    at: str | None
    """When they were computed."""
    level: str | None
    """How bots of the house are confined: `full`, `standard` or `none`; null before the season has
    begun. Bots that connect run elsewhere, confined by nobody here."""
    played: int
    tables: list[LadderTable]
    notes: list[str]
    """Rulings, in words, and why nothing is played where all bots are of one team."""


class CellTold(Struct, frozen=True, kw_only=True):
    """How one version did against another."""

    first: str
    second: str
    games: int
    wins: int
    draws: int
    losses: int
    points: float
    score: float | None
    distinct: int
    """Different games among them."""


class HeadToHead(Struct, frozen=True, kw_only=True):
    season: str
    variant: str | None
    cells: list[CellTold]


# Bots.


class BotTold(Struct, frozen=True, kw_only=True):
    """A bot by its name, whichever version of it plays."""

    name: str
    team: str | None
    kind: Kind
    paused: bool
    disqualified: str | None
    active: int | None
    """The number of the version that plays."""
    connected: bool
    """Whether a connected bot is here now."""
    created: str


class Bots(Struct, frozen=True):
    bots: list[BotTold]


class VersionTold(Struct, frozen=True, kw_only=True):
    """One version of a bot: a player of its own in the ratings."""

    bot: str
    number: int
    name: str
    label: str
    state: VersionState
    submitted: str
    changed: str
    told: str | None
    """What its build and its check said; null for everybody but its team."""


class Placed(Struct, frozen=True, kw_only=True):
    """Where a bot stands in one table."""

    variant: str | None
    row: LadderRow


class BotPage(Struct, frozen=True, kw_only=True):
    bot: BotTold
    yours: bool
    versions: list[VersionTold]
    season: str | None
    standings: list[Placed]
    """Of its versions in the season."""


class RatingPoint(Struct, frozen=True, kw_only=True):
    at: str
    version: int
    variant: str | None
    elo: float | None
    err95: float | None
    games: int


class RatingHistory(Struct, frozen=True, kw_only=True):
    season: str
    points: list[RatingPoint]


# Games.


class RulingTold(Struct, frozen=True, kw_only=True):
    """What an organiser decided of a game; its record stays as it is."""

    what: RulingWhat
    seat: int | None
    reason: str
    at: str


class GameTold(Struct, frozen=True, kw_only=True):
    """A finished game in a list."""

    game: str
    """`SEASON/PAIRING-NUMBER`, or `tTOURNAMENT/PAIRING-NUMBER`."""
    variant: str
    started: str
    players: tuple[str, str]
    """In seat order."""
    winner: int | None
    scores: tuple[int, int]
    ending: str
    reason: str
    at_fault: tuple[int, ...]
    ruling: RulingTold | None


class Games(Struct, frozen=True, kw_only=True):
    games: list[GameTold]
    next: str | None
    """For `before`, where there are more."""


class GamePage(Struct, frozen=True, kw_only=True):
    """A game with its record."""

    game: str
    season: str
    ruling: RulingTold | None
    yours: list[int]
    """The seats whose notes are in the record."""
    record: Record


class Play(Struct, frozen=True, kw_only=True):
    seat: int
    move: int | str
    spent_us: int
    note: str | None = None


class StepTold(Struct, frozen=True):
    lines: list[str]
    plays: list[Play]


class StoryTold(Struct, frozen=True, kw_only=True):
    """A game in the words of its rule book."""

    game: str
    variant: str
    players: tuple[str, str]
    winner: int | None
    opening: list[str]
    steps: list[StepTold]
    ending: list[str]


class Log(Struct, frozen=True, kw_only=True):
    bot: str
    text: str
    cut: bool
    """Whether this is only the end of it."""


class Logs(Struct, frozen=True):
    logs: list[Log]


class LiveGame(Struct, frozen=True, kw_only=True):
    """A game that is being played, as far as both seats know it."""

    game: str
    variant: str
    players: tuple[str, str]
    moves: int
    lines: list[str]
    scores: tuple[int, int] | None


class LiveGames(Struct, frozen=True):
    games: list[LiveGame]
    since: str
    """For `/events`: whoever follows from there misses nothing of these games."""


# The rest.


class OptionTold(Struct, frozen=True, kw_only=True):
    name: str
    help: str
    default: int | str | None


class VariantTold(Struct, frozen=True, kw_only=True):
    name: str
    rules: int
    """The version of its rules."""
    summary: str
    book: str
    options: list[OptionTold]
    reasons: dict[str, str]
    scores_mean: str
    hidden_chance: bool


class Variants(Struct, frozen=True):
    variants: list[VariantTold]


class TournamentTold(Struct, frozen=True, kw_only=True):
    id: int
    state: TournamentState
    name: str
    told: str
    by: str
    asked: str
    changed: str
    spec: dict[str, Any]


class Tournaments(Struct, frozen=True):
    tournaments: list[TournamentTold]


class Me(Struct, frozen=True, kw_only=True):
    """Whose token it is."""

    role: Literal["anyone", "viewer", "team", "organiser"]
    name: str
    bots: list[BotTold]


class Status(Struct, frozen=True, kw_only=True):
    referee: str
    season: str | None
    played: int
    bots: int
    connected: int
    games_now: int
    waiting: int
    """Submissions that are not yet decided."""
    followers: int
    submission_bytes: int
    """The largest archive of a bot that is taken."""


# What is sent.


class Disqualification(Struct, frozen=True, forbid_unknown_fields=True):
    reason: Annotated[str, Meta(min_length=1, max_length=200)]


class Activation(Struct, frozen=True, forbid_unknown_fields=True):
    version: Number


class RulingAsked(Struct, frozen=True, forbid_unknown_fields=True):
    what: RulingWhat
    reason: Reason
    seat: Annotated[int, Meta(ge=0, le=1)] | None = None
    """Who wins it, for `award`."""


class TournamentAsked(Struct, frozen=True, forbid_unknown_fields=True):
    spec: dict[str, Any]
    """The keys of a tournament's file; docs/tournaments.md has them all."""
