"""A bug in the variant's script or in the referee: the game is void, and nobody loses by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.record import Record
from referee.schedule import ATTEMPTS
from tests.arena.playing import Played, bot, honest, play

SCRIPT = Path(__file__).with_name("broken.py")
LINE = SCRIPT.read_text("utf-8").split("raise ZeroDivisionError")[0].count("\n") + 1


def play_broken(bug: str, number: int = 1, **terms: Any) -> Played:
    options = {"bug": bug, "number": number, **terms.pop("options", {})}
    return play(bot("lowest", 4), honest(4), variant=str(SCRIPT), options=options, **terms)


def is_void(record: Record, reason: str) -> None:
    assert (record.ending, record.reason) == ("referee_error", reason)
    assert (record.winner, record.at_fault, record.faults()) == (None, (), ())
    assert (record.attempt, record.rated) == (ATTEMPTS, False)


@pytest.mark.parametrize("bug", ["apply", "view", "events"])
def test_bug_in_the_script(bug: str) -> None:
    """All games fail, four at a time, each is tried three times, and both bots live through it."""
    played = play_broken(bug, games=6)
    for record in played.records:
        is_void(record, f"ZeroDivisionError: a bug in {bug} at broken.py:{LINE}")
    result = played.result
    assert (result.unrated, result.score.games) == (6, 0)
    assert result.replayed == 6 * (ATTEMPTS - 1)
    assert result.fault_counts == {"bad": {}, "good": {}}


def test_bug_at_the_end_of_the_game() -> None:
    """`outcome` and `scores` are asked when a game ends."""
    for bug in ("outcome", "scores"):
        played = play_broken(bug, games=2, options={"points": 1, "size": 2})
        for record in played.records:
            is_void(record, f"ZeroDivisionError: a bug in {bug} at broken.py:{LINE}")


def test_bug_before_the_game() -> None:
    for record in play_broken("setup", games=2).records:
        is_void(record, f"ZeroDivisionError: a bug in setup at broken.py:{LINE}")


def test_view_that_is_no_json() -> None:
    for record in play_broken("view type", games=2).records:
        assert record.reason.startswith("TypeError: ")
        is_void(record, record.reason)


def test_last_events_that_are_no_json() -> None:
    """The game is over, and counts; the next one is played."""
    played = play_broken("last events", games=2, options={"points": 1, "size": 2})
    assert [record.ending for record in played.records] == ["rules", "rules"]


def test_nobody_is_to_play_and_the_game_is_not_over() -> None:
    for record in play_broken("nobody", games=2).records:
        assert "broken" in record.reason
        is_void(record, record.reason)


def test_bug_that_strikes_some_games_only() -> None:
    """The others are played, and count; the same seed runs into the same bug each time."""
    options = {"bug": "apply", "number": 5, "points": 1}
    bots = bot("lowest", 4), bot("steady", 4, name="other")
    played = play(*bots, variant=str(SCRIPT), options=options, games=12)
    struck = [record for record in played.records if record.ending == "referee_error"]
    others = [record for record in played.records if record.ending == "rules"]
    assert 0 < len(struck) < 12 == len(struck) + len(others)
    for record in struck:
        is_void(record, f"ZeroDivisionError: a bug in apply at broken.py:{LINE}")
    for record in others:
        assert record.attempt == 1
        assert record.winner is not None
    result = played.result
    assert (result.score.games, result.unrated) == (len(others), len(struck))
    assert result.replayed == 2 * len(struck)


def test_fault_where_scores_cannot_be_had() -> None:
    """A bot crashes, and the verdict on it runs into the script's bug: nobody loses by that."""
    options = {"bug": "scores", "number": 0}
    played = play(bot("crash", "status"), honest(), variant=str(SCRIPT), options=options, games=1)
    for record in played.records:
        is_void(record, f"ZeroDivisionError: a bug in scores at broken.py:{LINE}")


def test_game_that_is_over_before_it_began(tmp_path: Path) -> None:
    path = tmp_path / "nothing.py"
    path.write_text(NOTHING)
    played = play(honest(name="first"), honest(), variant=str(path), games=3)
    for record in played.records:
        assert (record.ending, record.reason, record.winner) == ("rules", "over", 1)
        assert record.moves == []


NOTHING = '''"""A game over before anybody has played."""
from referee.rules.variant import Outcome, Variant


class Nothing(Variant[None, int]):
    name = "nothing"
    summary = "a game over before anybody has played"
    reasons = {"over": "it is over"}

    def setup(self, chance): return None
    def actors(self, position): return ()
    def legal(self, position, seat): return [1]
    def apply(self, position, plays, chance): return None
    def view(self, position, seat): return {}
    def outcome(self, position): return Outcome(1, "over")
    def scores(self, position): return (0, 1)
    def longest(self): return 1
'''


def test_game_that_never_ends() -> None:
    played = play_broken("endless", games=2)
    for record in played.records:
        assert record.reason.startswith("RuntimeError: broken goes on beyond the 20 plays")
        is_void(record, record.reason)
    assert list(played.result.errors.values()) == [2 * ATTEMPTS]
    assert played.result.stalls == 0


def test_legal_moves_that_cannot_be_listed() -> None:
    for record in play_broken("legal", games=2).records:
        is_void(record, f"ZeroDivisionError: a bug in legal at broken.py:{LINE}")
