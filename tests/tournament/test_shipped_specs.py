"""The specs that come with the referee: each is read, checked and planned."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.bots.manifest import usual_bots
from referee.tournament.changing import changes
from referee.tournament.entries import find_entries, players
from referee.tournament.plan import plan
from referee.tournament.reading import read_spec

ROOT = Path(__file__).parents[2]
SPECS = sorted((ROOT / "tournaments").glob("*.toml"))


def test_there_are_some() -> None:
    assert {path.stem for path in SPECS} >= {"five", "underdog-swiss", "duel-knockout", "quick"}


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_a_spec_that_comes_with_the_referee(path: Path) -> None:
    spec = read_spec(path)
    assert spec.name == path.stem
    assert changes(spec, spec) == []
    assert path.name in path.read_text("utf-8").split("referee tournament ")[1].split("\n")[0]
    entered = players(spec, [entry.bot for entry in find_entries(spec)])
    found = plan(spec, entered)
    assert found.worst_ms is not None and 0 < found.games <= 10_000


def test_five_has_all_five_and_everybody() -> None:
    spec = read_spec(ROOT / "tournaments" / "five.toml")
    entered = players(spec, [entry.bot for entry in find_entries(spec)])
    assert list(entered) == ["difference", "underdog", "duel", "target", "deck"]
    assert {name for names in entered.values() for name in names} == set(usual_bots())
