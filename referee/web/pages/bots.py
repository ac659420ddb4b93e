"""All bots, and the page of one."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from referee.web.api import games, ladder, reads, writes
from referee.web.api.asked import BotInSeason, GamesAsked, OneBot
from referee.web.endpoint import Call, Nothing
from referee.web.forms import Fields
from referee.web.pages.drawing import chart
from referee.web.pages.standings import Tab, chosen, tabs
from referee.web.refusal import Refusal
from referee.web.shapes import (
    Activation,
    BotName,
    CellTold,
    Disqualification,
    LadderTable,
    Log,
    Placed,
    SeasonName,
    VariantName,
)

SHOWN_GAMES = 15
MOST_OPPONENTS = 60


class BotAsked(Struct, frozen=True):
    bot: BotName
    season: SeasonName | None = None
    variant: VariantName | None = None


def all_bots(call: Call, _: Nothing) -> dict[str, Any]:
    return {"bots": reads.bots(call, Nothing()).bots}


def bot(call: Call, asked: BotAsked) -> dict[str, Any]:
    wanted = BotInSeason(bot=asked.bot, season=asked.season)
    page = reads.bot(call, wanted)
    name = page.bot.name
    values: dict[str, Any] = {
        "page": page,
        "bot": page.bot,
        "versions": page.versions[::-1],
        "opponents": [],
        "chart": None,
        "games": [],
        "placed": [],
        "tabs": list[Tab](),
        "variant": None,
        "logs": _logs(call, wanted) if page.yours and page.season is not None else [],
        "faults": _faults(page.standings),
    }
    if page.season is None:
        return values
    season = call.library.season(page.season)
    found = [
        LadderTable(variant=variant, rows=[])
        for variant in dict.fromkeys(placed.variant for placed in page.standings)
    ]
    table = chosen(found, asked.variant) if found else None
    variant = None if table is None else table.variant
    extra = {} if asked.season is None else {"season": asked.season}
    history = reads.ratings(call, wanted).points
    values.update(
        placed=[each for each in page.standings if each.row.active],
        tabs=tabs(f"/bots/{quote(name, safe='')}", found, table, extra),
        variant=variant,
        chart=chart(history, variant),
        opponents=_opponents(call, asked, season.name, variant) if found else [],
        games=games.page(call, GamesAsked(season=season.name, bot=name, limit=SHOWN_GAMES)).games,
        of_variant=[each for each in page.standings if each.variant == variant][::-1],
    )
    return values


def _logs(call: Call, wanted: BotInSeason) -> list[Log]:
    return games.bot_stderr(call, wanted).logs


def _faults(placed: list[Placed]) -> list[tuple[str, str, str, int]]:
    """Version, variant, code and how often."""
    return [
        (each.row.name, each.variant, code, count)
        for each in placed
        if each.variant is not None
        for code, count in each.row.faults.items()
    ]


def _opponents(call: Call, asked: BotAsked, season: str, variant: str | None) -> list[CellTold]:
    """Those that it has met most often."""
    try:
        cells = ladder.cells(call, call.library.season(season), variant, asked.bot, None)
    except Refusal:
        return []
    return sorted(cells, key=lambda cell: -cell.games)[:MOST_OPPONENTS]


# What its team and organisers can do.


def pause(call: Call, asked: OneBot, _: Fields) -> str:
    writes.pause(call, asked)
    return _page(asked)


def resume(call: Call, asked: OneBot, _: Fields) -> str:
    writes.resume(call, asked)
    return _page(asked)


def activate(call: Call, asked: OneBot, fields: Fields) -> str:
    number = fields.get("version", "")
    if not number.isdecimal() or not 0 < int(number[:10]) <= 1_000_000_000:
        raise Refusal(400, "version: a number from 1 is expected")
    writes.activate(_with(call, Activation(int(number))), asked)
    return _page(asked)


def disqualify(call: Call, asked: OneBot, fields: Fields) -> str:
    reason = " ".join(fields.get("reason", "").split())
    if not 1 <= len(reason) <= 200:
        raise Refusal(400, "a reason of 1 to 200 characters is expected")
    writes.disqualify(_with(call, Disqualification(reason)), asked)
    return _page(asked)


def reinstate(call: Call, asked: OneBot, _: Fields) -> str:
    writes.reinstate(call, asked)
    return _page(asked)


def _page(asked: OneBot) -> str:
    return f"/bots/{quote(asked.bot, safe='')}"


def _with(call: Call, body: object) -> Call:
    return replace(call, body=body)
