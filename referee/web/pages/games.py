"""Games: those that were played, one of them step by step, and those that are being played."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from referee.verdict import MEANINGS, Ending
from referee.web.api import games, ladder, writes
from referee.web.api.asked import GamesAsked, OneGame
from referee.web.endpoint import Call, Nothing, told_of
from referee.web.forms import Fields
from referee.web.reading import variants_of
from referee.web.refusal import Refusal
from referee.web.shapes import (
    Cursor,
    GamePage,
    LiveGame,
    RulingAsked,
    RulingTold,
    SeasonName,
    StoryTold,
)

IN_A_LIST = 50


class ListAsked(Struct, frozen=True):
    """As the form sends it: what is not chosen comes empty."""

    season: SeasonName | None = None
    variant: str = ""
    bot: str = ""
    against: str = ""
    before: Cursor | None = None


def all_games(call: Call, asked: ListAsked) -> dict[str, Any]:
    given = {"variant": asked.variant, "bot": asked.bot, "against": asked.against}
    wanted = {name: value for name, value in given.items() if value}
    if not call.library.seasons() and asked.season is None:
        return {"season": None, "games": []}
    season = call.library.shelf(asked.season)
    page = games.page(
        call, _read({**wanted, "season": season.name, "before": asked.before, "limit": IN_A_LIST})
    )
    extra = {} if asked.season is None else {"season": asked.season}
    older = None
    if page.next is not None:
        older = "/games?" + urlencode({**extra, **wanted, "before": page.next})
    return {
        "season": season.name,
        "seasons": list(
            dict.fromkeys([season.name, *(each.name for each in call.library.seasons())])
        ),
        "variants": variants_of(season)[0],
        "bots": sorted(map(call.sight.bot_name, call.sight.roster.bots.values())),
        "asked": asked,
        "games": page.games,
        "older": older,
    }


def _read(values: dict[str, Any]) -> GamesAsked:
    try:
        return msgspec.convert(values, GamesAsked)
    except msgspec.ValidationError as error:
        raise Refusal(400, told_of(error)[0]) from None


# One game.


def game(call: Call, asked: OneGame) -> dict[str, Any]:
    """Its replay, or how far it has come."""
    try:
        page = games.game(call, asked)
    except Refusal as refusal:
        name = f"{asked.season}/{asked.game}"
        running = _named(name, games.live(call, Nothing()).games)
        over = None if running is not None else _named(name, games.just_ended(call))
        if refusal.status != 404 or (running or over) is None:
            raise
        return {"running": running or over, "over": over, "since": call.since, "page": None}
    story = games.story(call, asked)
    return {
        "running": None,
        "page": page,
        "story": story,
        "record": page.record,
        "players": list(page.record.players),
        "bots": [_bot(name) for name in page.record.players],
        "result": result_of(story, page.record.ending),
        "meaning": MEANINGS.get(page.record.ending, ""),
        "awarded": _awarded(page, page.ruling),
        "of_season": call.library.shelf(asked.season).season is not None,
        "logs": games.stderr(call, asked).logs if page.yours else [],
    }


def _named(name: str, shown: list[LiveGame]) -> LiveGame | None:
    return next((each for each in shown if each.game == name), None)


def _bot(player: str) -> str:
    """The bot whose version plays under this name, as the visitor knows it."""
    return player.rpartition(" v")[0] or player


def result_of(story: StoryTold, ending: Ending) -> str:
    if story.winner is not None:
        return f"{story.players[story.winner]} won"
    return "a draw" if ending is Ending.RULES else "void"


def _awarded(page: GamePage, ruling: RulingTold | None) -> str:
    if ruling is None:
        return ""
    if ruling.seat is None:
        return f"An organiser ruled this game void: {ruling.reason}"
    return f"An organiser awarded this game to {page.record.players[ruling.seat]}: {ruling.reason}"


def rule(call: Call, asked: OneGame, fields: Fields) -> str:
    seat = fields.get("seat", "")
    given = {
        "what": fields.get("what", ""),
        "reason": " ".join(fields.get("reason", "").split()),
        "seat": int(seat) if seat in ("0", "1") else None,
    }
    try:
        body = msgspec.convert(given, RulingAsked)
    except msgspec.ValidationError as error:
        raise Refusal(400, told_of(error)[0]) from None
    writes.rule(replace(call, body=body), asked)
    return f"/games/{asked.season}/{asked.game}"


# What is going on.


def live(call: Call, _: Nothing) -> dict[str, Any]:
    seasons = call.library.seasons()
    latest: list[Any] = []
    if seasons:
        latest = games.page(call, GamesAsked(limit=15)).games
    return {
        "running": games.live(call, Nothing()).games,
        "since": call.since,
        "games": latest,
        "here": sorted(
            call.sight.bot_name(bot)
            for bot in call.sight.roster.bots.values()
            if bot.name in call.here
        ),
        "frozen": any(call.sight.until(season) for season in seasons[-1:]),
        "season": ladder.season_told(seasons[-1]) if seasons else None,
    }
