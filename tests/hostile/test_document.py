"""docs/security.md is in step with the cases, and there are all of them."""

from __future__ import annotations

from pathlib import Path

from referee.bots.confinement.limits import RANGES, Limits
from referee.testing.describe import refresh
from tests.hostile.cases import CASES
from tests.hostile.document import MEANINGS, PARTS

PAGE = Path(__file__).parents[2] / "docs/security.md"
ELSEWHERE = {31, 32}
"""No programs: test_started.py and test_room.py."""


def test_the_tables_are_up_to_date() -> None:
    text = PAGE.read_text("utf-8")
    assert refresh(text, PARTS) == text, "run: python -m tests.hostile.document docs/security.md"


def test_every_case_is_there() -> None:
    numbers = {number for case in CASES for number in case.numbers}
    assert numbers | ELSEWHERE == set(range(1, 33))


def test_every_limit_has_a_meaning_and_a_range() -> None:
    assert list(MEANINGS) == list(RANGES) == list(Limits.__struct_fields__)
