"""A finished game, played once more from its record alone: no bots, no clocks, no dice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from referee.mistake import Mistake
from referee.record import Record
from referee.rules.chance import BadChance, Recorded
from referee.rules.options import BadOption
from referee.rules.registry import BadVariant, blame_script, build_variant, is_path
from referee.rules.variant import IllegalMove, Seat, UnreadableMove, Variant
from referee.verdict import MEANINGS, Ending

NEVER_PLAYED = frozenset({Ending.HOST_STALL, Ending.REFEREE_ERROR})
"""Endings of games that are void through no bot's doing: their records hold no moves."""


LONGEST_WHY = 300
"""Characters that a mismatch is told in, however long a text was put into the record."""


class Mismatch(Mistake):
    """The record does not agree with the rules: in which field, and how."""

    def __init__(self, field: str, why: str) -> None:
        why = why if len(why) <= LONGEST_WHY else why[: LONGEST_WHY - 1] + "…"
        super().__init__(f"{field}: {why}")
        self.field = field
        self.why = why


class Step(Struct, frozen=True):
    """One round of the game, or one play of it where the players take turns."""

    before: Any
    plays: tuple[tuple[Seat, Any], ...]
    after: Any


class Story(Struct, frozen=True):
    """A game in the words of its rule book: lines before the first step, of each step, and after
    the last."""

    opening: list[str]
    steps: list[list[str]]
    ending: list[str]


class Replay(Struct, frozen=True):
    """A game from its first position to its last."""

    record: Record
    variant: Variant[Any, Any]
    start: Any
    """The position before the first play; None where the game never was."""
    steps: list[Step]

    @property
    def end(self) -> Any:
        return self.steps[-1].after if self.steps else self.start

    def tell(self) -> Iterator[str]:
        """The game as a person would like to read it, line by line.

        Raises BadVariant where a script fails to tell it.
        """
        record, names, story = self.record, self.record.players, self.story()
        yield f"Game {record.game} of {record.variant}: {names[0]} against {names[1]}"
        yield from story.opening
        for lines in story.steps:
            if not (lines and lines[0].startswith(" ")):  # An indented line goes on with the last.
                yield ""
            yield from lines
        yield ""
        yield from story.ending

    def story(self) -> Story:
        """What `tell` tells, in parts. Raises BadVariant where a script fails to tell it."""
        variant, names = self.variant, self.record.players
        by_rules = self.record.ending is Ending.RULES
        try:
            opening = [] if self.start is None else list(variant.opening(self.start, names))
            steps = [
                list(variant.narrate(step.before, step.plays, step.after, names))
                for step in self.steps
            ]
            ending = list(variant.conclusion(self.end, names)) if by_rules else []
        except Exception as error:
            raise BadVariant(blame_script(error, type(variant))) from error
        return Story(opening, steps, [*ending, *fault_lines(self.record)])


def replay(record: Record, script: str | None = None) -> Replay:
    """Play a record again. `script` is where the variant is, if not under its own name.

    Raises Mismatch where the record breaks the rules, and BadVariant where its variant is unknown.
    """
    if script is None and is_path(record.variant):
        # A record is data, often somebody else's: it must not choose which file is run.
        raise Mismatch(
            "variant", "a record names its variant; the path of a script is yours to give"
        )
    try:
        variant = build_variant(script or record.variant, record.options)
    except BadOption as bad:
        raise Mismatch("options", str(bad)) from None
    if variant.name != record.variant:
        raise Mismatch("variant", f"the record is of {record.variant}, {script} is {variant.name}")
    return replay_by(variant, record)


def replay_by(variant: Variant[Any, Any], record: Record) -> Replay:
    """The same by a variant that is built already: to find and build one takes longer than to play
    a game again, and many games have the same. Raises Mismatch."""
    for fault in record.faults():
        if fault.seat not in (0, 1):
            raise Mismatch("fault.seat", f"it is {fault.seat}; the seats are 0 and 1")
    if variant.rules != record.rules:
        raise Mismatch(
            "rules", f"the record was played by version {record.rules}, here is {variant.rules}"
        )
    if variant.settings != record.options:
        raise Mismatch("options", f"settled they are {variant.settings}")
    chance = Recorded(record.chance)
    steps: list[Step] = []
    if record.ending in NEVER_PLAYED:
        for field, found in (("moves", record.moves), ("chance", record.chance)):
            if found:
                raise Mismatch(field, f"a game that is void by {record.ending} has none")
        return Replay(record, variant, None, steps)
    try:
        start = position = variant.setup(chance)
        at = 0
        while at < len(record.moves):
            plays = _plays(variant, position, record, at)
            after = variant.apply(position, plays, chance)
            steps.append(Step(position, plays, after))
            position = after
            at += len(plays)
        chance.finish()
    except BadChance as bad:
        raise Mismatch("chance", str(bad)) from None
    except Mismatch:
        raise
    except Exception as error:
        raise Mismatch("moves", blame_script(error, type(variant))) from None
    return Replay(record, variant, start, steps)


def _plays(
    variant: Variant[Any, Any], position: Any, record: Record, at: int
) -> tuple[tuple[Seat, Any], ...]:
    """The moves of the round that begins at this place in `moves`."""
    if variant.outcome(position) is not None:
        raise Mismatch(f"moves[{at}]", "the game was over before it")
    actors = variant.actors(position)
    if not actors:
        raise Mismatch(f"moves[{at}]", "nobody was to play, and the game was not over")
    plays = []
    for place, seat in enumerate(actors, start=at):
        if place >= len(record.moves):
            raise Mismatch(f"moves[{at}]", "a lone answer of a round that both play is no move")
        mover, raw = record.moves[place]
        if mover != seat:
            raise Mismatch(f"moves[{place}]", f"seat {mover} played where seat {seat} was to play")
        try:
            plays.append((seat, variant.read_move(position, seat, raw)))
        except (IllegalMove, UnreadableMove) as bad:
            raise Mismatch(f"moves[{place}]", str(bad)) from None
    return tuple(plays)


def fault_lines(record: Record) -> Iterator[str]:
    """What there is to say of a game that did not end by its rules."""
    if record.ending in NEVER_PLAYED:
        yield f"The game is void: {MEANINGS[record.ending]} ({record.reason})."
    for fault in record.faults():
        name = record.players[fault.seat]
        yield f"{name} is at fault at turn {fault.turn}: {fault.code}, {fault.detail}."
        if fault.received:
            yield f"  It had sent: {fault.received}"
    if record.ending is Ending.VOID:
        yield "Both were at fault in the same round: the game is void."
    elif record.faults() and record.winner is not None:
        yield f"{record.players[record.winner]} wins the game."
