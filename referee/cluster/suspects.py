"""Bots that did not come up where an order was played: the bot's fault, or that of the machine."""

from __future__ import annotations

from collections.abc import Iterable

from referee.tournament.chunk import Batch, Call, Called, Order, Report
from referee.verdict import Ending


def not_come_up(order: Order, reports: Iterable[Report]) -> dict[str, str]:
    """By name, why; those that were out before are not tried, and not told of."""
    contestants = (order.contestant,) if isinstance(order, Call) else (order.first, order.second)
    names = {each.id: each.bot.name for each in contestants if not each.out}
    found: dict[str, str] = {}
    for report in reports:
        if isinstance(report, Called) and report.trouble is not None:
            found[names[report.id]] = report.trouble
        elif isinstance(report, Batch):
            for fault in report.faults:
                if fault.code == Ending.FORFEIT and fault.bot in names:
                    found[names[fault.bot]] = fault.detail
    return found
