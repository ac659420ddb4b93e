"""What is going on right now, put together from live events: running games, and who is here.

A page shows it to somebody who has just come, and who will hear of the rest by events. Events can
be lost, so what is not heard of for a while is forgotten; and there is a most of everything.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from referee.web.live import Event, called_of
from referee.web.shapes import LiveGame

MOST_GAMES = 300
MOST_LINES = 400
MOST_GUESTS = 5000
FORGOTTEN_S = 600.0
ENDED_S = 30.0
"""How long a game is known after its end: games are committed once a second."""


class Heard(Struct, frozen=True):
    """A running game as the coordinator tells it."""

    game: LiveGame
    called: dict[str, str]
    """Who is meant by the names in its lines, where those are made up."""


class Running:
    """Hears every event; asked by handlers in other threads, who get copies."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._games: OrderedDict[str, tuple[float, Heard]] = OrderedDict()
        self._ended: OrderedDict[str, tuple[float, Heard]] = OrderedDict()
        self._guests: OrderedDict[str, None] = OrderedDict()
        self.counters: dict[str, float | dict[str, float]] = {}
        """What the coordinator counts, for /metrics."""

    @property
    def has_room(self) -> bool:
        """Whether the disk has room for games, as far as the coordinator has told."""
        return self.counters.get("room_on_disk") != 0

    def hear(self, event: Event) -> None:
        match event:
            case {"type": "began", "game": str(game), "players": [str(first), str(second)]}:
                self._put(
                    LiveGame(
                        game=game,
                        variant=str(event.get("variant", "")),
                        players=(first, second),
                        moves=0,
                        lines=_lines(event),
                        scores=None,
                    ),
                    called_of(event),
                )
            case {"type": "moved", "game": str(game)} if game in self._games:
                heard = self._games[game][1]
                self._put(_moved(heard.game, event), heard.called)
            case {"type": "ended", "game": str(game)}:
                self._end(game)
            case {"type": "guest", "name": str(name), "state": "arrived"}:
                self._guests[name] = None
                while len(self._guests) > MOST_GUESTS:
                    self._guests.popitem(last=False)
            case {"type": "guest", "name": str(name)}:
                self._guests.pop(name, None)
            case {"type": "guests", "names": list(names)}:
                self._guests = OrderedDict.fromkeys(str(name) for name in names[:MOST_GUESTS])
            case {"type": "counters", "values": dict(values)}:
                self.counters = {
                    str(name): _numbers(value) if isinstance(value, dict) else float(value)
                    for name, value in list(values.items())[:200]
                    if isinstance(value, int | float | dict)
                }

    def _put(self, game: LiveGame, called: dict[str, str]) -> None:
        now = self._now()
        self._games[game.game] = (now, Heard(game, called))
        self._games.move_to_end(game.game)
        while self._games:
            oldest, (heard, _) = next(iter(self._games.items()))
            if len(self._games) <= MOST_GAMES and now - heard < FORGOTTEN_S:
                break
            del self._games[oldest]

    def _end(self, game: str) -> None:
        heard = self._games.pop(game, None)
        if heard is not None:
            self._ended[game] = (self._now(), heard[1])
            while len(self._ended) > MOST_GAMES:
                self._ended.popitem(last=False)

    def just_ended(self) -> list[Heard]:
        """Games that may not be in the store yet."""
        since = self._now() - ENDED_S
        return [game for at, game in list(self._ended.values()) if at >= since]

    def games(self) -> list[Heard]:
        """The one heard of last first."""
        since = self._now() - FORGOTTEN_S
        return [game for heard, game in reversed(list(self._games.values())) if heard >= since]

    def guests(self) -> set[str]:
        """The names of the bots that are connected."""
        return set(self._guests)


def _moved(game: LiveGame, event: Event) -> LiveGame:
    scores: Any = event.get("scores")
    number = event.get("move_number")
    return LiveGame(
        game=game.game,
        variant=game.variant,
        players=game.players,
        moves=number if isinstance(number, int) else game.moves + 1,
        lines=[*game.lines, *_lines(event)][-MOST_LINES:],
        scores=(int(scores[0]), int(scores[1])) if _two_numbers(scores) else game.scores,
    )


def _two_numbers(scores: object) -> bool:
    return (
        isinstance(scores, list)
        and len(scores) == 2
        and all(isinstance(each, int) for each in scores)
    )


def _lines(event: Event) -> list[str]:
    lines = event.get("lines")
    return [str(line)[:500] for line in lines[:50]] if isinstance(lines, list) else []


def _numbers(by: dict[Any, Any]) -> dict[str, float]:
    some = list(by.items())[:200]
    return {str(why): float(value) for why, value in some if isinstance(value, int | float)}
