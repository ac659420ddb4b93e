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
    strangers = strangers_of(entries)
    if level is Level.NONE and wanted is None and strangers:
        lacking = why_not(Level.STANDARD)
        why = f" ({lacking.reason})" if lacking is not None else ""
        raise BadSpec(
            f"bots cannot be confined here{why}, and {strangers[0]} is no sample bot; see "
            "`referee doctor`, or say --sandbox none to let it run with your rights"
        )
    if level is not Level.NONE:
        must_show(spec.expose, hidden_places(entry.bot for entry in entries))
    return at_level(spec, level, strangers=bool(strangers))


def strangers_of(entries: Sequence[Entry]) -> list[str]:
    """The names of those that are no sample bots."""
    return [entry.bot.name for entry in entries if not is_sample(entry.bot)]


def at_level(spec: Spec, level: Level, *, strangers: bool) -> Spec:
    """The spec with this level, and with `freeze` settled for it, however it is played: by a
    command, here or on a cluster, or by a daemon. What was settled stays. Raises BadSpec."""
    if spec.freeze and level is Level.NONE:
        raise BadSpec("freeze needs bots that are confined; level none does not confine them")
    freeze = spec.freeze
    if freeze is None:
        freeze = strangers and level is not Level.NONE and spec.think == "in-turn"
    return replace(spec, sandbox=level.value, freeze=freeze)


def for_strangers(spec: Spec) -> Spec:
    """What a daemon plays at the level of this spec: all bots of a ladder are strangers."""
    assert spec.sandbox is not None, "a season has a level, and its tournaments have that one"
    return at_level(spec, Level(spec.sandbox), strangers=True)


def confinement_of(spec: Spec) -> Confinement:
    """What workers are told of a spec that `at_level` has settled. Nothing else is played: what is
    not settled says neither yes nor no."""
    assert spec.sandbox is not None, "the level is not settled"
    assert spec.freeze is not None, "freeze is not settled"
    return Confinement(
        level=Level(spec.sandbox),
        limits=read_limits(spec.limits),
        freeze=spec.freeze,
        expose=spec.expose,
    )
