"""docs/events.md says what is true."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest

from referee.testing.describe import refresh
from referee.testing.describe_events import EVENTS, event_parts
from referee.tournament.events import Told

TEXT = (Path(__file__).parents[2] / "docs" / "events.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```json\n(.*?)\n```$", TEXT, re.MULTILINE)


def test_the_tables_are_those_of_the_code() -> None:
    assert refresh(TEXT, event_parts()) == TEXT, (
        "write it anew by: python -m referee.testing.describe_events docs/events.md"
    )


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_has_a_section_a_table_and_an_example(name: str) -> None:
    assert f"\n## `{name}`\n" in TEXT
    assert f"<!-- generated: {name} -->" in TEXT
    assert name in {json.loads(example)["event"] for example in EXAMPLES}


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_an_event(example: str) -> None:
    event: Told = msgspec.json.decode(example, type=Told)
    assert msgspec.json.encode(event).decode() == example
