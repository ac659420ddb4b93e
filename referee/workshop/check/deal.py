"""One game that the check deals: the bot in one seat, random legal moves in the other.

All luck comes from the number of the game, so each check of a bot deals the same games.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from referee.arena.game import Game, Setting
from referee.clock import BankClock, Clock
from referee.protocol.codec import quote
from referee.protocol.messages import (
    MoveReceived,
    OddMoveReceived,
    Over,
    ResignReceived,
    Start,
    Turn,
)
from referee.record import BotInfo
from referee.rules.chance import Seeded
from referee.rules.registry import BadVariant, blame_script
from referee.rules.variant import Seat, Variant
from referee.schedule import game_orders
from referee.table import Request
from referee.verdict import BotFault, Ending, Verdict

Answer = MoveReceived | OddMoveReceived | ResignReceived
AnyVariant = Variant[Any, Any]
OPPONENT = "check"
SEED = "check"
STALLED = Verdict(Ending.HOST_STALL, "host_stall", None, (), (0, 0))


class Rival(Struct, frozen=True):
    """Who plays the other seat."""

    name: str
    habit: int | None = None
    """The place of its moves in the list of legal ones: 0 the first, -1 the last, None any."""


RANDOM = Rival(OPPONENT)


class Deal:
    """A game of the bot against a rival."""

    def __init__(
        self,
        variant: AnyVariant,
        seat: Seat,
        number: int,
        bot: str,
        clock: Clock,
        rival: Rival = RANDOM,
    ) -> None:
        self.variant = variant
        self.seat = seat
        self.turns = 0
        """Turns that the bot was asked to play."""
        self.moves: list[object] = []
        """What the bot has played; None where it resigned."""
        self.ids: list[int] = []
        """Those of its turns."""
        self.called_off = False
        self._clock = clock
        self._rival = rival
        self._players = (bot, rival.name) if seat == 0 else (rival.name, bot)
        setting = Setting(
            variant=variant, clock=clock, players=self._players, bots=(BotInfo("", ""),) * 2
        )
        (self._order,) = game_orders(f"{SEED}/{variant.name}", [number], hidden_chance=False)
        self._luck = Seeded(f"{SEED}/{number}/{OPPONENT}")
        with self._blaming():
            self._game = Game(self._order, setting, BankClock(clock))

    @property
    def name(self) -> str:
        return self._game.name

    @property
    def over(self) -> bool:
        return self._game.table.verdict is not None

    def __str__(self) -> str:
        return f"{self.variant.name}, seat {self.seat}, turn {self.turns}"

    def start(self) -> Start:
        return Start(
            self.name,
            self.variant.name,
            self.variant.rules,
            self.variant.settings,
            self.seat,
            self._players,
            self._clock,
            self._order.bot_seeds[self.seat],
        )

    def request(self) -> Request | None:
        """What the bot is asked next; None once the game is over. The other side has moved."""
        table, other = self._game.table, 1 - self.seat
        with self._blaming():
            while table.due:
                if table.owes(other):
                    self._move(other)
                elif table.owes(self.seat):
                    self.turns += 1
                    return table.request(self.seat)
        return None

    def turn(self, turn_id: int) -> Turn | None:
        """The bot's next turn; None once the game is over."""
        request = self.request()
        if request is None:
            return None
        view, events, legal = request
        self.ids.append(turn_id)
        return Turn(self.name, turn_id, view, events, legal, self._clock.move_ms)

    def answer(self, answer: Answer) -> None:
        """Take the bot's answer. Raises BotFault, illegal or garbled."""
        if isinstance(answer, ResignReceived):
            self._fail(self.seat, Ending.RESIGN, "the bot resigned")
            self.moves.append(None)
            return
        try:
            with self._blaming():
                self._game.table.answer(self.seat, answer.move, 0)
        except BotFault as fault:
            raise BotFault(fault.code, fault.detail, quote(answer)) from None
        self.moves.append(answer.move)

    def call_off(self) -> None:
        """The other side has had enough: the bot wins."""
        self.called_off = True
        self._fail(1 - self.seat, Ending.RESIGN, "the check has seen enough")

    def end(self) -> Over:
        """What the bot is told of the end."""
        verdict = self._game.table.verdict
        assert verdict is not None, "a game that goes on has no end"
        return self._game.over(self.seat, verdict)

    def break_off(self) -> Over:
        """What the bot is told where the referee itself failed in the middle of the game."""
        return self._game.over(self.seat, STALLED)

    def condemn(self) -> Over:
        """What the bot is told after an `error`: it lost by an illegal move."""
        self._fail(self.seat, Ending.ILLEGAL, "the check says so")
        return self.end()

    @property
    def resigned(self) -> bool:
        """Whether the bot gave the game up."""
        verdict = self._game.table.verdict
        return (
            verdict is not None
            and verdict.ending is Ending.RESIGN
            and self.seat in verdict.at_fault
        )

    @property
    def given_up(self) -> bool:
        """Whether the bot resigned as soon as it was asked: no game was played."""
        return self.resigned and self.turns == 1

    def _fail(self, seat: Seat, code: Ending, detail: str) -> None:
        table = self._game.table
        with self._blaming():
            table.fail(table.fault(seat, code, detail))
            table.end_by_fault()

    def _move(self, seat: Seat) -> None:
        table = self._game.table
        _, _, legal = table.request(seat)
        if legal is None:
            raise BadVariant(
                f"{self.variant.name} does not list its legal moves, so the check has no opponent "
                "for the bot; name other variants with --variant"
            )
        habit = self._rival.habit
        place = self._luck.pick(len(legal)) if habit is None else habit
        table.answer(seat, legal[place], 0)

    @contextmanager
    def _blaming(self) -> Iterator[None]:
        """What fails in a user's script is the script's, not the bot's nor the referee's."""
        try:
            yield
        except (BotFault, BadVariant, OSError):
            raise
        except Exception as error:
            if type(self.variant).__module__.startswith("referee."):
                raise
            raise BadVariant(blame_script(error, type(self.variant))) from error
