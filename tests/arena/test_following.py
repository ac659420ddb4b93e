"""Which games are told move by move, and what of them."""

from __future__ import annotations

import time
from pathlib import Path

from referee.arena.following import LOOK_S, MOST_A_SECOND, MOST_ROUNDS, Following, Onlooker
from referee.arena.game import Game, Setting
from referee.arena.happenings import Began, Moved
from referee.arena.slot import House, Slot
from referee.clock import BankClock, read_clock
from referee.record import BotInfo, Record
from referee.rules.registry import build_variant
from referee.schedule import pairing_games
from tests.arena.playing import honest


def setting_of(variant: str, players: tuple[str, str] = ("a", "b")) -> Setting:
    return Setting(
        variant=build_variant(variant, {}),
        clock=read_clock("10s"),
        players=players,
        bots=(BotInfo("", ""), BotInfo("", "")),
    )


def game_of(setting: Setting) -> Game:
    name = setting.variant.name
    (order, _) = pairing_games("seed", name, "a", "b", 2, hidden_chance=False)
    return Game(order, setting, BankClock(setting.clock))


def play_a_round(game: Game) -> None:
    table = game.table
    for seat in table.due:
        _, _, legal = table.request(seat)
        assert legal is not None
        table.answer(seat, legal[-1], 0)


def test_of_quick_games_only_some_are_told() -> None:
    setting = setting_of("underdog")
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


def test_a_game_that_is_looked_at_seldom_is_told_as_one_that_is_looked_at_always() -> None:
    for variant in ("difference", "duel", "deck", "target", "underdog"):
        setting = setting_of(variant)
        often, seldom = Following(), Following()
        often.most = seldom.most = 1
        game = game_of(setting)
        often.begin(1, game, setting)
        while game.table.verdict is None:
            play_a_round(game)
            often.look(game)
            if len(game.table.moves) == 4:
                # Its beginning was missed, and is told all the same.
                seldom.begin(1, game, setting)
        seldom.look(game)
        missed = len(often.told) - len(seldom.told)
        assert missed == max(0, len(often.told) - 2 - MOST_ROUNDS), variant
        assert seldom.told[0] == often.told[0]
        assert seldom.told[2:] == often.told[missed + 2 :]


def test_an_onlooker_looks_now_and_then_at_games_that_last() -> None:
    setting = setting_of("difference")
    game = game_of(setting)
    told: list[Began | Moved] = []
    clock = game.started
    onlooker = Onlooker(1, setting, told.append, lambda: clock)
    play_a_round(game)
    onlooker.look([game])
    assert told == []
    clock += LOOK_S
    onlooker.look([game])
    assert [type(each) for each in told] == [Began, Moved]
    play_a_round(game)
    onlooker.look([game])
    assert len(told) == 2
    clock += LOOK_S
    onlooker.look([game])
    assert len(told) == 3
    while game.table.verdict is None:
        play_a_round(game)
    assert onlooker.settle() is True
    assert onlooker.settle() is False
    assert isinstance(told[-1], Moved)
    assert told[-1].move_number == len(game.table.moves)
    assert len(told) == 1 + len(game.table.moves) // 2


def played(seconds: float, tmp_path: Path) -> tuple[list[Began | Moved], list[Record]]:
    """Four games of real bots that take so long for a move, and what was told of them."""
    setting = setting_of("difference", ("good", "slow"))
    told: list[Began | Moved] = []
    onlooker = Onlooker(1, setting, told.append)
    bots = honest(name="good"), honest(seconds=seconds, name="slow")
    slot = Slot(bots, setting, House(logs=tmp_path), onlooker=onlooker)
    orders = pairing_games("seed", "difference", *setting.players, 4, hidden_chance=False)
    records = []
    for record in slot.play(orders):
        onlooker.settle()
        records.append(record)
    assert all(record.fault is None for record in records)
    return told, records


def test_slow_bots_of_a_slot_are_told_to_the_last_move(tmp_path: Path) -> None:
    began = time.time()
    told, records = played(0.12, tmp_path)
    lasted = time.time() - began
    assert [each.game for each in told if isinstance(each, Began)] == [
        record.game for record in records
    ]
    for record in records:
        numbers = [each.move_number for each in told[1:] if isinstance(each, Moved)]
        assert numbers.count(len(record.moves)) == len(records)
        players = {each.players for each in told if isinstance(each, Began)}
        assert record.players in players
    assert lasted > 4 * 5 * 0.12


def test_quick_bots_of_a_slot_are_not_told(tmp_path: Path) -> None:
    told, records = played(0.0, tmp_path)
    assert len(records) == 4
    # On a machine that does other things too, one of them may last.
    slow = [record for record in records if sum(record.spent_us) >= 1e6 * LOOK_S / 2]
    assert slow or told == []
