"""What a check found, as data: steps in the order in which they were taken, and figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

Result = Literal["passed", "failed", "skipped", "not tried"]
"""Skipped is what does not apply to this bot; not tried is what an earlier failure is in the way
of, so there is always a failed step before it."""


class Step(Struct, frozen=True, kw_only=True):
    """One thing that a bot has to be able to do."""

    name: str
    result: Result
    detail: str
    """One sentence: what was seen."""
    sent: list[str] = []
    """The last lines that the bot was sent in this step, cut and escaped."""
    stdout: list[str] = []
    """What it wrote then."""
    stderr: list[str] = []
    """All that it wrote there then, as far as it is kept; in `build`, all that the build wrote."""


class Figures(Struct, frozen=True, kw_only=True):
    """How quickly the bot answered, over all turns that it was asked alone."""

    answers: int
    median_us: int
    p99_us: int
    slowest_us: int
    limit_ms: int
    late: int
    """Answers that came after the limit and its grace."""


class Report(Struct, frozen=True, kw_only=True):
    """All of a check."""

    bot: str
    level: str
    """At which the bot was confined."""
    passed: bool
    failed: list[str]
    """The names of the steps that failed."""
    late: bool
    """Whether all of them failed because something did not come in time."""
    variants: list[str]
    """Those that were played."""
    figures: Figures | None
    """None where no turn was answered."""
    steps: list[Step]

    def has_passed(self, name: str) -> bool:
        """Whether this step was gone through, and nothing was wrong with it."""
        return any(step.name == name and step.result == "passed" for step in self.steps)


def all_passed(steps: Sequence[Step]) -> bool:
    """Whether nothing failed, and nothing was left out because of a failure."""
    return all(step.result in ("passed", "skipped") for step in steps)


def figures(spent_ns: Sequence[int], limit_ms: int, late: int) -> Figures | None:
    """Median, 99th percentile and maximum, each one of the times that were measured."""
    if not spent_ns:
        return None
    ranked = sorted(spent_ns)

    def percentile(percent: int) -> int:
        """The nearest rank: this many percent of all answers took no longer."""
        return ranked[max(0, -(-len(ranked) * percent // 100) - 1)] // 1000

    return Figures(
        answers=len(ranked),
        median_us=percentile(50),
        p99_us=percentile(99),
        slowest_us=ranked[-1] // 1000,
        limit_ms=limit_ms,
        late=late,
    )


def show_us(duration_us: int) -> str:
    """`85 µs`, `3.4 ms`, `1.25 s`."""
    if duration_us < 1_000:
        return f"{duration_us} µs"
    if duration_us < 1_000_000:
        return f"{duration_us / 1_000:.1f} ms"
    return f"{duration_us / 1_000_000:.2f} s"
