"""Bots that say too much: the referee stops listening, and its memory stays what it was."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest

from referee.protocol.messages import FLOOD_BYTES
from tests.arena.playing import all_by_rules, all_lost, bot, honest, no_first_answer, play
from tests.facts import Naming

MEGABYTES = 1024 * 1024 if sys.platform == "darwin" else 1024
"""In the unit of ru_maxrss."""
HEAD = TAIL = 32 * 1024
SINCE_THE_LAST_TURN = Naming(FLOOD_BYTES, "last turn")


@pytest.mark.parametrize(
    ("how", "detail"),
    [
        ("newlines", SINCE_THE_LAST_TURN),
        ("line", SINCE_THE_LAST_TURN),
        ("garbage", Naming(f"more than {FLOOD_BYTES} bytes that nobody asked", "for")),
    ],
)
def test_flood(how: str, detail: Naming) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    played = play(bot("flood", how), honest(), games=1)
    for fault in all_lost(played, "flood", detail):
        assert len(fault.received) <= 1_000
        assert fault.turn == 1 + fault.seat
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 50 * MEGABYTES


def test_flood_to_stderr_is_the_bots_own_affair(tmp_path: Path) -> None:
    """It plays on, and of its log the head and the tail are kept."""
    played = play(bot("flood", "stderr"), honest(), games=2, logs=tmp_path)
    all_by_rules(played)
    own = sum(len(record.moves) // 2 for record in played.records)
    assert played.result.logs == {"bad": str(tmp_path / "bad.stderr.txt")}
    log = (tmp_path / "bad.stderr.txt").read_bytes()
    left_out = b"\n[... %d bytes left out ...]\n" % (own * 1024 * 1024 - HEAD - TAIL)
    head, middle, tail = log.partition(left_out)
    assert middle
    assert len(head) == HEAD
    assert head.startswith(b"000000000000000\n000000000000001\n")
    assert len(tail) == TAIL
    assert tail.endswith(b"000000000065534\n000000000065535\n")


def test_flood_to_stderr_is_no_answer(tmp_path: Path) -> None:
    bots = bot("flood", "stderr only"), honest()
    played = play(*bots, games=1, logs=tmp_path, time="1s", grace_ms=50)
    all_lost(played, "timeout", no_first_answer(1050, "1000 ms, grace 50 ms"))
    log = (tmp_path / "bad.stderr.txt").read_bytes()
    assert HEAD + TAIL < len(log) < HEAD + TAIL + 100
    assert b" bytes left out ...]\n" in log
