"""How many games are told move by move."""

from __future__ import annotations

from referee.arena.following import MOST_A_SECOND, Following
from referee.arena.game import Game, Setting
from referee.clock import BankClock, read_clock
from referee.record import BotInfo
from referee.rules.registry import build_variant
from referee.schedule import pairing_games


def test_of_quick_games_only_some_are_told() -> None:
    setting = Setting(
        variant=build_variant("underdog", {}),
        clock=read_clock("1s"),
        players=("a", "b"),
        bots=(BotInfo("", ""), BotInfo("", "")),
    )
    orders = pairing_games("seed", "underdog", "a", "b", 4 * MOST_A_SECOND, hidden_chance=False)
    games = [Game(order, setting, BankClock(setting.clock)) for order in orders]
    following = Following()
    following.most = 3 * MOST_A_SECOND
    told = []
    for place, game in enumerate(games):
        game.started = 1000.0 + place // (2 * MOST_A_SECOND)
        following.begin(1, game, setting)
        told.append(len(following.games))
    # Half of them begin in one second, half in the next.
    assert told[2 * MOST_A_SECOND - 1] == MOST_A_SECOND
    assert told[-1] == 2 * MOST_A_SECOND
