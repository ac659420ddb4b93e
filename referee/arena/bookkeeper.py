"""Records of finished games.

Most of a record is the same for all games of a pairing, so each is made from one of two templates,
one for each seating.
"""

from __future__ import annotations

import time

from msgspec import UNSET
from msgspec.structs import replace

from referee.arena.game import Game, Setting
from referee.record import Record
from referee.schedule import GameOrder
from referee.verdict import Ending, Verdict


class Bookkeeper:
    """Makes the records of one pairing."""

    __slots__ = ("_millisecond", "_second", "_stamp", "_templates", "_to_the_second")

    def __init__(self, setting: Setting) -> None:
        self._templates = (_template(setting), _template(setting, swapped=True))
        self._second = self._millisecond = 0
        self._stamp = self._to_the_second = ""

    def record(
        self,
        order: GameOrder,
        verdict: Verdict,
        game: Game | None = None,
        dropped: int = 0,
    ) -> Record:
        """The record of a game, or without one, of a game that never could be set up."""
        if game is not None:
            table, started = game.table, game.started
            chance, moves, spent_us = table.chance.outcomes, table.moves, table.spent_us
            cpu_us, notes = table.cpu_us, table.notes
        else:
            started = time.time()
            chance, moves, spent_us, cpu_us, notes = [], [], [], [], {}
        faults = verdict.faults
        return replace(
            self._templates[order.swapped],
            game=order.game,
            pair=order.pair,
            attempt=order.attempt,
            started=self._timestamp(started),
            bot_seeds=order.bot_seeds,
            chance=chance,
            moves=moves,
            spent_us=spent_us,
            cpu_us=cpu_us,
            notes=notes,
            dropped=dropped,
            ending=verdict.ending,
            reason=verdict.reason,
            winner=verdict.winner,
            at_fault=verdict.at_fault,
            scores=verdict.scores,
            fault=faults[0] if faults else None,
            other_fault=faults[1] if len(faults) > 1 else UNSET,
        )

    def _timestamp(self, at: float) -> str:
        """UTC with milliseconds. Several games begin in one of them, and many in one second."""
        millisecond = int(at * 1000)
        if millisecond != self._millisecond:
            self._millisecond = millisecond
            second, rest = divmod(millisecond, 1000)
            if second != self._second:
                self._second = second
                self._to_the_second = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
            self._stamp = f"{self._to_the_second}.{rest:03d}Z"
        return self._stamp


def _template(setting: Setting, *, swapped: bool = False) -> Record:
    variant, players, bots = setting.variant, setting.players, setting.bots
    if swapped:
        players, bots = (players[1], players[0]), (bots[1], bots[0])
    return Record(
        game="",
        pair=1,
        attempt=1,
        tournament=setting.tournament,
        variant=variant.name,
        rules=variant.rules,
        options=variant.settings,
        clock=setting.clock,
        players=players,
        bots=bots,
        started="",
        level=setting.level,
        bot_seeds=(0, 0),
        chance=[],
        moves=[],
        spent_us=[],
        cpu_us=[],
        notes={},
        dropped=0,
        ending=Ending.VOID,
        reason="",
        winner=None,
        at_fault=(),
        scores=(0, 0),
        fault=None,
    )
