"""Make the bots of a tournament ready before its first game: build what has to be built.

A bot that cannot be built, or whose programs this machine lacks, is left out when the tournament
begins, and the others play on without it. In a tournament that goes on it has its games, so there
it has to be put right first.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from referee.bots.building import built
from referee.bots.manifest import BadBot
from referee.clock import read_duration_ms
from referee.tournament.confining import confinement_of
from referee.tournament.entries import Entry
from referee.tournament.events import Building, LeftOut, Listener
from referee.tournament.spec import Spec


def make_ready(spec: Spec, entries: Sequence[Entry], tell: Listener) -> list[Entry]:
    """All of them, built. Raises BadBot."""
    limit_ms = read_duration_ms(spec.build_time)

    def on_build(name: str) -> None:
        tell(Building(bot=name))

    return [
        replace(
            entry,
            bot=built(entry.bot, confinement_of(spec), limit_ms=limit_ms, on_build=on_build),
        )
        for entry in entries
    ]


def ready_or_left_out(
    spec: Spec, entries: Sequence[Entry], tell: Listener
) -> tuple[list[Entry], dict[str, str]]:
    """Those that can be made ready, and by name why the others are left out."""
    ready: list[Entry] = []
    left_out: dict[str, str] = {}
    for folder, why in spec.left_out.items():
        tell(LeftOut(bot=folder, why=why, output=""))
    for entry in entries:
        name = entry.bot.name
        try:
            ready += make_ready(spec, [entry], tell)
        except BadBot as problem:
            why = left_out[name] = str(problem).removeprefix(f"{name}: ")
            tell(LeftOut(bot=name, why=why, output=problem.quoted))
    return ready, left_out
