"""What can be changed: submissions, which version plays, who may play, rulings, tournaments.

Nothing is done here. What is wanted goes into the house, and the coordinator sees it there.
"""

from __future__ import annotations

from typing import Any

import msgspec

from referee.rules.registry import is_path
from referee.store.house.rows import EntrantRow
from referee.tournament.spec import BadSpec, Spec, check
from referee.web.api import games, ladder
from referee.web.api.asked import OneBot, OneGame, OneTournament
from referee.web.api.reads import tournament_told
from referee.web.endpoint import Archive, Call, Endpoint, HandedIn, Nothing, told_of
from referee.web.refusal import Refusal
from referee.web.refusing import plainly
from referee.web.shapes import (
    Activation,
    BotTold,
    Disqualification,
    RulingAsked,
    RulingTold,
    TournamentAsked,
    TournamentTold,
    VersionTold,
)

ELSEWHERE = ("sandbox", "limits", "expose", "jobs", "build_time", "freeze", "left_out")
"""Keys of a spec that are about the daemon's machine, and not for others to say."""


def submit(call: Call, _: Nothing) -> VersionTold:
    packed: HandedIn = call.body
    team = None if call.visitor.team is None else call.house.teams.get(call.visitor.team)
    with plainly():
        version = call.house.submissions.keep(packed.name, team, packed.content, packed.label)
    return _After(call).version(version.id)


def pause(call: Call, asked: OneBot) -> BotTold:
    row = _own(call, asked.bot)
    with plainly():
        call.house.bots.pause(row.name, by=call.visitor.name)
    return _After(call).bot(asked.bot)


def resume(call: Call, asked: OneBot) -> BotTold:
    row = _own(call, asked.bot)
    with plainly():
        call.house.bots.resume(row.name, by=call.visitor.name)
    return _After(call).bot(asked.bot)


def activate(call: Call, asked: OneBot) -> VersionTold:
    told: Activation = call.body
    row = _own(call, asked.bot)
    with plainly():
        version = call.house.versions.activate(row.name, told.version, by=call.visitor.name)
    return _After(call).version(version.id)


def disqualify(call: Call, asked: OneBot) -> BotTold:
    told: Disqualification = call.body
    row = ladder.must_find(call, asked.bot)
    call.house.bots.disqualify(row.name, told.reason, by=call.visitor.name)
    return _After(call).bot(asked.bot)


def reinstate(call: Call, asked: OneBot) -> BotTold:
    row = ladder.must_find(call, asked.bot)
    call.house.bots.reinstate(row.name, by=call.visitor.name)
    return _After(call).bot(asked.bot)


def rule(call: Call, asked: OneGame) -> RulingTold:
    told: RulingAsked = call.body
    season = games.must_find(call, asked.season, asked.game)[0].season
    if season is None:
        raise Refusal(409, "rulings are on games of a season, and this is one of a tournament")
    pairing, _, number = asked.game.partition("-")
    row = call.house.rulings.add(
        season,
        (int(pairing), int(number)),
        told.what,
        told.seat,
        reason=told.reason,
        by=call.visitor.name,
    )
    return RulingTold(what=row.what, seat=row.seat, reason=row.reason, at=row.at)


def start_tournament(call: Call, _: Nothing) -> TournamentTold:
    told: TournamentAsked = call.body
    spec = _read_spec(told.spec)
    for name in spec["bots"]:
        why = call.house.versions.why_not_playing(ladder.must_find(call, name).name)
        if why is not None:
            raise Refusal(409, why)
    row = call.house.tournaments.ask(msgspec.json.encode(spec).decode(), by=call.visitor.name)
    return tournament_told(row, call.sight)


def cancel_tournament(call: Call, asked: OneTournament) -> TournamentTold:
    row = call.house.tournaments.cancel(asked.tournament, by=call.visitor.name)
    return tournament_told(row, call.sight)


