"""One game between two bots, told while it is played.

The game is played by the arena's own loop, so that limits, faults and the record are those of a
match. That loop tells nobody of a round, but it looks at its clock before each turn that it asks
for, and what happens inside that look is charged to nobody. So whoever watches holds the clock: the
onlooker gives the time, and first sees what has been played since it was last asked.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from referee.arena.game import Game, Setting, bot_info
from referee.arena.slot import House, Slot
from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.manifest import Bot
from referee.clock import Clock
from referee.record import Record
from referee.replaying import NEVER_PLAYED, replay_by
from referee.rules.registry import BadVariant, blame_script
from referee.rules.variant import Plays, Seat, Variant
from referee.schedule import pairing_games
from referee.verdict import MEANINGS, Ending


class Play(Struct, frozen=True):
    """What one bot did in a round, beside its move."""

    seat: Seat
    spent_us: int
    note: str | None


class Audience(Protocol):
    """Who watches."""

    def tell(self, *lines: str) -> None:
        """Lines of the game's story."""

    def round(self, lines: list[str], plays: list[Play]) -> None:
        """A round, or one play where the bots take turns, has been played. As long as this takes,
        no clock runs."""


class Show(Struct, frozen=True, kw_only=True):
    """What is to be played, and by whom."""

    variant: Variant[Any, Any]
    bots: tuple[Bot, Bot]
    """In seat order; no two have one name."""
    seed: str
    clock: Clock
    logs: Path | None = None
    confinement: Confinement = UNCONFINED


def watch(show: Show, audience: Audience) -> Record:
    """Play one game and tell it as it goes. Whatever happens, no process is left behind.

    What the audience raises ends the game. Raises BadVariant where a script cannot tell its game.
    """
    variant, (first, second) = show.variant, show.bots
    names = (first.name, second.name)
    setting = Setting(
        variant=variant,
        clock=show.clock,
        players=names,
        bots=(bot_info(first), bot_info(second)),
        level=show.confinement.level,
    )
    house = House(logs=show.logs, at_once=1, confinement=show.confinement)
    onlooker = _Onlooker(variant, names, audience)
    slot = Slot(show.bots, setting, house, onlooker.now_ns)
    onlooker.slot = slot
    orders = pairing_games(show.seed, variant.name, *names, 1, hidden_chance=False)
    audience.tell(f"{variant.name}: {variant.summary}", f"{names[0]} against {names[1]}")
    records: list[Record] = []
    try:
        for record in slot.play(orders):
            onlooker.conclude(record)
            records.append(record)
    finally:
        slot.close()
    (record,) = records
    return record


class _Onlooker:
    """The clock of a slot that plays one game, and whose eyes are open."""

    def __init__(
        self, variant: Variant[Any, Any], names: tuple[str, str], audience: Audience
    ) -> None:
        self.slot: Slot | None = None
        self._variant = variant
        self._names = names
        self._audience = audience
        self._game: Game | None = None
        self._before: Any = None
        """The position that was told of last."""
        self._plays = 0
        self._steps = 0
        """Plays and rounds that were told of."""

    def now_ns(self) -> int:
        if self.slot is not None:
            for game in self.slot.games.open.values():
                self._look(game)
        return time.monotonic_ns()

    def _look(self, game: Game) -> None:
        table = game.table
        if game is not self._game:
            if self._game is not None:
                self._audience.tell("", "The game was spoilt by no bot and is played again.")
            self._game, self._before, self._plays, self._steps = game, table.position, 0, 0
            self._audience.tell(*self._opening(table.position))
        if len(table.moves) > self._plays:
            plays = tuple(table.moves[self._plays :])
            self._tell_round(self._before, plays, table.position, table.spent_us, table.notes)
            self._before = table.position

    def conclude(self, record: Record) -> None:
        """Tell the rest of the game, now that there is a record of it."""
        if record.ending in NEVER_PLAYED:
            self._audience.tell(
                "", f"The game is void: {MEANINGS[record.ending]}: {record.reason}."
            )
            return
        game = replay_by(self._variant, record)
        if self._game is None and game.start is not None:
            self._audience.tell(*self._opening(game.start))
        for step in game.steps[self._steps :]:
            self._tell_round(step.before, step.plays, step.after, record.spent_us, record.notes)
        self._audience.tell("")
        if record.ending is Ending.RULES:
            self._audience.tell(*self._said("conclusion", game.end))
        elif record.ending is Ending.VOID:
            self._audience.tell("Both were at fault in the same round: the game is void.")
        elif record.winner is not None:
            winner, loser = self._names[record.winner], self._names[1 - record.winner]
            self._audience.tell(f"{winner} wins the game: {loser} is at fault ({record.ending}).")

    def _tell_round(
        self,
        before: Any,
        plays: Plays[Any],
        after: Any,
        spent_us: list[int],
        notes: dict[str, str],
    ) -> None:
        lines = self._said("narrate", before, plays, after)
        done = [
            Play(seat, spent_us[place], notes.get(str(place)))
            for place, (seat, _) in enumerate(plays, start=self._plays)
        ]
        self._plays += len(plays)
        self._steps += 1
        self._audience.round(lines, done)

    def _opening(self, position: Any) -> list[str]:
        return self._said("opening", position)

    def _said(self, what: str, *of: Any) -> list[str]:
        """What the variant says in words; a script that cannot is to be put right."""
        try:
            return list(getattr(self._variant, what)(*of, self._names))
        except Exception as error:
            raise BadVariant(blame_script(error, type(self._variant))) from error
