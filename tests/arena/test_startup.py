"""Bots that do not come up: the game that waits is lost, and after three failures the bot is out.

A bot that is out loses the rest by forfeit, which says nothing about its strength: unrated.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from referee.bots.building import MissingCommand
from referee.bots.manifest import Bot
from referee.match import play_match
from referee.protocol.codec import STDOUT_HINT
from tests.arena.playing import FLUSH, all_lost, bot, honest, lost, play
from tests.facts import Naming


def did_not_start(bad: Bot, code: str, detail: str | Naming, **terms: Any) -> None:
    """Check that the game that waits for this bot is lost by this fault."""
    played = play(bad, honest(), games=1, **terms)
    (fault,) = all_lost(played, code, detail)
    assert fault.turn == 1
    assert played.records[0].moves == []


@pytest.mark.parametrize(
    ("how", "code", "detail"),
    [
        ("exits", "no_start", "the bot exited with status 1"),
        ("half", "no_start", "the bot exited with status 2"),
        ("garbage", "no_hello", f"not JSON (expecting value at column 1); {STDOUT_HINT}"),
        ("protocol 2", "wrong_protocol", Naming("protocol 2", "referee 1")),
    ],
)
def test_bad_start(how: str, code: str, detail: str | Naming) -> None:
    did_not_start(bot("startup", how), code, detail)


def test_no_hello_in_time() -> None:
    bad = bot("startup", "silent")
    did_not_start(bad, "no_hello", f"no hello within 5000 ms; {FLUSH}", startup_ms=5_000)


def test_command_that_is_not_there() -> None:
    bad = Bot(name="bad", command=("./no-such-program", "--fast"))
    did_not_start(bad, "no_start", "No such file or directory: ./no-such-program")
    missing = Bot(name="bad", command=("no-such-command-anywhere", "--fast"))
    with pytest.raises(MissingCommand, match="the command no-such-command-anywhere was not found"):
        play_match(missing, missing)


def test_command_that_cannot_be_run(tmp_path: Path) -> None:
    path = tmp_path / "bot.sh"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o644)
    did_not_start(Bot(name="bad", command=(str(path),)), "no_start", f"Permission denied: {path}")


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    bad = structs.replace(bot("honest"), folder=gone)
    did_not_start(bad, "no_start", f"No such file or directory: {gone}")


def test_three_failures_in_a_row(tmp_path: Path) -> None:
    """Three games are lost and count; the rest is forfeit and does not. The other bot waits."""
    starts = tmp_path / "starts"
    bad, other = bot("startup", "exits"), bot("startup", "some", starts, 0, name="waits")
    played = play(other, bad, games=6)
    for record in played.records[:3]:
        lost(record, "no_start", "the bot exited with status 1")
        assert record.rated
    for record in played.records[3:]:
        fault = lost(record, "forfeit", "the bot is out: it failed to start 3 times in a row")
        assert (fault.turn, record.moves, record.rated) == (1, [], False)
    result = played.result
    assert result.fault_counts == {"waits": {}, "bad": {"no_start": 3, "forfeit": 3}}
    assert (result.unrated, result.score.games) == (3, 3)
    assert result.score.points == 3
    assert starts.read_text() == ".", "the other bot was started once"


def test_bot_that_comes_up_the_third_time(tmp_path: Path) -> None:
    """Two games are lost, then it plays; failures count in a row only."""
    played = play(bot("startup", "some", tmp_path / "starts", 2), honest(), games=5)
    for record in played.records[:2]:
        lost(record, "no_start", "the bot exited with status 1")
    for record in played.records[2:]:
        assert (record.ending, record.fault) == ("rules", None)
    assert played.result.fault_counts == {"bad": {"no_start": 2}, "good": {}}
    assert played.result.unrated == 0


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


def test_hello_that_names_other_variants(tmp_path: Path) -> None:
    script = tmp_path / "bot.py"
    hello = '{"type":"hello","variants":["duel","deck"]}'
    script.write_text(f"import sys\nsys.stdin.readline()\nprint('{hello}', flush=True)\ninput()\n")
    bad = Bot(name="bad", command=(sys.executable, str(script)))
    did_not_start(bad, "no_hello", "its hello names duel, deck, not underdog")
