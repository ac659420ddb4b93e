"""Playing against a bot, with nothing but forms."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

from msgspec import Meta, Struct

from referee.web import patterns
from referee.web.endpoint import Call
from referee.web.forms import Fields
from referee.web.parlour.choosing import offer, terms
from referee.web.parlour.parlour import Parlour
from referee.web.refusal import Refusal
from referee.web.shapes import BotName, VariantName

GIVEN_UP = "{} gives up."

Name = Annotated[str, Meta(pattern=patterns.SITTING)]


class ChooseAsked(Struct, frozen=True):
    variant: VariantName | None = None
    bot: BotName | None = None


class OneSitting(Struct, frozen=True):
    sitting: Name


def choose(call: Call, asked: ChooseAsked) -> dict[str, Any]:
    found = offer(call.library, call.house, call.sight)
    variants = [(name, found.variant(name).summary) for name in found.variants]
    return {
        "variants": variants,
        "bots": [
            (each.name, each.label, [name for name, _ in variants if each.plays(name)])
            for each in found.bots
        ],
        "variant": asked.variant or variants[0][0],
        "bot": asked.bot,
        "season": found.spec is not None,
    }


def sit_down(call: Call, _: ChooseAsked, fields: Fields) -> str:
    """Begin a game."""
    found = offer(call.library, call.house, call.sight)
    seat = fields.get("seat", "random")
    if seat not in ("0", "1", "random"):
        raise Refusal(400, "seat: 0, 1 or random is expected")
    number = secrets.randbelow(2) if seat == "random" else int(seat)
    person = fields.get("name", "") or call.visitor.name
    variant, bot = fields.get("variant", ""), fields.get("bot", "")
    wanted = terms(found, variant, bot, number, person, call.house.data)
    return f"/play/{call.parlour.sit_down(call.visitor.key, wanted)}"


async def settled(parlour: Parlour, asked: OneSitting) -> None:
    await parlour.settle(asked.sitting)


def sitting(call: Call, asked: OneSitting) -> dict[str, Any]:
    shown = call.parlour.find(asked.sitting).show()
    return {
        "name": asked.sitting,
        "shown": shown,
        "terms": shown.terms,
        "variant": shown.terms.variant,
        "bot": shown.terms.bot_name,
        "seat": shown.terms.seat,
        "waiting": shown.state in ("starting", "thinking"),
    }


def move(call: Call, asked: OneSitting, fields: Fields) -> str:
    number = fields.get("turn", "")
    turn = int(number) if number.isdecimal() and len(number) < 6 else None
    call.parlour.find(asked.sitting).play(turn, fields.get("move", ""))
    return f"/play/{asked.sitting}"


def give_up(call: Call, asked: OneSitting, _: Fields) -> str:
    found = call.parlour.find(asked.sitting)
    found.leave(GIVEN_UP.format(found.terms.person))
    return f"/play/{asked.sitting}"
