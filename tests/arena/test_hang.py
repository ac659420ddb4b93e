"""Bots that do not answer, or too late: they lose on time, and the other loses nothing but time."""

from __future__ import annotations

from typing import Any

import pytest

from referee.verdict import Fault
from tests.arena.playing import all_by_rules, all_lost, bot, honest, lost, no_first_answer, play
from tests.waiting import PATIENCE_S

LIMIT: dict[str, Any] = {"time": "1s", "grace_ms": 50}
"""That an honest bot keeps on a machine with other things to do."""
LATE = "no answer within 1050 ms (1000 ms, grace 50 ms)"
SILENCE = no_first_answer(1050, "1000 ms, grace 50 ms")
"""Of a process that has not answered anything yet."""


def ends_in_time(fault: Fault) -> bool:
    """Judged when the time was up, not when the bot had done: that takes it ten minutes."""
    assert fault.spent_us is not None
    return fault.spent_us < PATIENCE_S * 1e6


@pytest.mark.parametrize(("variant", "think"), [("underdog", "in turn"), ("duel", "parallel")])
def test_hang_in_every_game(variant: str, think: str) -> None:
    """Ended, started anew, and silent again; the other plays on and waits for nothing else."""
    played = play(bot("hang", "silent"), honest(), variant=variant, games=3, think=think, **LIMIT)
    for fault in all_lost(played, "timeout", SILENCE):
        assert fault.limit_us == 1_050_000
        assert fault.spent_us is not None
        assert fault.spent_us > 1_050_000
        assert ends_in_time(fault)
        assert fault.received == ""


@pytest.mark.parametrize(("how", "bad_first"), [("lines", True), ("spaces", False)])
def test_noise_does_not_stop_the_clock(how: str, bad_first: bool) -> None:
    """Blank lines and half lines keep the referee awake; the time runs all the same."""
    bad, good = bot("hang", how), honest()
    played = play(*(bad, good) if bad_first else (good, bad), games=1, **LIMIT)
    (fault,) = all_lost(played, "timeout", SILENCE)
    assert ends_in_time(fault)


def test_noise_of_one_does_not_stop_the_clock_of_the_other() -> None:
    """The noisy bot has answered; it keeps the referee awake while the other is silent."""
    played = play(bot("murmur", name="noisy"), bot("hang", "silent"), games=1, **LIMIT)
    assert ends_in_time(lost(played.records[0], "timeout", SILENCE))


@pytest.mark.parametrize("variant", ["underdog", "duel"])
def test_late_answer_is_no_answer(variant: str) -> None:
    """The answer comes after the limit: it is neither taken for this turn nor for the next."""
    played = play(bot("slow", 3, 3), honest(), variant=variant, games=1, **LIMIT)
    all_lost(played, "timeout", SILENCE)
    for record in played.records:
        bad = record.players.index("bad")
        assert bad not in [seat for seat, _ in record.moves]
        assert record.dropped == 0


def test_bank_is_charged_and_runs_out() -> None:
    """1.2 s for the game and 10 ms a move, at 0.55 s a move: gone at the third."""
    options = {"points": 10}
    played = play(
        bot("slow", 0.55, 0.55), honest(), time="1.2s+10ms", grace_ms=0, options=options, games=1
    )
    for record in played.records:
        bad = record.players.index("bad")
        (fault,) = record.faults()
        assert (fault.seat, fault.code) == (bad, "timeout")
        left_ms = [int(note) for note in record.notes.values()]
        assert left_ms[0] == 1_200
        spent_ms = [
            spent_us // 1000
            for (seat, _), spent_us in zip(record.moves, record.spent_us, strict=True)
            if seat == bad
        ]
        assert 1 <= len(spent_ms) == len(left_ms) <= 2
        for before, after, spent in zip(left_ms, left_ms[1:], spent_ms, strict=False):
            assert after == pytest.approx(before - spent + 10, abs=2)
        due_ms = left_ms[-1] - spent_ms[-1] + 10
        assert fault.limit_us == pytest.approx(due_ms * 1000, abs=3_000)
        assert fault.limit_us is not None
        assert fault.detail == f"no answer within {fault.limit_us // 1000} ms"
        assert fault.turn == len(record.moves) + 1 + bad


def test_increment_keeps_a_steady_bot_alive() -> None:
    """What it uses is what it gets back."""
    played = play(bot("slow", 0.03, 0.03), honest(), variant="difference", time="1s+2s", games=1)
    all_by_rules(played)
    left_ms = [int(note) for note in played.records[0].notes.values()]
    assert left_ms == sorted(left_ms), "the bank grows by what was not used"
    assert left_ms[-1] > 1_200


def test_grace_is_not_charged() -> None:
    """The bank holds 100 ms; the answer comes within the grace; the increment is all there."""
    bots = bot("slow", 0.2, 0.0), honest()
    played = play(*bots, variant="difference", time="100ms+400ms", grace_ms=2_000, games=1)
    all_by_rules(played)
    left_ms = [int(note) for note in played.records[0].notes.values()]
    assert left_ms[:2] == [100, 400]


def test_first_answer_of_a_process_has_time_to_warm_up() -> None:
    played = play(bot("slow", 1.4, 0.0), honest(), warm_up_ms=5_000, games=1, **LIMIT)
    all_by_rules(played)


def test_warm_up_ends_too() -> None:
    played = play(bot("hang", "silent"), honest(), warm_up_ms=150, games=1, **LIMIT)
    made_of = "1000 ms, grace 50 ms, warm-up 150 ms"
    all_lost(played, "timeout", no_first_answer(1200, made_of))


def test_second_answer_has_no_more_warm_up() -> None:
    """Game 1: the second answer is late. Game 2: a new process, and its first answer is not."""
    played = play(bot("slow", 1.4, 3), honest(), warm_up_ms=5_000, games=2, **LIMIT)
    faults = all_lost(played, "timeout", LATE)
    assert [fault.turn for fault in faults] == [3, 4]
    assert [len(record.moves) for record in played.records] == [2, 2]


def test_no_limit() -> None:
    played = play(bot("slow", 0.3, 0.0), honest(), time="none", grace_ms=0, games=1)
    all_by_rules(played)
    assert played.records[0].clock.move_ms is None
    assert set(played.records[0].notes.values()) == {"None"}
