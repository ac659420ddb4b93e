"""Pictures as numbers: where lines and dots are, so that templates have nothing to reckon.

No page has a style or a script of its own in it, so whatever is drawn is drawn with the attributes
of SVG, and its colours are those of the style sheet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from referee.web.shapes import LadderRow, RatingPoint
from referee.web.words import seconds_of

# The bar of a rating in a table.

BAR_WIDTH = 180
BAR_HEIGHT = 20
BAR_EDGE = 7


class Bar(Struct, frozen=True, kw_only=True):
    """A rating with its error, on the scale of its table."""

    at: float
    low: float
    high: float
    arrow: int = 0
    """-1 or 1 for a bound: the rating is somewhere beyond."""


class Scale(Struct, frozen=True):
    """Values to places."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def bars(rows: Sequence[LadderRow]) -> tuple[list[Bar | None], list[tuple[float, str]]]:
    """A bar for each row, None where there is nothing to draw; and where round numbers are."""
    ends = [end for row in rows for end in _reach(row)]
    if not ends:
        return [None] * len(rows), []
    low, high = min(ends), max(ends)
    if high - low < 50:
        low, high = low - 25, high + 25
    scale = Scale(low, high, BAR_EDGE, BAR_WIDTH - BAR_EDGE)
    marks = [(scale(mark), _number(mark)) for mark in round_marks(low, high, 3)]
    return [_bar(row, scale) for row in rows], marks


def _reach(row: LadderRow) -> tuple[float, ...]:
    if row.elo is not None:
        error = row.err95 or 0.0
        return (row.elo - error, row.elo + error)
    return () if row.bound_elo is None else (row.bound_elo,)


def _bar(row: LadderRow, scale: Scale) -> Bar | None:
    if row.elo is not None:
        error = row.err95 or 0.0
        return Bar(at=scale(row.elo), low=scale(row.elo - error), high=scale(row.elo + error))
    if row.bound_elo is None:
        return None
    at = scale(row.bound_elo)
    up = row.bound == ">"
    end = BAR_WIDTH - 1.0 if up else 1.0
    return Bar(at=at, low=min(at, end), high=max(at, end), arrow=1 if up else -1)


def round_marks(low: float, high: float, about: int) -> list[float]:
    """Round numbers from low to high, about so many.

    >>> round_marks(-130, 260, 4)
    [-100.0, 0.0, 100.0, 200.0]
    """
    rough = (high - low) / max(1, about)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough)
    first = math.ceil(low / step)
    return [step * (first + each) for each in range(int((high - first * step) / step) + 1)]


def _number(value: float) -> str:
    return f"{value:.0f}".replace("-", "−")


# Ratings over time.

CHART_WIDTH = 720
CHART_HEIGHT = 260
LEFT, RIGHT, TOP, BOTTOM = 52, 16, 14, 28
MOST_CURVES = 6
MOST_POINTS = 240


class Curve(Struct, frozen=True, kw_only=True):
    """The ratings of one version."""

    name: str
    colour: int
    """Of the style sheet's lines."""
    line: str
    """Points of a polyline."""
    band: str
    """Points of the polygon of its errors."""
    last_x: float
    last_y: float
    elo: float


class Chart(Struct, frozen=True, kw_only=True):
    curves: list[Curve]
    across: list[tuple[float, str]]
    """Heights with their Elo."""
    along: list[tuple[float, str]]
    """Times."""
    width: int = CHART_WIDTH
    height: int = CHART_HEIGHT
    left: int = LEFT
    right: int = CHART_WIDTH - RIGHT
    top: int = TOP
    bottom: int = CHART_HEIGHT - BOTTOM


Point = tuple[float, float, float]
"""Time, Elo and its error."""


def chart(points: Iterable[RatingPoint], variant: str | None) -> Chart | None:
    """The newest versions of a bot; None where there is not yet a line to draw."""
    by_version: dict[int, list[Point]] = {}
    for point in points:
        if point.variant == variant and point.elo is not None:
            by_version.setdefault(point.version, []).append(
                (seconds_of(point.at), point.elo, point.err95 or 0.0)
            )
    newest = sorted(by_version)[-MOST_CURVES:]
    kept = {version: _thinned(by_version[version]) for version in newest}
    everything = [point for line in kept.values() for point in line]
    if len({when for when, _, _ in everything}) < 2:
        return None
    x, y = _scales(everything)
    curves = [_curve(version, line, x, y) for version, line in kept.items()]
    return Chart(
        curves=curves,
        across=[(y(mark), _number(mark)) for mark in round_marks(y.low, y.high, 5)],
        along=_times(x),
    )


def _scales(points: list[Point]) -> tuple[Scale, Scale]:
    times = [when for when, _, _ in points]
    # Errors of the first few games would leave no height for anything else.
    ratings = [elo for _, elo, _ in points]
    usual = sorted(error for _, _, error in points)[len(points) // 2]
    low, high = min(ratings) - usual, max(ratings) + usual
    if high - low < 40:
        low, high = low - 20, high + 20
    return (
        Scale(min(times), max(times), LEFT, CHART_WIDTH - RIGHT),
        Scale(low, high, CHART_HEIGHT - BOTTOM, TOP),
    )


def _curve(version: int, line: list[Point], x: Scale, y: Scale) -> Curve:
    def height(elo: float) -> float:
        return y(min(max(elo, y.low), y.high))

    over = [f"{x(when)},{height(elo + error)}" for when, elo, error in line]
    under = [f"{x(when)},{height(elo - error)}" for when, elo, error in reversed(line)]
    when, elo, _ = line[-1]
    return Curve(
        name=f"v{version}",
        colour=version % 8,
        line=" ".join(f"{x(at)},{height(value)}" for at, value, _ in line),
        band=" ".join([*over, *under]),
        last_x=x(when),
        last_y=height(elo),
        elo=elo,
    )


def _thinned(line: list[Point]) -> list[Point]:
    """So many points as there is room for, the last one among them."""
    if len(line) <= MOST_POINTS:
        return line
    step = len(line) / MOST_POINTS
    return [line[min(len(line) - 1, int((each + 1) * step) - 1)] for each in range(MOST_POINTS)]


def _times(x: Scale) -> list[tuple[float, str]]:
    """A few moments, with the day where there are several."""
    span = x.high - x.low
    shown = "%H:%M" if span < 86_400 else "%d %b" if span > 3 * 86_400 else "%d %b %H:%M"
    found: list[tuple[float, str]] = []
    for each in range(4):
        at = x.low + span * each / 3
        told = datetime.fromtimestamp(at, UTC).strftime(shown)
        if told not in (label for _, label in found):
            found.append((x(at), told))
    return found
