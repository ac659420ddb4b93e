"""What can be read: standings, bots, games, records, rules."""

from __future__ import annotations

from typing import Any

import msgspec

from referee.rules.registry import AnyVariant
from referee.store.house.rows import EntrantRow, TournamentRow
from referee.version import __version__
from referee.web.api import games, ladder
from referee.web.api.asked import (
    BotInSeason,
    GamesAsked,
    OfTwo,
    OneGame,
    OneTournament,
    OneVariant,
    OneVersion,
    StandingsAsked,
)
from referee.web.endpoint import Call, Endpoint, Nothing
from referee.web.refusal import Refusal
from referee.web.shapes import (
    BotPage,
    Bots,
    GamePage,
    Games,
    HeadToHead,
    Ladder,
    LiveGames,
    Logs,
    Me,
    OptionTold,
    RatingHistory,
    RatingPoint,
    Seasons,
    Status,
    StoryTold,
    Tournaments,
    TournamentTold,
    Variants,
    VariantTold,
    VersionTold,
)
from referee.web.sight import Sight

NOT_TOLD = ("seed", "salt", "expose", "bots")
"""Of a spec: the paths of this machine, and the luck of games to come, are nobody's business."""
WITH_NAMES = ("challengers", "anchors", "left_out", "teams")


def status(call: Call, _: Nothing) -> Status:
    seasons = call.library.seasons()
    played = 0
    if seasons:
        stood, _frozen = call.library.standings(seasons[-1], call.sight)
        played = 0 if stood is None else stood.standings.played
    return Status(
        referee=__version__,
        season=seasons[-1].name if seasons else None,
        played=played,
        bots=len(call.sight.roster.bots),
        connected=len(call.here),
        games_now=len(call.running.games()),
        waiting=len(call.house.submissions.waiting()),
        followers=call.followers,
        submission_bytes=call.house.settings.limits().submission_bytes,
    )


def me(call: Call, _: Nothing) -> Me:
    bots: list[EntrantRow] = []
    if call.visitor.role == "team":
        bots = [bot for bot in call.sight.roster.bots.values() if bot.team == call.visitor.team]
    return Me(
        role=call.visitor.role,
        name=call.visitor.name,
        bots=[ladder.bot_told(bot, call.sight, call.here) for bot in bots],
    )


def seasons(call: Call, _: Nothing) -> Seasons:
    return Seasons([ladder.season_told(season) for season in call.library.seasons()])


def standings(call: Call, asked: StandingsAsked) -> Ladder:
    season = call.library.season(asked.season)
    return ladder.ladder(call, season, everybody=asked.versions == "all", variant=asked.variant)


def head_to_head(call: Call, asked: OfTwo) -> HeadToHead:
    season = call.library.season(asked.season)
    return HeadToHead(
        season=season.name,
        variant=asked.variant,
        cells=ladder.cells(call, season, asked.variant, asked.bot, asked.against),
    )


def bots(call: Call, _: Nothing) -> Bots:
    rows = sorted(call.sight.roster.bots.values(), key=call.sight.bot_name)
    return Bots([ladder.bot_told(bot, call.sight, call.here) for bot in rows])


def bot(call: Call, asked: BotInSeason) -> BotPage:
    row = ladder.must_find(call, asked.bot)
    rows = call.library.seasons()
    season = call.library.season(asked.season) if asked.season or rows else None
    return BotPage(
        bot=ladder.bot_told(row, call.sight, call.here),
        yours=call.visitor.owns(row.team),
        versions=[
            ladder.version_told(call, version)
            for version in call.sight.roster.versions.values()
            if version.bot == row.id
        ],
        season=None if season is None else season.name,
        standings=[] if season is None else ladder.placed(call, season, row),
    )


def version(call: Call, asked: OneVersion) -> VersionTold:
    row = ladder.must_find(call, asked.bot)
    for found in call.sight.roster.versions.values():
        if (found.bot, found.number) == (row.id, asked.version):
            return ladder.version_told(call, found)
    raise Refusal(404, f"{call.sight.bot_name(row)} has no version {asked.version}")


def ratings(call: Call, asked: BotInSeason) -> RatingHistory:
    row = ladder.must_find(call, asked.bot)
    season = call.library.season(asked.season)
    until = call.sight.until(season)
    versions = call.sight.roster.versions
    return RatingHistory(
        season=season.name,
        points=[
            RatingPoint(
                at=point.at,
                version=versions[point.version].number,
                variant=point.variant or None,
                elo=point.elo,
                err95=point.err95,
                games=point.games,
            )
            for point in call.house.ratings.of_bot(season, row.id)
            # A point has the minute in which it was made, and all games of that minute in it.
            if until is None or point.at[:16] < until[:16]
        ],
    )


def variants(call: Call, _: Nothing) -> Variants:
    return Variants([_variant(each) for each in call.library.variants().values()])


def variant(call: Call, asked: OneVariant) -> VariantTold:
    there = call.library.variants()
    if asked.variant not in there:
        raise Refusal(404, f"there is no variant {asked.variant!r}")
    return _variant(there[asked.variant])


def _variant(found: AnyVariant) -> VariantTold:
    return VariantTold(
        name=found.name,
        rules=found.rules,
        summary=found.summary,
        book=found.book(),
        options=[
            OptionTold(name=option.name, help=option.help, default=option.default)
            for option in found.options
        ],
        reasons=dict(found.reasons),
        scores_mean=found.scores_mean,
        hidden_chance=found.hidden_chance,
    )