def _read_spec(given: dict[str, Any]) -> dict[str, Any]:
    """A tournament among the bots of this daemon. Raises Refusal.

    Its `bots` are names of the ladder; none is all that play.
    """
    players = given.get("bots", [])
    foreign = [key for key in ELSEWHERE if key in given]
    if foreign:
        raise Refusal(400, f"spec: {foreign[0]} is the daemon's to say, not a tournament's")
    unknown = [key for key in given if key not in Spec.__struct_fields__]
    if unknown:
        raise Refusal(400, f"spec: there is no key {unknown[0][:60]!r} in a tournament")
    if not isinstance(players, list) or not all(isinstance(each, str) for each in players):
        raise Refusal(400, "spec: bots is a list of names of the ladder")
    try:
        spec = msgspec.convert(
            {"name": "tournament", "variants": (), **given, "bots": tuple(players)}, Spec
        )
        scripts = [each for each in (*spec.variants, *spec.options) if is_path(each)]
        if scripts:
            # A request must not choose which file is run.
            raise Refusal(400, f"spec: {scripts[0][:60]!r}: a variant is given by its name here")
        return msgspec.to_builtins(check(spec))  # type: ignore[no-any-return]
    except msgspec.ValidationError as error:
        raise Refusal(400, f"spec: {told_of(error)[0]}") from None
    except BadSpec as bad:
        raise Refusal(400, f"spec: {bad}") from None


def _own(call: Call, name: str) -> EntrantRow:
    """A bot that is the visitor's to command. Raises Refusal."""
    row = ladder.must_find(call, name)
    if not call.visitor.owns(row.team):
        raise Refusal(403, f"{call.sight.bot_name(row)} is another team's bot")
    return row


class _After:
    """Things as they are after the change."""

    def __init__(self, call: Call) -> None:
        self._call = msgspec.structs.replace(call, sight=call.library.sight(call.visitor))

    def bot(self, name: str) -> BotTold:
        row = ladder.must_find(self._call, name)
        return ladder.bot_told(row, self._call.sight, self._call.here)

    def version(self, number: int) -> VersionTold:
        return ladder.version_told(self._call, self._call.house.versions.get(number))


WRITES = (
    Endpoint(
        method="POST",
        path="/submissions",
        name="submit",
        summary="Hand in a bot's folder as the next version of the bot that its bot.toml names.",
        detail="A tar file, plain or by gzip, or a zip file that is stored or deflated: as the "
        "body itself, with its own `Content-Type`, or in a form (`multipart/form-data`). It is "
        "queued, built, checked, and then plays or is rejected, while the version before it "
        "plays on; `/bots/{bot}/versions/{version}` tells its state.",
        run=submit,
        takes=Archive,
        answers=VersionTold,
        status=202,
        needs="team",
        refuses=(409, 422),
    ),
    Endpoint(
        method="POST",
        path="/bots/{bot}/pause",
        name="pause",
        summary="Give a bot no new games until it is resumed.",
        run=pause,
        asks=OneBot,
        answers=BotTold,
        needs="team",
    ),
    Endpoint(
        method="POST",
        path="/bots/{bot}/resume",
        name="resume",
        summary="Let a bot play again.",
        run=resume,
        asks=OneBot,
        answers=BotTold,
        needs="team",
        refuses=(409,),
    ),
    Endpoint(
        method="POST",
        path="/bots/{bot}/activate",
        name="activate",
        summary="Let another version of a bot play, one that has passed its check.",
        run=activate,
        asks=OneBot,
        takes=Activation,
        answers=VersionTold,
        needs="team",
        refuses=(409,),
    ),
    Endpoint(
        method="POST",
        path="/bots/{bot}/disqualify",
        name="disqualify",
        summary="Let a bot play no more; the tables say why.",
        run=disqualify,
        asks=OneBot,
        takes=Disqualification,
        answers=BotTold,
        needs="organiser",
    ),
    Endpoint(
        method="POST",
        path="/bots/{bot}/reinstate",
        name="reinstate",
        summary="Take a disqualification back.",
        run=reinstate,
        asks=OneBot,
        answers=BotTold,
        needs="organiser",
    ),
    Endpoint(
        method="POST",
        path="/games/{season}/{game}/ruling",
        name="rule",
        summary="Decide on a game: void, award it to a seat, or lift an earlier ruling.",
        run=rule,
        asks=OneGame,
        takes=RulingAsked,
        answers=RulingTold,
        status=202,
        needs="organiser",
        refuses=(409,),
    ),
    Endpoint(
        method="POST",
        path="/tournaments",
        name="start_tournament",
        summary="Ask for a tournament among the bots of the ladder.",
        run=start_tournament,
        takes=TournamentAsked,
        answers=TournamentTold,
        status=202,
        needs="organiser",
        refuses=(404, 409),
    ),
    Endpoint(
        method="POST",
        path="/tournaments/{tournament}/cancel",
        name="cancel_tournament",
        summary="Call a tournament off that is not yet over.",
        run=cancel_tournament,
        asks=OneTournament,
        answers=TournamentTold,
        needs="organiser",
        refuses=(409,),
    ),
)
