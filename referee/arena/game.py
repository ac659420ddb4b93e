"""One game of a slot: its order, its table, and the record that it becomes."""

from __future__ import annotations

import time
from typing import Any, Literal

from msgspec import Struct

from referee.bots.manifest import Bot
from referee.clock import BankClock, Clock
from referee.protocol.messages import Over
from referee.record import BotInfo
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


def bot_info(bot: Bot) -> BotInfo:
    """What a record says of a bot."""
    return BotInfo(bot.version, bot.hash)


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
