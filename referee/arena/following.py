"""Games told move by move while they are played, as far as both seats know them.

A secret of one seat must not reach the other by way of an onlooker: what is told are the lines that
the accounts of the two seats have in common.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from referee.arena.game import Game, Setting
from referee.arena.happenings import Began, Ended, Happening, Moved
from referee.verdict import Verdict

MOST_A_SECOND = 5
"""Of games that begin in a second: quick bots play hundreds, and nobody can follow those."""


class Followed:
    """One game that is told."""

    def __init__(self, match: int, game: Game, setting: Setting) -> None:
        first, second = setting.players
        self.game = game
        self._match = match
        self._variant = setting.variant
        self._players = (second, first) if game.swap else (first, second)
        self._position: Any = game.table.position
        self._told = 0

    def began(self) -> Began:
        variant = self._variant
        lines = variant.opening(self._position, self._players)
        return Began(self._match, self.game.name, variant.name, self._players, lines)

    def went_on(self) -> Moved | None:
        """What has been played since this was last asked."""
        table, narrate = self.game.table, self._variant.narrate
        before, after = self._position, table.position
        plays = tuple(table.moves[self._told :])
        self._position, self._told = after, len(table.moves)
        if not plays:
            return None
        first, second = (narrate(before, plays, after, self._players, seat) for seat in (0, 1))
        lines = [line for line in first if line in second]
        return Moved(self._match, self.game.name, self._told, lines)

    def ended(self, verdict: Verdict) -> Ended:
        return Ended(
            self._match,
            self.game.name,
            self._variant.name,
            self._players,
            verdict.winner,
            verdict.ending,
            verdict.scores,
        )


class Following:
    """Which games are told, and what there is to tell."""

    def __init__(self) -> None:
        self.most = 0
        """So many games at a time."""
        self.games: dict[int, Followed] = {}
        self.told: list[Happening] = []
        self._began: deque[float] = deque(maxlen=MOST_A_SECOND)
        """When the last of them began."""

    def begin(self, match: int, game: Game, setting: Setting) -> None:
        """A game begins: is it told?"""
        if len(self.games) >= self.most or self._is_one_too_many(game.started):
            return
        followed = Followed(match, game, setting)
        try:
            self.told.append(followed.began())
        except Exception:
            return  # The text of a variant's script is no reason to stop a game.
        self.games[id(game)] = followed
        self._began.append(game.started)

    def _is_one_too_many(self, at: float) -> bool:
        began = self._began
        # A clock that was set back would otherwise silence it for as long.
        return len(began) == MOST_A_SECOND and 0 <= at - began[0] < 1.0

    def look(self, game: Game) -> None:
        """A round has been judged in a game."""
        followed = self.games.get(id(game))
        if followed is None:
            return
        try:
            moved = followed.went_on()
        except Exception:
            moved = None
        if moved is not None:
            self.told.append(moved)
        verdict = game.table.verdict
        if verdict is not None:
            del self.games[id(game)]
            self.told.append(followed.ended(verdict))

    def look_at_all(self) -> None:
        """After something that may have ended any of them."""
        for followed in list(self.games.values()):
            if followed.game.table.verdict is not None:
                self.look(followed.game)
