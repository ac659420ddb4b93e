"""The table of all pages."""

from __future__ import annotations

from referee.web.api.asked import OfTwo, OneBot, OneGame, OneTournament, OneVariant
from referee.web.pages import bots, games, playing, rules, standings, teams
from referee.web.paging import Form, Page

PAGES: tuple[Page | Form, ...] = (
    Page(
        path="/",
        name="front",
        template="front.html",
        run=standings.front,
        asks=standings.FrontAsked,
    ),
    Page(
        path="/head-to-head",
        name="head_to_head",
        template="head_to_head.html",
        run=standings.head_to_head,
        asks=OfTwo,
    ),
    Page(path="/seasons", name="seasons", template="seasons.html", run=standings.seasons),
    Page(path="/bots", name="bots", template="bots.html", run=bots.all_bots),
    Page(path="/bots/{bot}", name="bot", template="bot.html", run=bots.bot, asks=bots.BotAsked),
    Form(path="/bots/{bot}/pause", name="pause", run=bots.pause, asks=OneBot),
    Form(path="/bots/{bot}/resume", name="resume", run=bots.resume, asks=OneBot),
    Form(path="/bots/{bot}/activate", name="activate", run=bots.activate, asks=OneBot),
    Form(
        path="/bots/{bot}/disqualify",
        name="disqualify",
        run=bots.disqualify,
        asks=OneBot,
        needs="organiser",
    ),
    Form(
        path="/bots/{bot}/reinstate",
        name="reinstate",
        run=bots.reinstate,
        asks=OneBot,
        needs="organiser",
    ),
    Page(
        path="/games",
        name="games",
        template="games.html",
        run=games.all_games,
        asks=games.ListAsked,
    ),
    Page(
        path="/games/{season}/{game}",
        name="game",
        template="game.html",
        run=games.game,
        asks=OneGame,
    ),
    Form(
        path="/games/{season}/{game}/ruling",
        name="rule",
        run=games.rule,
        asks=OneGame,
        needs="organiser",
    ),
    Page(path="/live", name="live", template="live.html", run=games.live),
    Page(path="/rules", name="rules", template="rules.html", run=rules.all_rules),
    Page(
        path="/rules/{variant}",
        name="rule_book",
        template="rule_book.html",
        run=rules.rules,
        asks=OneVariant,
    ),
    Page(
        path="/play",
        name="play",
        template="play.html",
        run=playing.choose,
        asks=playing.ChooseAsked,
    ),
    Form(
        path="/play",
        name="sit_down",
        run=playing.sit_down,
        asks=playing.ChooseAsked,
        needs="anyone",
        plays=True,
    ),
    Page(
        path="/play/{sitting}",
        name="sitting",
        template="sitting.html",
        run=playing.sitting,
        asks=playing.OneSitting,
        before=playing.settled,
    ),
    Form(
        path="/play/{sitting}",
        name="move",
        run=playing.move,
        asks=playing.OneSitting,
        needs="anyone",
        plays=True,
    ),
    Form(
        path="/play/{sitting}/give-up",
        name="give_up",
        run=playing.give_up,
        asks=playing.OneSitting,
        needs="anyone",
        plays=True,
    ),
    Page(
        path="/login", name="login", template="login.html", run=teams.login, asks=teams.LoginAsked
    ),
    Page(path="/submit", name="submit", template="submit.html", run=teams.submit, needs="team"),
    Form(path="/submit", name="hand_in", run=teams.hand_in, uploads=True),
    Page(
        path="/organise",
        name="organise",
        template="organise.html",
        run=teams.organise,
        needs="organiser",
    ),
    Form(
        path="/tournaments/{tournament}/cancel",
        name="cancel",
        run=teams.cancel_tournament,
        asks=OneTournament,
        needs="organiser",
    ),
)
