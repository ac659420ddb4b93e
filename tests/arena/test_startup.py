"""Bots that do not come up: the game that waits is lost, and after three failures the bot is out.

A bot that is out loses the rest by forfeit, which says nothing about its strength: unrated.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from referee.bots.manifest import Bot
from tests.arena.playing import Played, bot, honest, lost, play

OUT = "the bot is out: it failed to start 3 times in a row"
HINT = "stdout is for the protocol; log to stderr"


def fails_to_start(played: Played, code: str, detail: str, loser: str = "bad") -> None:
    """Check three games lost by this fault and the others by forfeit."""
    for record in played.records[:3]:
        fault = lost(record, code, detail, loser)
        assert fault.turn == 1
        assert (record.moves, record.rated) == ([], True)
    for record in played.records[3:]:
        lost(record, "forfeit", OUT, loser)
        assert (record.moves, record.rated) == ([], False)
    forfeits = len(played.records) - 3
    assert played.result.fault_counts[loser] == {code: 3, "forfeit": forfeits}
    assert played.result.unrated == forfeits
    assert played.result.score.games == 3


@pytest.mark.parametrize(
    ("how", "code", "detail"),
    [
        ("exits", "no_start", "the bot exited with status 1"),
        ("half", "no_start", "the bot exited with status 2"),
        ("garbage", "no_hello", f"not JSON (expecting value at column 1); {HINT}"),
        (
            "protocol 2",
            "wrong_protocol",
            "the bot speaks protocol 2, the referee 1",
        ),
    ],
)
def test_bad_start(how: str, code: str, detail: str) -> None:
    fails_to_start(play(bot("startup", how), honest(), games=5), code, detail)


def test_no_hello_in_time() -> None:
    played = play(honest(), bot("startup", "silent"), games=4, startup_ms=700)
    fails_to_start(played, "no_hello", "no hello within 700 ms")


def test_command_that_is_not_there() -> None:
    bad = Bot(name="bad", command=("no-such-command-anywhere", "--fast"))
    detail = "No such file or directory: no-such-command-anywhere"
    fails_to_start(play(bad, honest(), games=4), "no_start", detail)


def test_command_that_cannot_be_run(tmp_path: Path) -> None:
    path = tmp_path / "bot.sh"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o644)
    bad = Bot(name="bad", command=(str(path),))
    fails_to_start(play(bad, honest(), games=4), "no_start", f"Permission denied: {path}")


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    bad = structs.replace(bot("honest"), folder=gone)
    fails_to_start(play(bad, honest(), games=4), "no_start", f"No such file or directory: {gone}")


def test_bot_that_comes_up_the_third_time(tmp_path: Path) -> None:
    """Two games are lost, then it plays; failures count in a row only."""
    played = play(bot("startup", "some", tmp_path / "starts", 2), honest(), games=5)
    for record in played.records[:2]:
        lost(record, "no_start", "the bot exited with status 1")
    for record in played.records[2:]:
        assert (record.ending, record.fault) == ("rules", None)
    assert played.result.fault_counts == {"bad": {"no_start": 2}, "good": {}}
    assert played.result.unrated == 0


def test_honest_bot_is_started_once_while_it_waits(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    other = bot("startup", "some", starts, 0, name="waits")
    played = play(bot("startup", "exits"), other, games=5)
    fails_to_start(played, "no_start", "the bot exited with status 1")
    assert starts.read_text() == "."


def test_both_fail_to_start() -> None:
    played = play(bot("startup", "exits"), bot("startup", "garbage", name="worse"), games=4)
    for record in played.records:
        assert (record.ending, record.reason, record.winner) == ("void", "both_at_fault", None)
        assert record.at_fault == (0, 1)
        graver, other = record.faults()
        codes = {record.players[fault.seat]: fault.code for fault in (graver, other)}
        if record.game == "4":
            assert codes == {"bad": "forfeit", "worse": "forfeit"}
        else:
            assert codes == {"bad": "no_start", "worse": "no_hello"}
            assert graver.code == "no_start"
    assert played.result.unrated == 4
    assert played.result.score.games == 0


def test_answer_with_the_hello_is_garbled() -> None:
    """However the bytes arrive, a line too many after the hello is the same fault."""
    played = play(bot("startup", "hello, move"), honest(), games=4)
    for record in played.records:
        lost(record, "garbled", "id 1 was never given")
    assert played.result.unrated == 0, "the bot came up: it is not out, and its losses count"
