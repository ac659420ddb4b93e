"""Make the bots of a tournament ready before its first game: build what has to be built.

A bot that cannot be built, or whose programs this machine lacks, is left out when the tournament
begins, and the others play on without it. In a tournament that goes on it has its games, so there
it has to be put right first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from referee.arena.core import own_cores
from referee.bots.building import OnBuild, built
from referee.bots.builds import Outcome, side_by_side
from referee.bots.manifest import BadBot, Bot
from referee.clock import read_duration_ms
from referee.tournament.confining import confinement_of
from referee.tournament.entries import Entry
from referee.tournament.events import Building, LeftOut, Listener
from referee.tournament.spec import Spec


def make_ready(spec: Spec, entries: Sequence[Entry], tell: Listener) -> list[Entry]:
    """All of them, built. Raises BadBot."""
    ready: list[Entry] = []
    for entry, outcome in _made_ready(spec, entries, tell):
        if isinstance(outcome, BadBot):
            raise outcome
        ready.append(replace(entry, bot=outcome))
    return ready


def ready_or_left_out(
    spec: Spec, entries: Sequence[Entry], tell: Listener
) -> tuple[list[Entry], dict[str, str]]:
    """Those that can be made ready, and by name why the others are left out."""
    ready: list[Entry] = []
    left_out: dict[str, str] = {}
    for folder, why in spec.left_out.items():
        tell(LeftOut(bot=folder, why=why, output=""))
    for entry, outcome in _made_ready(spec, entries, tell):
        if isinstance(outcome, BadBot):
            name = entry.bot.name
            why = left_out[name] = str(outcome).removeprefix(f"{name}: ")
            tell(LeftOut(bot=name, why=why, output=outcome.quoted))
        else:
            ready.append(replace(entry, bot=outcome))
    return ready, left_out


def _made_ready(
    spec: Spec, entries: Sequence[Entry], tell: Listener
) -> Iterator[tuple[Entry, Outcome]]:
    confinement, limit_ms = confinement_of(spec), read_duration_ms(spec.build_time)

    def build(bot: Bot, on_build: OnBuild) -> Bot:
        return built(bot, confinement, limit_ms=limit_ms, on_build=on_build)

    def on_build(name: str) -> None:
        tell(Building(bot=name))

    bots = [entry.bot for entry in entries]
    return zip(entries, side_by_side(bots, build, on_build, own_cores()), strict=True)
