"""Bots that end when they should not: who loses what, and that the next game goes on."""

from __future__ import annotations

import pytest

from tests.arena.playing import all_lost, bot, honest, lost, play
from tests.facts import Naming


@pytest.mark.parametrize(
    ("how", "variant", "detail"),
    [
        ("status", "underdog", "the bot exited with status 3"),
        ("signal", "duel", "the bot was killed by SIGSEGV"),
    ],
)
def test_crash_on_its_turn(how: str, variant: str, detail: str) -> None:
    played = play(bot("crash", how), honest(), variant=variant, games=2)
    all_lost(played, "crash", detail)


def test_crash_as_second_bot() -> None:
    played = play(honest(), bot("crash", "status"), games=2)
    first, second = all_lost(played, "crash", "the bot exited with status 3")
    assert (first.seat, first.turn, second.seat, second.turn) == (1, 2, 0, 1)
    assert played.records[0].moves == [], "a lone answer of a round that was cut short is no move"


def test_crash_while_the_other_is_to_move() -> None:
    played = play(
        bot("crash", "idle"),
        honest(seconds=0.3),
        variant="duel",
        options={"first": "seat0"},
        games=1,
    )
    (fault,) = all_lost(played, "crash", "the bot exited with status 4")
    assert played.records[0].moves == [(0, 1)]
    assert fault.turn == 2
    assert played.records[0].scores == (20, 20)


@pytest.mark.parametrize("bad_first", [True, False])
def test_crash_while_the_other_thinks_in_a_simultaneous_round(bad_first: bool) -> None:
    bad, good = bot("crash", "idle"), honest(seconds=0.2)
    played = play(*(bad, good) if bad_first else (good, bad), games=1)
    faults = all_lost(played, "crash", "the bot exited with status 4")
    for record, fault in zip(played.records, faults, strict=True):
        # Its answer of the first round stands; the second round is where it was missing.
        assert len(record.moves) == 2
        assert fault.turn == 3 + fault.seat


def test_crash_after_an_answer_does_not_excuse_the_other() -> None:
    """The first answered its round; the second's fault in this round decides alone."""
    played = play(bot("crash", "idle", name="gone"), bot("slow_fault", 0.2), games=1)
    detail = Naming(99, "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]")
    fault = lost(played.records[0], "illegal", detail)
    assert fault.turn == 2


@pytest.mark.parametrize("variant", ["underdog", "duel"])
def test_crash_after_a_complete_answer(variant: str) -> None:
    """Complete lines are judged before the end of the file."""
    played = play(bot("crash", "answered"), honest(), variant=variant, games=1)
    all_lost(played, "crash", "the bot exited with status 5")
    for record in played.records:
        bad = record.players.index("bad")
        assert [seat for seat, _ in record.moves].count(bad) == 1


def test_answer_that_wins_counts_though_the_bot_exits() -> None:
    """A game of one move each is over before the end of the file is heard."""
    played = play(
        bot("crash", "answered"),
        honest(),
        variant="difference",
        options={"size": 2, "rounds": 1},
        games=3,
    )
    assert played.records[0].ending == "rules"
    assert len(played.records[0].moves) == 2
    for record in played.records[1:]:
        # Whether the exit is heard before or after the next game begins is a matter of luck.
        if record.ending != "rules":
            lost(record, "crash", "the bot exited with status 5")


def test_exit_between_games() -> None:
    """A bot plays many games: one that leaves after the first is missing in the second."""
    played = play(bot("crash", "between"), honest(), games=4)
    for record in played.records[0::2]:
        assert (record.ending, record.fault) == ("rules", None)
    for record in played.records[1::2]:
        lost(record, "crash", "the bot exited with status 0")
        assert record.moves == []
    assert played.result.fault_counts == {"bad": {"crash": 2}, "good": {}}


def test_exit_in_the_middle_of_a_line() -> None:
    played = play(bot("crash", "half"), honest(), games=1)
    (fault,) = all_lost(played, "crash", Naming("exited with status 6", "line"))
    assert fault.received == '{"id":1,"mo'


def test_crash_loses_every_open_game() -> None:
    """Eight games on a link, some of them waiting for the other: nobody is asked in a lost game.

    The honest bot complains when it is asked in a game that is over.
    """
    played = play(bot("crash", "some", 8), honest(8), variant="duel", games=16)
    all_lost(played, "crash", "the bot exited with status 7")
