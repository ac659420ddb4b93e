"""The games of a slot: what waits, what is open, what is finished. No I/O.

Between the rules and the wire: it opens tables, puts what is to be said into the players' outboxes
and what is to be asked into their `due`, and turns verdicts into records.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from referee.arena.bookkeeper import Bookkeeper
from referee.arena.game import Game, Setting
from referee.clock import BankClock
from referee.protocol.messages import Error, Start, ToBot
from referee.record import Record
from referee.schedule import ATTEMPTS, GameOrder
from referee.verdict import AT_START, Ending, Fault, Verdict, blame

UNPLAYED = AT_START | {Ending.FORFEIT}


class Seated(Protocol):
    """One of the two who play, wherever they are: what it is told, and where it is to be asked."""

    index: int
    outbox: list[ToBot]
    due: list[Game]

    @property
    def dropped(self) -> int:
        """How many of its answers were late or given twice."""


class Games:
    """All games between two players."""

    __slots__ = (
        "_books",
        "_clock",
        "_dropped",
        "_names",
        "_setting",
        "_terms",
        "alone",
        "anew",
        "errors",
        "finished",
        "open",
        "players",
        "replayed",
        "stalls",
        "waiting",
    )

    def __init__(self, players: tuple[Seated, Seated], setting: Setting) -> None:
        self.players = players
        self._setting = setting
        variant, (first, second) = setting.variant, setting.players
        self._terms = (variant.name, variant.rules, variant.settings, setting.clock)
        """What is the same in the `start` of every game."""
        self._names = ((first, second), (second, first))
        """The players in seat order, by `swap`."""
        self._books = Bookkeeper(setting)
        clock = BankClock(setting.clock)
        self._clock = None if clock.banked else clock
        """One clock for all games, where there is no bank to be used up."""
        self._dropped = 0
        self.alone = False
        """Whether games are played one at a time, so that the CPU time of each move can be told."""
        self.waiting: deque[GameOrder] = deque()
        self.open: dict[int, Game] = {}
        self.finished: list[Record] = []
        self.replayed = 0
        """Games that were void by a stall or a bug and were played again."""
        self.stalls = 0
        self.anew = False
        """Whether both bots are started anew before the next game."""
        self.errors: dict[str, int] = {}
        """What failed in the variant's script or in the referee, and how often."""

    def order(self, orders: Iterable[GameOrder]) -> None:
        self.waiting.extend(orders)

    def begin(self) -> None:
        """Open a table for the next game and tell both players."""
        order = self.waiting.popleft()
        try:
            game = Game(order, self._setting, self._clock)
        except Exception as error:
            self._again_or_void(order, _nobody(Ending.REFEREE_ERROR, _where(error)))
            return
        self.open[id(game)] = game
        first, second = self.players
        name, swap, seeds = game.name, game.swap, order.bot_seeds
        variant, rules, options, clock = self._terms
        names, other = self._names[swap], 1 - swap
        first.outbox.append(Start(name, variant, rules, options, swap, names, clock, seeds[swap]))
        second.outbox.append(
            Start(name, variant, rules, options, other, names, clock, seeds[other])
        )
        self.after_round(game)

    def after_round(self, game: Game) -> None:
        """A round has been judged: ask on, or close the game."""
        due = game.table.due
        if len(due) == 2:
            first, second = self.players
            first.due.append(game)
            second.due.append(game)
        elif due:
            self.players[due[0] ^ game.swap].due.append(game)
        else:
            self.finish(game)

    def finish(self, game: Game) -> None:
        """There is a verdict: tell both, and keep the record."""
        verdict = game.table.verdict
        assert verdict is not None
        first, second = self.players
        swap = game.swap
        first.outbox.append(game.over(swap, verdict))
        second.outbox.append(game.over(1 - swap, verdict))
        # A line that nobody asked for names no game: it counts in the game that ends next.
        total = first.dropped + second.dropped
        dropped, self._dropped = total - self._dropped, total
        self.finished.append(self._books.record(game.order, verdict, game, dropped))
        del self.open[id(game)]

    # What seldom happens.

    def fail_one(
        self, player: Seated, game: Game, turn_id: int, code: Ending, detail: str, said: str
    ) -> None:
        """A fault that names its game (illegal, resign) loses that game alone."""
        table = game.table
        seat = player.index ^ game.swap
        if code is not Ending.RESIGN:
            player.outbox.append(Error(code, detail, game.name, turn_id))
        self._fail(game, table.fault(seat, code, detail, said))

    def fail_all(
        self,
        player: Seated,
        code: Ending,
        detail: str,
        said: str = "",
        spent_us: int | None = None,
        limit_us: int | None = None,
    ) -> None:
        """A fault that names no game loses every open game of this player."""
        for game in list(self.open.values()):
            table = game.table
            seat = player.index ^ game.swap
            self._fail(game, table.fault(seat, code, detail, said, spent_us, limit_us))

    def _fail(self, game: Game, fault: Fault) -> None:
        try:
            ended = game.table.fail(fault)
        except Exception as error:
            self.bug(game, error)
            return
        if ended:
            self._ask_no_more(game)
            self.after_round(game)

    def lose_unplayed(self, faults: list[Fault]) -> None:
        """The next game is lost, or void, before it could begin."""
        order = self.waiting.popleft()
        try:
            game = Game(order, self._setting, self._clock)
            scores = game.table.variant.scores(game.table.position)
        except Exception as error:
            self._again_or_void(order, _nobody(Ending.REFEREE_ERROR, _where(error)))
            return
        # A bot that came up and broke the protocol in the same breath failed in its first turn.
        faults = [
            fault if fault.code in UNPLAYED else replace(fault, turn=game.table.turn_of(fault.seat))
            for fault in faults
        ]
        verdict = blame(tuple(faults), scores)
        self.finished.append(self._books.record(order, verdict, game))

    def bug(self, game: Game, error: Exception) -> None:
        """The variant's script or the referee failed: nobody loses by it."""
        verdict = _nobody(Ending.REFEREE_ERROR, _where(error))
        self._call_off(game, verdict)
        self._again_or_void(game.order, verdict)

    def stalled(self) -> None:
        """The host stood still: every open game is played again."""
        verdict = _nobody(Ending.HOST_STALL, "the referee was not running while a clock ran out")
        games = list(self.open.values())
        self.stalls += 1
        for game in reversed(games):
            if game.table.end_by_fault():
                # The other seat had failed before: that stands, whatever the host did since.
                self._ask_no_more(game)
                self.after_round(game)
                continue
            self._call_off(game, verdict)
            self._again_or_void(game.order, verdict)

    def abandon(self) -> list[GameOrder]:
        """Nobody can wait for the open games any more: they are void, and come back as orders."""
        verdict = _nobody(Ending.VOID, "the referee stops")
        games = list(self.open.values())
        for game in games:
            self._call_off(game, verdict)
        return [game.order for game in games]

    def _call_off(self, game: Game, verdict: Verdict) -> None:
        """Take a game off the table; both players are told that it is void."""
        game.table.verdict = verdict
        del self.open[id(game)]
        self._ask_no_more(game)
        for player in self.players:
            player.outbox.append(game.over(player.index ^ game.swap, verdict))

    def _ask_no_more(self, game: Game) -> None:
        for player in self.players:
            player.due = [due for due in player.due if due is not game]

    def _again_or_void(self, order: GameOrder, verdict: Verdict) -> None:
        if verdict.ending is Ending.REFEREE_ERROR:
            self.errors[verdict.reason] = self.errors.get(verdict.reason, 0) + 1
        if order.attempt < ATTEMPTS:
            self.replayed += 1
            self.anew = order.replayed_anew
            self.waiting.appendleft(order.again())
        else:
            self.finished.append(self._books.record(order, verdict))


def _nobody(ending: Ending, reason: str) -> Verdict:
    """A void game that is nobody's fault."""
    return Verdict(ending, reason, None, (), (0, 0))


def _where(error: Exception) -> str:
    """The exception and the line that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = ""
    if trace is not None:
        place = f" at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
    return f"{type(error).__name__}: {error}{place}"
