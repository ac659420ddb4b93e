"""Games that are void through no bot's doing: here a script fails whenever somebody plays 1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from referee.record import Record, encode_record
from referee.replaying import replay
from referee.rules.registry import BadVariant
from referee.verifying import Report, verify
from tests.facts import Naming
from tests.records import games, planned, play

SCRIPT = """
from referee.rules.underdog import Underdog

class Fragile(Underdog):
    name = "fragile"

    def apply(self, position, plays, chance):
        if plays[0][1] == 1:
            raise ZeroDivisionError("one is too little")
        return super().apply(position, plays, chance)
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("script") / "fragile.py"
    path.write_text(SCRIPT)
    return str(path)


@pytest.fixture(scope="module")
def spoilt(script: str) -> Record:
    (record,) = play(planned("a", "9", "first"), planned("b", "last"), script)
    return record


def judge(record: Record, script: str | None, **changed: Any) -> Report:
    return verify([encode_record(msgspec.structs.replace(record, **changed)) + b"\n"], script)


def test_it_is_attested(spoilt: Record, script: str) -> None:
    assert (spoilt.ending, spoilt.attempt) == ("referee_error", 3)
    assert spoilt.reason == "ZeroDivisionError: one is too little at fragile.py:9"
    assert (spoilt.moves, spoilt.winner, spoilt.rated) == ([], None, False)
    report = judge(spoilt, script)
    assert (report.judged, report.attested, report.mismatches) == (0, 1, [])
    assert list(replay(spoilt, script).tell()) == [
        "Game 1 of fragile: a against b",
        "",
        Naming(
            "void: the referee or the variant's script failed; not rated "
            "(ZeroDivisionError: one is too little at fragile.py:9)."
        ),
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("attempt", 2),
        ("chance", [0]),
        ("winner", 0),
        ("at_fault", (0,)),
        ("scores", (1, 0)),
        ("ending", "rules"),
        ("options", {"size": 9}),
        ("rules", 7),
    ],
)
def test_a_change_is_found(field: str, value: object, spoilt: Record, script: str) -> None:
    (finding,) = judge(spoilt, script, **{field: value}).mismatches
    assert finding.field == field


def test_moves_do_not_fit(spoilt: Record, script: str) -> None:
    both = {"moves": [(0, 9), (1, 10)], "spent_us": [0, 0]}
    (finding,) = judge(spoilt, script, **both).mismatches
    assert finding.field == "moves"


def test_a_script_has_to_be_given(spoilt: Record) -> None:
    with pytest.raises(BadVariant, match=r"^line 1: .* variant 'fragile'"):
        judge(spoilt, None)


def test_another_script_is_not_taken(spoilt: Record) -> None:
    (finding,) = judge(spoilt, "underdog").mismatches
    assert finding.field == "variant"
    assert finding.why == Naming("fragile", "underdog is underdog")


def test_a_script_that_fails_in_a_replay_is_blamed(spoilt: Record, script: str) -> None:
    played = {"ending": "rules", "attempt": 1, "moves": [(0, 1), (1, 2)], "spent_us": [0, 0]}
    (finding,) = judge(spoilt, script, **played).mismatches
    assert finding.field == "moves"
    assert finding.why == f"{script}, line 9: ZeroDivisionError: one is too little"


MUTE = """
from referee.rules.underdog import Underdog

class Mute(Underdog):
    name = "mute"

    def narrate(self, before, plays, after, names, reader=None):
        raise ValueError("no words")

    def scores(self, position):
        raise KeyError("points")
"""


def test_a_script_that_fails_to_judge_or_to_tell_is_blamed(tmp_path: Path) -> None:
    path = tmp_path / "mute.py"
    path.write_text(MUTE)
    record = msgspec.structs.replace(games("underdog")[0], variant="mute")
    with pytest.raises(BadVariant) as bad:
        list(replay(record, str(path)).tell())
    assert str(bad.value) == f"{path}, line 8: ValueError: no words"
    with pytest.raises(BadVariant) as bad:
        judge(record, str(path))
    assert str(bad.value) == f"line 1: {path}, line 11: KeyError: 'points'"