def tournaments(call: Call, _: Nothing) -> Tournaments:
    rows = call.house.tournaments.all()[-500:]
    return Tournaments([tournament_told(row, call.sight) for row in rows])


def tournament(call: Call, asked: OneTournament) -> TournamentTold:
    return tournament_told(call.house.tournaments.get(asked.tournament), call.sight)


def tournament_told(row: TournamentRow, sight: Sight) -> TournamentTold:
    spec: dict[str, Any] = msgspec.json.decode(row.spec, type=dict[str, Any])
    kept = NOT_TOLD + (WITH_NAMES if sight.veiled else ())
    return TournamentTold(
        id=row.id,
        state=row.state,
        name=str(spec.get("name", "")),
        told="" if sight.veiled else row.told,
        by=row.by,
        asked=row.asked,
        changed=row.changed,
        spec={key: value for key, value in spec.items() if key not in kept},
    )


READS = (
    Endpoint(
        method="GET",
        path="/status",
        name="status",
        summary="What is going on, in a few numbers.",
        run=status,
        answers=Status,
    ),
    Endpoint(
        method="GET",
        path="/me",
        name="me",
        summary="Whose token it is, and which bots are theirs.",
        run=me,
        answers=Me,
        needs="viewer",
    ),
    Endpoint(
        method="GET",
        path="/seasons",
        name="seasons",
        summary="All seasons, the latest last.",
        run=seasons,
        answers=Seasons,
    ),
    Endpoint(
        method="GET",
        path="/standings",
        name="standings",
        summary="The tables of a season, the latest if none is named.",
        detail="While a season is frozen, everybody but an organiser sees the tables of the "
        "moment when it was. `level` says how bots of the house are confined.",
        run=standings,
        asks=StandingsAsked,
        answers=Ladder,
        refuses=(404,),
    ),
    Endpoint(
        method="GET",
        path="/head-to-head",
        name="head_to_head",
        summary="How versions did against each other: all, those of one bot, or of two.",
        run=head_to_head,
        asks=OfTwo,
        answers=HeadToHead,
        refuses=(404,),
    ),
    Endpoint(
        method="GET",
        path="/bots",
        name="bots",
        summary="All bots.",
        run=bots,
        answers=Bots,
    ),
    Endpoint(
        method="GET",
        path="/bots/{bot}",
        name="bot",
        summary="A bot, its versions, and where they stand.",
        run=bot,
        asks=BotInSeason,
        answers=BotPage,
    ),
    Endpoint(
        method="GET",
        path="/bots/{bot}/ratings",
        name="bot_ratings",
        summary="The ratings of a bot's versions over time.",
        run=ratings,
        asks=BotInSeason,
        answers=RatingHistory,
    ),
    Endpoint(
        method="GET",
        path="/bots/{bot}/versions/{version}",
        name="version",
        summary="One version of a bot: its state and, for its team, what its build and check said.",
        run=version,
        asks=OneVersion,
        answers=VersionTold,
    ),
    Endpoint(
        method="GET",
        path="/bots/{bot}/stderr",
        name="bot_stderr",
        summary="What a bot wrote to stderr last, for its team and organisers.",
        run=games.bot_stderr,
        asks=BotInSeason,
        answers=Logs,
        needs="team",
        refuses=(403,),
    ),
    Endpoint(
        method="GET",
        path="/games",
        name="games",
        summary="Finished games, the newest first.",
        run=games.page,
        asks=GamesAsked,
        answers=Games,
        refuses=(404,),
    ),
    Endpoint(
        method="GET",
        path="/games/{season}/{game}",
        name="game",
        summary="A game with its record.",
        detail="The notes in it are those of the visitor's own bots alone.",
        run=games.game,
        asks=OneGame,
        answers=GamePage,
        keep_s=60,
    ),
    Endpoint(
        method="GET",
        path="/games/{season}/{game}/story",
        name="story",
        summary="A game step by step, in the words of its rule book.",
        run=games.story,
        asks=OneGame,
        answers=StoryTold,
        keep_s=60,
    ),
    Endpoint(
        method="GET",
        path="/games/{season}/{game}/stderr",
        name="game_stderr",
        summary="What the visitor's own bots wrote to stderr in the pairing of a game.",
        run=games.stderr,
        asks=OneGame,
        answers=Logs,
        needs="team",
        refuses=(403,),
    ),
    Endpoint(
        method="GET",
        path="/live",
        name="live",
        summary="Games that are being played, as far as both seats know them.",
        run=games.live,
        answers=LiveGames,
    ),
    Endpoint(
        method="GET",
        path="/variants",
        name="variants",
        summary="The variants and their rules.",
        run=variants,
        answers=Variants,
        keep_s=60,
    ),
    Endpoint(
        method="GET",
        path="/variants/{variant}",
        name="variant",
        summary="One variant.",
        run=variant,
        asks=OneVariant,
        answers=VariantTold,
        keep_s=60,
    ),
    Endpoint(
        method="GET",
        path="/tournaments",
        name="tournaments",
        summary="Tournaments that the daemon was asked for.",
        run=tournaments,
        answers=Tournaments,
    ),
    Endpoint(
        method="GET",
        path="/tournaments/{tournament}",
        name="tournament",
        summary="One of them.",
        run=tournament,
        asks=OneTournament,
        answers=TournamentTold,
    ),
)
