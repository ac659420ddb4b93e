"""Games that are lost before they begin, since a bot is out: records, and nobody is asked."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from referee.arena.game import Game, Setting
from referee.arena.games import Games
from referee.protocol.messages import ToBot
from referee.schedule import GameOrder
from referee.verdict import Ending, Fault

WHY = "the bot is out: it failed to start time after time"


class Empty:
    """A chair on which nobody sits."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.outbox: list[ToBot] = []
        self.due: list[Game] = []
        self.dropped = 0


def forfeited(setting: Setting, orders: Iterable[GameOrder], out: Collection[int]) -> Games:
    """All of these games, finished: lost by those of the pairing that are out (0 is its first bot,
    1 its second), void where both are."""
    games = Games((Empty(0), Empty(1)), setting)
    games.order(orders)
    while games.waiting:
        swapped = games.waiting[0].swapped
        seats = [place ^ swapped for place in out]
        games.lose_unplayed(
            [Fault(seat=seat, turn=1, code=Ending.FORFEIT, detail=WHY) for seat in seats]
        )
    return games
