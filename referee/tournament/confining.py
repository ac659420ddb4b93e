"""How the bots of a tournament are confined: the level that is settled before its first game."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from referee.bots.confinement import Confinement
from referee.bots.confinement.exposing import must_show
from referee.bots.confinement.levels import Level
from referee.bots.confinement.limits import read_limits
from referee.bots.confinement.probe import choose, said_aloud, why_not
from referee.bots.hiding import hidden_places
from referee.bots.manifest import is_sample
from referee.tournament.entries import Entry
from referee.tournament.spec import BadSpec, Spec


def with_level(spec: Spec, entries: Sequence[Entry]) -> Spec:
    """The spec with its level settled: the one it asks for, or the best that holds here.

    Raises NotConfined where the level cannot be had, BadSpec where bots of strangers would run
    unconfined and nobody has said that they may, and BadLimit where a folder is to be shown that
    must not be.
    """
    wanted = said_aloud(spec.sandbox)
    level = choose(wanted)
    if level is Level.NONE and wanted is None:
        strangers = [entry.bot.name for entry in entries if not is_sample(entry.bot)]
        if strangers:
            lacking = why_not(Level.STANDARD)
            why = f" ({lacking.reason})" if lacking is not None else ""
            raise BadSpec(
                f"bots cannot be confined here{why}, and {strangers[0]} is no sample bot; see "
                "`referee doctor`, or say --sandbox none to let it run with your rights"
            )
    if level is not Level.NONE:
        must_show(spec.expose, hidden_places(entry.bot for entry in entries))
    return at_level(spec, level, strangers=any(not is_sample(entry.bot) for entry in entries))


def at_level(spec: Spec, level: Level, *, strangers: bool) -> Spec:
    """The spec with this level, and with `freeze` settled for it. Raises BadSpec."""
    if spec.freeze and level is Level.NONE:
        raise BadSpec("freeze needs bots that are confined; level none does not confine them")
    freeze = spec.freeze
    if freeze is None:
        freeze = strangers and level is not Level.NONE and spec.think == "in-turn"
    return replace(spec, sandbox=level.value, freeze=freeze)


def confinement_of(spec: Spec) -> Confinement:
    """What workers are told. The level has to be settled."""
    return Confinement(
        level=Level(spec.sandbox or Level.NONE),
        limits=read_limits(spec.limits),
        freeze=bool(spec.freeze),
        expose=spec.expose,
    )
