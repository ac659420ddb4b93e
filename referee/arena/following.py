"""Games told move by move while they are played, as far as both seats know them.

A secret of one seat must not reach the other by way of an onlooker: what is told are the lines that
the accounts of the two seats have in common.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Collection
from typing import Any

from referee.arena.game import Game, Setting
from referee.arena.happenings import Began, Ended, Happening, Moved
from referee.rules.chance import Seeded
from referee.rules.variant import Plays
from referee.verdict import Verdict

MOST_A_SECOND = 5
"""Of games that begin in a second: quick bots play hundreds, and nobody can follow those."""
MOST_ROUNDS = 20
"""Of one game between two looks at it: nobody reads more at once."""
LOOK_S = 0.25
"""How often a slot's game is looked at, and how old it must be: most are over by then."""


class Followed:
    """One game that is told.

    It is played once more beside its table, from the same luck and round by round: so it can be
    looked at as seldom as one likes, and told from its beginning though that was missed.
    """

    def __init__(self, match: int, game: Game, setting: Setting) -> None:
        first, second = setting.players
        self.game = game
        self._match = match
        self._variant = setting.variant
        self._players = (second, first) if game.swap else (first, second)
        self._chance = Seeded(game.order.chance_seed)
        self._position: Any = setting.variant.setup(self._chance)
        self._told = 0

    def began(self) -> Began:
        variant = self._variant
        lines = variant.opening(self._position, self._players)
        return Began(self._match, self.game.name, variant.name, self._players, lines)

    def went_on(self) -> list[Moved]:
        """The rounds that have been played since this was last asked; of many, the last."""
        variant, moves = self._variant, self.game.table.moves
        rounds = []
        while self._told < len(moves):
            before = self._position
            end = self._told + len(variant.actors(before))
            plays = tuple(moves[self._told : end])
            self._position = after = variant.apply(before, plays, self._chance)
            self._told = end
            rounds.append((before, plays, after, end))
        told = [self._moved(*each) for each in rounds[-MOST_ROUNDS:]]
        if len(rounds) > MOST_ROUNDS:
            told[0].lines.insert(0, "…")
        return told

    def _moved(self, before: Any, plays: Plays[Any], after: Any, number: int) -> Moved:
        narrate = self._variant.narrate
        first, second = (narrate(before, plays, after, self._players, seat) for seat in (0, 1))
        lines = [line for line in first if line in second]
        return Moved(self._match, self.game.name, number, lines)

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
        try:
            followed = Followed(match, game, setting)
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
        # The text of a variant's script is no reason to stop a game.
        with contextlib.suppress(Exception):
            self.told += followed.went_on()
        verdict = game.table.verdict
        if verdict is not None:
            del self.games[id(game)]
            self.told.append(followed.ended(verdict))

    def look_at_all(self) -> None:
        """After something that may have ended any of them."""
        for followed in list(self.games.values()):
            if followed.game.table.verdict is not None:
                self.look(followed.game)


class Onlooker:
    """Tells one game of a slot at a time, some times a second.

    A slot asks it in when it has to do something else than play anyway, so that games which nobody
    could follow cost nothing.
    """

    def __init__(
        self,
        match: int,
        setting: Setting,
        tell: Callable[[Began | Moved], None],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._match = match
        self._setting = setting
        self._tell = tell
        self._now = now
        self._looked = 0.0
        self._following = Following()
        self._following.most = 1

    def look(self, opened: Collection[Game]) -> None:
        """These games are being played."""
        now = self._now()
        # A clock that was set back would otherwise blind it for as long.
        if 0 <= now - self._looked < LOOK_S:
            return
        self._looked = now
        following = self._following
        if not following.games:
            old = [game for game in opened if now - game.started >= LOOK_S]
            if old:
                newest = min(old, key=lambda game: len(game.table.moves))
                following.begin(self._match, newest, self._setting)
        for followed in list(following.games.values()):
            following.look(followed.game)
        self._pass_on()

    def settle(self) -> bool:
        """Games have ended: first the last moves of the one that was told. Whether it is one of
        them, and somebody waits to hear how it ended."""
        if not self._following.games:
            return False
        self._following.look_at_all()
        self._pass_on()
        return not self._following.games

    def _pass_on(self) -> None:
        told, self._following.told = self._following.told, []
        for happening in told:
            # How it ended, its record tells.
            if isinstance(happening, Began | Moved):
                self._tell(happening)
