"""Lines that are no message, each with the sentence that its author reads."""

from __future__ import annotations

import pytest

from referee.protocol.codec import STDOUT_HINT
from tests.arena.playing import Played, bot, honest, lost, play
from tests.bots.garbage import LINES
from tests.facts import Naming

DETAILS: dict[str, str | Naming] = {
    "stray print": f"not JSON (expecting value at column 1); {STDOUT_HINT}",
    "NaN": "NaN is not JSON",
    "too large a float": 'the number "1e999" is too large',
    "too large a float in a field that nobody knows": 'the number "1e999" is too large',
    "the same key twice": 'the key "move" appears twice',
    "true as id": Naming("id is true", "whole number"),
    "no id": Naming("without an id"),
    "move true": Naming("integer", "not true or false"),
    "move null": Naming("integer", "not null"),
    "move in a list": Naming("integer", "not a list"),
    "lone surrogate": Naming("lone surrogate"),
    "5,000 digits": "an integer beyond ±2^53 (5000 digits)",
    "bare number": Naming("a number where", STDOUT_HINT),
    "bad UTF-8": "not UTF-8: byte 0xff at position 16",
    "60,000 brackets": "nested deeper than 32 levels",
    "30,000 pairs of brackets": "nested deeper than 32 levels",
    "70,000 bytes": Naming("a line of 70027 bytes", 65_536),
}


def test_every_line_has_its_sentence() -> None:
    assert DETAILS.keys() == LINES.keys()


@pytest.fixture(scope="module")
def played() -> Played:
    """One match, in each game another line. The right answer follows, and does not help."""
    return play(bot("garbage"), honest(), games=len(LINES))


@pytest.mark.parametrize("name", LINES)
def test_garbage(name: str, played: Played) -> None:
    record = played.records[[*LINES].index(name)]
    fault = lost(record, "garbled", DETAILS[name])
    assert record.moves == []
    assert fault.received.isprintable()
    assert 0 < len(fault.received) <= 201, "an excerpt of 200 bytes and a mark of what was cut"


def test_garbage_loses_every_game(played: Played) -> None:
    """The bot is started anew each time, and never out: it starts well."""
    assert played.result.fault_counts == {"bad": {"garbled": len(LINES)}, "good": {}}
    assert (played.result.score.losses, played.result.unrated) == (len(LINES), 0)


def test_received_is_what_came(played: Played) -> None:
    faults = [record.faults()[0] for record in played.records]
    received = {name: fault.received for name, fault in zip(LINES, faults, strict=True)}
    assert received["stray print"] == "thinking…"
    assert received["the same key twice"] == '{"id":1,"move":5,"move":6}'
    assert received["bad UTF-8"] == r'{"id":1,"move":"\xff"}'
    assert received["70,000 bytes"].endswith("xxx…")
