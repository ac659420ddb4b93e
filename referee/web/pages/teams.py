"""What is for those who take part: handing in a bot, logging in; and for organisers."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from msgspec import Struct

from referee.web import upload_reader
from referee.web.api import ladder, reads, writes
from referee.web.api.asked import OneTournament
from referee.web.endpoint import Call, Nothing
from referee.web.forms import Fields

SHOWN_TOURNAMENTS = 50


class LoginAsked(Struct, frozen=True):
    next: str = "/"


def login(_: Call, asked: LoginAsked) -> dict[str, Any]:
    return {"here": asked.next[:500], "told": ""}


def submit(call: Call, _: Nothing) -> dict[str, Any]:
    """The form, and how it stands with what was handed in."""
    quotas = call.house.submissions.quotas
    own = [
        version
        for version in call.sight.roster.versions.values()
        if version.kind == "submitted" and call.visitor.owns(version.team)
    ]
    return {
        "me": reads.me(call, Nothing()),
        "limits": call.house.settings.limits(),
        "used": None if call.visitor.team is None else quotas.used(call.visitor.team),
        "versions": [ladder.version_told(call, version) for version in own[-20:][::-1]],
        "field": upload_reader.FIELD,
    }


def hand_in(call: Call, _: Nothing, __: Fields) -> str:
    version = writes.submit(call, Nothing())
    return f"/bots/{quote(version.bot, safe='')}"


# For organisers.


def organise(call: Call, _: Nothing) -> dict[str, Any]:
    return {
        "status": reads.status(call, Nothing()),
        "playing": call.parlour.playing,
        "waiting": [ladder.version_told(call, row) for row in call.house.submissions.waiting()],
        "bots": reads.bots(call, Nothing()).bots,
        "tournaments": reads.tournaments(call, Nothing()).tournaments[-SHOWN_TOURNAMENTS:][::-1],
        "teams": call.house.teams.all(),
    }


def cancel_tournament(call: Call, asked: OneTournament, _: Fields) -> str:
    writes.cancel_tournament(call, asked)
    return "/organise"
