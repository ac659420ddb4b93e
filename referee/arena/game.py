"""One game of a slot: its order, its table, and the record that it becomes."""

from __future__ import annotations

import time
from typing import Any, Literal

from msgspec import UNSET, Struct

from referee.clock import BankClock, Clock
from referee.protocol.messages import Over
from referee.record import BotInfo, Record
from referee.rules.chance import Seeded
from referee.rules.variant import Variant
from referee.schedule import GameOrder
from referee.table import Table
from referee.verdict import Verdict


class Setting(Struct, frozen=True, kw_only=True):
    """What the games of a slot have in common."""

    variant: Variant[Any, Any]
    clock: Clock
    players: tuple[str, str]
    """The pairing's names, in the order of the pairing."""
    bots: tuple[BotInfo, BotInfo]
    tournament: str | None = None
    level: str = "none"


class Game:
    """A game that is being played. Seat 0 belongs to player 0 of the slot unless swapped."""

    __slots__ = ("name", "order", "started", "swap", "table")

    def __init__(self, order: GameOrder, setting: Setting, clock: BankClock | None = None) -> None:
        self.order = order
        self.name = order.game
        self.swap = 1 if order.swapped else 0
        self.table = Table(
            setting.variant, Seeded(order.chance_seed), clock or BankClock(setting.clock)
        )
        self.started = time.time()

    def over(self, seat: int, verdict: Verdict) -> Over:
        """What this seat is told of the end."""
        result: Literal["win", "loss", "draw", "void"]
        if verdict.winner is not None:
            result = "win" if verdict.winner == seat else "loss"
        else:
            result = "draw" if verdict.ending == "rules" else "void"
        return Over(
            self.name,
            result,
            verdict.ending,
            verdict.at_fault,
            verdict.scores,
            self.table.last_events(seat),
        )


def make_record(
    order: GameOrder,
    setting: Setting,
    verdict: Verdict,
    game: Game | None = None,
    dropped: int = 0,
    cpu_us: list[int] | None = None,
) -> Record:
    """The record of a game, or without one, of a game that was decided before its first move."""
    variant, players, bots = setting.variant, setting.players, setting.bots
    if order.swapped:
        players, bots = (players[1], players[0]), (bots[1], bots[0])
    faults = verdict.faults
    if game is not None:
        table, started = game.table, game.started
        chance, moves, spent_us = table.chance.outcomes, table.moves, table.spent_us
        notes = table.notes
    else:
        started = time.time()
        chance, moves, spent_us, notes = [], [], [], {}
    return Record(
        game=order.game,
        pair=order.pair,
        attempt=order.attempt,
        tournament=setting.tournament,
        variant=variant.name,
        rules=variant.rules,
        options=variant.settings,
        clock=setting.clock,
        players=players,
        bots=bots,
        started=_timestamp(started),
        level=setting.level,
        bot_seeds=order.bot_seeds,
        chance=chance,
        moves=moves,
        spent_us=spent_us,
        cpu_us=cpu_us or [],
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


_second = (0, "")


def _timestamp(at: float) -> str:
    """UTC with milliseconds. The part up to the second is the same for thousands of games."""
    global _second
    whole = int(at)
    if whole != _second[0]:
        _second = (whole, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)))
    return f"{_second[1]}.{int((at - whole) * 1000):03d}Z"
