"""A bug in a variant's script, or a hall that stood still: nobody loses by it."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import pytest

from referee.arena.happenings import MatchOver
from referee.schedule import ATTEMPTS
from tests.arena.hosting import endings, first_legal, hosting, silence

SCRIPT = str(Path(__file__).with_name("broken.py"))


@pytest.mark.parametrize("bug", ["setup", "apply", "view", "events", "view type"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_bug_in_the_script_voids_its_games_alone(bug: str, packed: bool) -> None:
    with hosting() as host:
        host.guests("a", "b", packed=packed, hello={"games_at_once": 2})
        records = host.play(games=3, variant=SCRIPT, options={"bug": bug, "number": 1})
        assert endings(records) == ["referee_error"] * 3
        assert {record.attempt for record in records} == {ATTEMPTS}
        (over,) = host.all(MatchOver)
        assert over.replayed == 3 * (ATTEMPTS - 1)
        assert sum(over.errors.values()) == 3 * ATTEMPTS
        assert endings(host.play()) == ["rules", "rules"]
        assert host.departed() == []


class Clock:
    """The real one, put forward by hand."""

    def __init__(self) -> None:
        self.ahead_ns = 0

    def __call__(self) -> int:
        return time.monotonic_ns() + self.ahead_ns


@pytest.mark.parametrize("games", [1, 3])
@pytest.mark.parametrize("variant", ["underdog", "deck"])
def test_a_hall_that_stood_still_plays_the_games_again(variant: str, games: int) -> None:
    clock = Clock()
    with hosting(now_ns=clock) as host:
        bots = host.guests("a", "b", answer=silence, hello={"games_at_once": games})
        match = host.seat(games=games, time_control="5s", variant=variant)
        # Each is asked one turn at first, whatever else is due from it.
        host.until(lambda: sum(len(bot.told("turn")) for bot in bots) >= min(games, 2))
        clock.ahead_ns += 8_000_000_000
        for bot in bots:
            bot.answer = first_legal
            for turn in bot.told("turn"):
                bot.say(first_legal(turn))
        host.until(lambda: match in host.over())
        records = host.records(match, variant)
        assert [(record.ending, record.attempt) for record in records] == [("rules", 2)] * games
        assert (host.over()[match].stalls, host.over()[match].replayed) == (1, games)
        results = [message["result"] for message in bots[0].told("over")]
        assert results[:games] == ["void"] * games
        starts = [start["game"] for start in bots[0].told("start")]
        assert sorted(starts[:games]) == sorted(starts[games:])
        if variant == "deck":
            first = [turn for bot in bots for turn in bot.told("turn") if turn["view"]["turn"] == 1]
            for game in set(starts):
                hands = [turn["view"]["mine"]["hand"] for turn in first if turn["game"] == game]
                assert all(one != other for one, other in pairwise(hands)), "one that he knows"


def test_a_silent_guest_gets_what_the_hall_took_on_top() -> None:
    clock = Clock()
    with hosting(now_ns=clock) as host:
        a, _ = host.guests("a", "b", answer=silence)
        match = host.seat(games=1, time_control="300ms")
        host.until(lambda: bool(a.told("turn")))
        clock.ahead_ns += 8_000_000_000
        host.step()
        assert host.records(match) == []
        host.until(lambda: match in host.over())
        assert endings(host.records(match)) == ["void"]
