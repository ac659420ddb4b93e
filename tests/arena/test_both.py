"""Both at fault in the same round: void, with both faults in the record, whoever failed first."""

from __future__ import annotations

import itertools

import pytest

from tests.arena.playing import bot, honest, no_first_answer, play
from tests.facts import Naming

FAULTS = {
    "crash": ("crash", "status"),
    "timeout": ("hang", "silent"),
    "flood": ("flood", "line"),
    "garbled": ("garbage", "NaN"),
    "illegal": ("illegal", "number"),
    "resign": ("illegal", "resign"),
}
"""In the order of precedence."""
DETAILS: dict[str, str | Naming] = {
    "crash": "the bot exited with status 3",
    "timeout": no_first_answer(2050, "2000 ms, grace 50 ms"),
    "flood": Naming(1_048_576, "bytes", "last turn"),
    "garbled": "NaN is not JSON",
    "illegal": Naming(99, "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"),
    "resign": "the bot resigned",
}
PAIRS = [
    ("illegal", "timeout"),
    ("timeout", "crash"),
    ("crash", "garbled"),
    ("garbled", "flood"),
    ("resign", "illegal"),
    ("illegal", "illegal"),
]


@pytest.mark.parametrize(
    ("first", "second", "think"),
    [(*pair, "in turn") for pair in PAIRS] + [(*pair, "parallel") for pair in PAIRS[:1]],
)
def test_both_at_fault(first: str, second: str, think: str) -> None:
    bots = bot(*FAULTS[first], name="first"), bot(*FAULTS[second], name="second")
    # Faults other than being late have all the time that they need.
    time = "2s" if "timeout" in (first, second) else "60s"
    played = play(*bots, games=2, time=time, grace_ms=50, think=think)
    codes = {"first": first, "second": second}
    for record in played.records:
        assert (record.ending, record.reason) == ("void", "both_at_fault")
        assert (record.winner, record.at_fault, record.moves) == (None, (0, 1), [])
        assert not record.rated
        found = {record.players[fault.seat]: fault for fault in record.faults()}
        assert {name: str(fault.code) for name, fault in found.items()} == codes
        for fault in record.faults():
            assert fault.detail == DETAILS[fault.code]
            assert fault.turn == 1 + fault.seat
        ranks = [[*FAULTS].index(fault.code) for fault in record.faults()]
        assert ranks == sorted(ranks), "the graver fault first"
    assert played.result.fault_counts == {"first": {first: 2}, "second": {second: 2}}
    assert (played.result.unrated, played.result.score.games) == (2, 0)


def test_fault_of_one_is_heard_while_the_other_plays_on() -> None:
    """Only one at fault, in each seat, first or second: the other is heard and wins."""
    for bots in itertools.permutations((bot("illegal", "number"), honest())):
        for record in play(*bots, games=2).records:
            assert record.ending == "illegal"
            assert record.winner == record.players.index("good")


def test_alternating_game_is_never_void() -> None:
    """Who fails first has lost; the other is not even asked."""
    options = {"first": "seat0"}
    bots = bot("illegal", "number", name="first"), bot("crash", "status", name="second")
    for record in play(*bots, variant="duel", options=options, games=2).records:
        assert record.ending == ("illegal" if record.players[0] == "first" else "crash")
        assert (record.winner, record.at_fault) == (1, (0,))
