"""What the addresses of the API ask for: the names in their paths and the parameters of queries."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from referee.web import patterns
from referee.web.shapes import (
    BotName,
    Cursor,
    GameName,
    Limit,
    Number,
    SeasonName,
    ShelfName,
    VariantName,
)


class StandingsAsked(Struct, frozen=True):
    season: SeasonName | None = None
    variant: VariantName | None = None
    versions: Annotated[str, Meta(pattern=patterns.VERSIONS, description="`active` or `all`.")] = (
        "active"
    )


class OfTwo(Struct, frozen=True):
    season: SeasonName | None = None
    variant: VariantName | None = None
    bot: BotName | None = None
    against: BotName | None = None


class GamesAsked(Struct, frozen=True):
    season: ShelfName | None = None
    variant: VariantName | None = None
    bot: BotName | None = None
    against: BotName | None = None
    limit: Limit = 50
    before: Cursor | None = None


class OneGame(Struct, frozen=True):
    season: ShelfName
    game: GameName


class OneBot(Struct, frozen=True):
    bot: BotName


class BotInSeason(Struct, frozen=True):
    bot: BotName
    season: SeasonName | None = None


class OneVersion(Struct, frozen=True):
    bot: BotName
    version: Number


class OneVariant(Struct, frozen=True):
    variant: VariantName


class OneTournament(Struct, frozen=True):
    tournament: Number
