"""Checks of the bots in `bots`, with limits that a good bot cannot miss on a busy machine."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.manifest import Bot
from referee.clock import Clock
from referee.rules.registry import find_variant
from referee.workshop.check.report import Report, Step
from referee.workshop.check.run import check_bot
from referee.workshop.check.sitting import Terms
from tests.arena.playing import MARK, ROOT, left_of, open_descriptors

VARIANTS = ("difference", "target")
"""Enough for most bots: one in which both play at once, one with texts for moves."""
SILENCE_MS = 3_000
"""After which a bot that says nothing is taken to be silent."""

OVER = "over in the middle"
"""The name of a step."""


def broken(script: str, *words: object) -> Bot:
    """A bot of `bots`, by its module and its class."""
    module = f"tests.workshop.check.bots.{script}"
    command = (sys.executable, "-S", "-m", module, *map(str, words))
    return Bot(name=str(words[0]) if words else script, command=command)


def check(
    bot: Bot,
    *,
    variants: Sequence[str] | None = VARIANTS,
    time_ms: int = SILENCE_MS,
    patience_ms: int = 0,
    startup_ms: int = 60_000,
    quiet_ms: int = 2_000,
    budget_ms: int = 5_000,
    on_step: Callable[[Step], None] | None = None,
    confinement: Confinement = UNCONFINED,
) -> Report:
    """Check a bot, and see that nothing of it is left."""
    mark = uuid.uuid4().hex
    marked = replace(bot, env={**bot.env, "PYTHONPATH": str(ROOT), MARK: mark})
    terms = Terms(
        clock=Clock(move_ms=time_ms),
        startup_ms=startup_ms,
        warm_up_ms=0,
        exit_ms=SILENCE_MS,
        patience_ms=patience_ms,
        quiet_ms=quiet_ms,
        budget_ms=budget_ms,
    )
    played = None if variants is None else [find_variant(name)() for name in variants]
    descriptors = open_descriptors()
    report = check_bot(marked, terms, played, on_step, confinement=confinement)
    assert left_of(mark) == []
    assert open_descriptors() == descriptors
    return report


def step(report: Report, name: str) -> Step:
    """The one step of this name."""
    (found,) = [each for each in report.steps if each.name == name]
    return found


def by_result(report: Report, result: str) -> set[str]:
    return {each.name for each in report.steps if each.result == result}
