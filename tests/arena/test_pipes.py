"""Bots that close their pipes, do not read, or write in pieces."""

from __future__ import annotations

from typing import Any

import pytest

from tests.arena.playing import all_by_rules, all_lost, bot, honest, no_first_answer, play
from tests.facts import Naming


@pytest.mark.parametrize(
    ("how", "detail", "moves"),
    [
        ("closes stdout", "the bot closed its standard output", 0),
        ("closes stdin", "the bot closed its standard input", 2),
    ],
)
def test_close_and_stay_alive(how: str, detail: str, moves: int) -> None:
    """A bot that cannot hear or be heard any more has left the game, though its process lives."""
    played = play(bot("pipes", how), honest(), games=1)
    all_lost(played, "crash", detail)
    assert len(played.records[0].moves) == moves


@pytest.mark.parametrize("how", ["pause", "bytes"])
def test_answer_in_pieces(how: str) -> None:
    played = play(bot("pipes", how), honest(), variant="difference", games=1)
    all_by_rules(played)


@pytest.mark.parametrize(("think", "bad_first"), [("in turn", False), ("parallel", True)])
def test_bot_that_never_reads(think: str, bad_first: bool) -> None:
    """More is due than a pipe holds: the referee waits without blocking, and time runs out."""
    bad, good = bot("pipes", "deaf", 64), honest(64)
    bots = (bad, good) if bad_first else (good, bad)
    terms: dict[str, Any] = {"time": "2s", "grace_ms": 50, "think": think}
    played = play(*bots, games=64, options={"size": 100}, **terms)
    all_lost(played, "timeout", no_first_answer(2050, "2000 ms, grace 50 ms"))


def test_bot_that_reads_late() -> None:
    """The same messages to a bot that sleeps before it reads: all of them arrive."""
    played = play(bot("notes", 64, 0.03), honest(64), options={"size": 100, "points": 1}, games=64)
    all_by_rules(played)


def test_time_spent_on_a_fault_is_not_the_others() -> None:
    """While the referee looks into the first bot, the second thinks; that is no stall."""
    bad, good = bot("pipes", "answers, then"), honest(seconds=0.5)
    played = play(bad, good, games=2, time="2s", grace_ms=50)
    all_lost(played, "crash", Naming("standard output"))
    assert played.result.stalls == 0
