"""Every case at every level that this machine offers, in a tournament with two honest bots."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.cases import CASES, LEVELS, Case, outcome_rows
from tests.hostile.conftest import Without
from tests.hostile.running import (
    BAD,
    MOST_KB,
    found_as_expected,
    honest_games_are,
    judged_as_expected,
    logs_are_short,
    lost_no_more_time,
    nothing_is_left,
    play_case,
)
from tests.hostile.scene import Scene


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case, level: str, tmp_path: Path, programs: Path, without: Without) -> None:
    expected = case.at(level)
    calm = without(level, case.games, case.options)
    with Scene(tmp_path / "tournament").set() as scene:
        played = play_case(scene, case, level, programs)
        nothing_is_left(scene, expected)
        if level != "none":
            assert scene.victims_live
            assert scene.heard == []
    judged_as_expected(played, expected, level)
    found_as_expected(played, expected)
    honest_games_are(played, calm)
    lost_no_more_time(played, calm, case)
    logs_are_short(played, starts=case.games)
    if case.flat:
        assert 0 < played.measured.peak_kb < MOST_KB
    if case.name in ("answers twice", "answers an old turn"):
        assert all(record.dropped > 0 for record in played.of(BAD))


def test_every_case_is_there() -> None:
    numbers = {number for case in CASES for number in case.numbers}
    assert numbers == set(range(1, 31)), "31 and 32 have tests of their own"
    assert len({case.name for case in CASES}) == len(CASES)
    for row in outcome_rows():
        assert all(row)
        assert len(row) == 2 + len(LEVELS)
