"""Answers to other turns, answers that the rules forbid, and bots that give up."""

from __future__ import annotations

import pytest

from referee.protocol.messages import STALE_LIMIT
from tests.arena.playing import all_by_rules, all_lost, bot, honest, lost, play
from tests.facts import Naming

ILLEGAL = Naming("99", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]")


def test_second_answer_is_dropped() -> None:
    played = play(bot("ids", "twice"), honest(), games=3)
    all_by_rules(played)
    for record in played.records:
        bad = record.players.index("bad")
        own = [move for seat, move in record.moves if seat == bad]
        assert own == sorted(own), "the first answer counts, which is the lowest number"
        assert record.dropped == len(own)


def test_answer_to_an_old_turn_is_dropped() -> None:
    played = play(bot("ids", "old"), honest(), games=3)
    all_by_rules(played)
    for number, record in enumerate(played.records):
        bad = record.players.index("bad")
        own = [move for seat, move in record.moves if seat == bad]
        assert own == sorted(own)
        # On the very first turn of the process there is no turn before.
        assert record.dropped == len(own) - (number == 0)


def test_id_that_was_never_given() -> None:
    played = play(bot("ids", "never"), honest(), games=2)
    for fault in all_lost(played, "garbled", "id 2 was never given"):
        assert fault.received == '{"id": 2, "move": 1}'


def test_some_stale_lines_are_borne() -> None:
    played = play(bot("ids", "stale", STALE_LIMIT), honest(), games=1)
    all_by_rules(played)
    assert played.records[0].dropped == STALE_LIMIT


@pytest.mark.parametrize("kind", ["stale", "pongs"])
def test_many_stale_lines_are_a_flood(kind: str) -> None:
    played = play(bot("ids", kind, STALE_LIMIT + 1), honest(), games=1)
    (fault,) = all_lost(played, "flood", Naming(STALE_LIMIT, "lines"))
    assert fault.turn == 3


@pytest.mark.parametrize(
    ("how", "code", "detail", "received"),
    [
        ("number", "illegal", ILLEGAL, '"move":99}'),
        ("float", "illegal", Naming("5.0", "send 5"), '"move":5.0}'),
        ("text", "illegal", Naming("'5'", "send 5"), '"move":"5"}'),
        ("resign", "resign", "the bot resigned", ""),
    ],
)
def test_illegal_and_resign(how: str, code: str, detail: str, received: str) -> None:
    played = play(bot("illegal", how), honest(), games=2)
    for fault in all_lost(played, code, detail):
        assert received in fault.received.replace(" ", "")
        assert fault.turn == 1 + fault.seat


@pytest.mark.parametrize(
    ("how", "code", "variant"), [("number", "illegal", "underdog"), ("resign", "resign", "duel")]
)
def test_illegal_loses_its_game_alone(how: str, code: str, variant: str) -> None:
    """Eight games on a link: two are lost, the others go on, and nobody is started anew."""
    played = play(bot("illegal", how, 8, 3, 6), honest(8), variant=variant, games=12)
    for record in played.records:
        if record.game in ("3", "6"):
            assert (record.ending, record.at_fault) == (code, (record.players.index("bad"),))
            (fault,) = record.faults()
            assert "99" in fault.received or how == "resign"
        else:
            assert (record.ending, record.fault) == ("rules", None)
    assert played.result.fault_counts == {"bad": {code: 2}, "good": {}}


def test_illegal_starts_nothing_anew() -> None:
    """The process lives on: its next game has time for a first answer no more."""
    played = play(bot("stamped"), honest(), games=3)
    first, second, third = played.records
    lost(second, "illegal", ILLEGAL)
    (pid,) = set(first.notes.values())
    assert set(third.notes.values()) == {pid}
