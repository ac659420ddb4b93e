"""Make the bots of a tournament ready before its first game: build what has to be built.

A bot that cannot be built, or whose programs this machine lacks, is left out when the tournament
begins, and the others play on without it. In a tournament that goes on it has its games, so there
it has to be put right first.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from referee.bots.building import BuildFailed, MissingCommand, built, is_built
from referee.bots.environment import missing_command
from referee.bots.manifest import Bot
from referee.clock import read_duration_ms
from referee.tournament.entries import Entry
from referee.tournament.events import Building, LeftOut, Listener
from referee.tournament.spec import Spec


def make_ready(spec: Spec, entries: Sequence[Entry], tell: Listener) -> list[Entry]:
    """All of them, built. Raises MissingCommand, BuildFailed."""
    return [replace(entry, bot=_ready(spec, entry.bot, tell)) for entry in entries]


def ready_or_left_out(spec: Spec, entries: Sequence[Entry], tell: Listener) -> list[Entry]:
    """Those that can be made ready. The listener hears of the others."""
    ready: list[Entry] = []
    for entry in entries:
        try:
            ready += make_ready(spec, [entry], tell)
        except (MissingCommand, BuildFailed) as problem:
            why = str(problem).removeprefix(f"{entry.bot.name}: ")
            tell(LeftOut(bot=entry.bot.name, why=why, output=problem.quoted))
    return ready


def _ready(spec: Spec, bot: Bot, tell: Listener) -> Bot:
    if missing_command(bot) is None and not is_built(bot):
        tell(Building(bot=bot.name))
    return built(bot, limit_ms=read_duration_ms(spec.build_time))
