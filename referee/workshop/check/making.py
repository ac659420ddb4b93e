"""The step `build`: a bot in a language that compiles is made ready before anything else.

What is wrong there is the bot's author's to mend, as in any other step. So it is told in the report
and not as a mistake of whoever called. A bot that has nothing to build has no such step, unless the
program that is to run it is not on this machine.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from msgspec import Struct

from referee.bots.building import BuildFailed, MissingCommand, OnBuild, build_log, built
from referee.bots.confinement import Confinement
from referee.bots.manifest import Bot
from referee.protocol.codec import excerpt
from referee.rules.numbers import amount
from referee.workshop.check.report import Step
from referee.workshop.check.talk import all_lines


class Making(Struct, frozen=True, kw_only=True):
    """A bot, ready to run unless something is in the way."""

    bot: Bot
    step: Step | None
    """None where there was nothing to do."""
    in_the_way: str | None = None
    """Why nothing else can be tried."""


def make(
    bot: Bot,
    confinement: Confinement,
    on_build: OnBuild | None = None,
    *,
    compiler_cache: bool = False,
) -> Making:
    """Build it, if it has to be built and is not. Raises BadBot where it cannot even be tried."""
    new: list[str] = []

    def begin(name: str) -> None:
        new.append(name)
        if on_build is not None:
            on_build(name)

    try:
        ready = built(bot, confinement, on_build=begin, compiler_cache=compiler_cache)
    except MissingCommand as problem:
        return _failed(bot, problem, "a program that the bot needs is missing")
    except BuildFailed as problem:
        return _failed(bot, problem, "the bot has to be built first")
    if not bot.build or ready.folder is None:
        return Making(bot=ready, step=None)
    how = excerpt(shlex.join(bot.build).encode())
    told = f"built: {how}" if new else f"nothing has changed since it was built: {how}"
    said = _said(build_log(ready.folder))
    if said:
        told += f" ({amount(len(said), 'line')} of output)"
    return Making(bot=ready, step=Step(name="build", result="passed", detail=told, stderr=said))


def _failed(bot: Bot, problem: MissingCommand | BuildFailed, in_the_way: str) -> Making:
    step = Step(
        name="build",
        result="failed",
        detail=str(problem).removeprefix(f"{bot.name}: "),
        stderr=all_lines(problem.quoted.encode()),
    )
    return Making(bot=bot, step=step, in_the_way=in_the_way)


def _said(log: Path) -> list[str]:
    try:
        return all_lines(log.read_bytes())
    except OSError:
        return []
