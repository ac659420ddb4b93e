"""Pictures and words of pages, without a page."""

from __future__ import annotations

import doctest
from types import ModuleType

import pytest

from referee.rules.registry import all_variants
from referee.web import words
from referee.web.pages import drawing, prose
from referee.web.pages.drawing import BAR_WIDTH, MOST_CURVES, MOST_POINTS, bars, chart
from referee.web.shapes import LadderRow, RatingPoint


@pytest.mark.parametrize("module", [words, drawing, prose], ids=lambda module: module.__name__)
def test_examples(module: ModuleType) -> None:
    tried = doctest.testmod(module)
    assert tried.attempted
    assert tried.failed == 0


def row(elo: float | None, err95: float | None = None, bound: float | None = None) -> LadderRow:
    return LadderRow(
        rank=1,
        rank_before=None,
        name="a v1",
        bot="a",
        version=1,
        label="",
        team=None,
        kind="submitted",
        active=True,
        paused=False,
        disqualified=None,
        elo=elo,
        err95=err95,
        elo_before=None,
        bound=None if bound is None else ">" if bound > 0 else "<",
        bound_elo=bound,
        games=0,
        wins=0,
        draws=0,
        losses=0,
        score=None,
        unrated=0,
        faults={},
    )


def test_bars_stay_within_their_column() -> None:
    rows = [row(1900.0, 20.0), row(-300.0, 900.0), row(None), row(None, bound=400.0), row(0.0)]
    drawn, marks = bars([*rows, row(None, bound=-400.0)])
    assert drawn[2] is None
    for bar in drawn:
        assert bar is None or 0 <= bar.low <= bar.at <= bar.high <= BAR_WIDTH
    assert [bar and bar.arrow for bar in drawn] == [0, 0, None, 1, 0, -1]
    assert all(0 <= x <= BAR_WIDTH for x, _ in marks)
    assert bars([row(None)]) == ([None], [])
    assert bars([row(5.0, 0.0)])[0][0] is not None


def point(minute: int, version: int, elo: float | None, variant: str | None = None) -> RatingPoint:
    at = f"2026-03-{1 + minute // 1440:02}T{minute // 60 % 24:02}:{minute % 60:02}:00.000Z"
    return RatingPoint(at=at, version=version, variant=variant, elo=elo, err95=30.0, games=minute)


def test_a_chart_has_the_newest_versions_and_not_too_many_points() -> None:
    assert chart([], None) is None
    assert chart([point(1, 1, 5.0)], None) is None
    assert chart([point(1, 1, 5.0), point(2, 1, None), point(2, 1, 5.0, "duel")], None) is None
    many = [point(minute, 1 + minute // 600, minute % 97.0) for minute in range(6000)]
    drawn = chart(many, None)
    assert drawn is not None
    assert [curve.name for curve in drawn.curves] == [f"v{each}" for each in range(5, 11)]
    assert len(drawn.curves) == MOST_CURVES
    for curve in drawn.curves:
        places = [tuple(map(float, each.split(","))) for each in curve.line.split()]
        assert len(places) <= MOST_POINTS
        assert places[-1] == (curve.last_x, curve.last_y)
        assert all(
            drawn.left <= x <= drawn.right and drawn.top <= y <= drawn.bottom for x, y in places
        )


@pytest.mark.parametrize("name", all_variants())
def test_a_rule_book_has_paragraphs_lists_and_headings(name: str) -> None:
    book = all_variants()[name].book()
    found = prose.blocks(book)
    assert {"heading", "paragraph", "list"} == {block.kind for block in found}
    told = "".join(text for block in found for item in block.items for _, text in item)
    letters = [letter for letter in book if letter.isalnum()]
    assert [letter for letter in told if letter.isalnum()] == letters
