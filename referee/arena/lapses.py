"""Lapses of guests: what one did wrong, and what follows for its games and for itself.

All of it off the path of every answer. Unlike the bots of a slot, guests cannot be started anew:
one that was late stays, and has to show that it is there before its next game; one whose words
cannot be understood is shown out until it says hello again.
"""

from __future__ import annotations

from collections.abc import Callable

from referee.arena.boards import Answer, Boards
from referee.arena.faults import no_answer
from referee.arena.guest import NEVER_NS, Asked, Guest
from referee.arena.reception import Reception
from referee.clock import NS_PER_MS
from referee.protocol.codec import quote
from referee.protocol.messages import Error, OddMoveReceived, ResignReceived
from referee.verdict import ENDS_PROCESS, BotFault, Ending


class Lapses:
    """The lapses of all guests of a hall."""

    def __init__(
        self, boards: Boards, reception: Reception, warm_up_ms: int, now_ns: Callable[[], int]
    ) -> None:
        self._boards = boards
        self._reception = reception
        self._warm_up_ns = warm_up_ms * NS_PER_MS
        self._now_ns = now_ns
        self.stalled_ns = 0
        """How long the hall was deaf in all."""

    # Time.

    def next_deadline(self, guest: Guest, now_ns: int) -> int:
        """When the first of its open turns will be late; where one is, its games are lost."""
        next_ns = NEVER_NS
        for turn_id, asked in list(guest.turns.items()):
            game, _, since_ns, stalled_ns, _ = asked
            if game.table.verdict is not None:
                guest.session.withdraw(turn_id)
                del guest.turns[turn_id]
                continue
            limit_ns = self._limit_ns(guest, asked)
            if limit_ns is None:
                continue
            # What the host took, a silent guest gets on top.
            deadline_ns = since_ns + limit_ns + self.stalled_ns - stalled_ns
            if deadline_ns < now_ns:
                self._time_out(guest, asked, now_ns - since_ns, silent=True)
                return NEVER_NS
            next_ns = min(next_ns, deadline_ns)
        return next_ns

    def _limit_ns(self, guest: Guest, asked: Asked) -> int | None:
        game, side, *_ = asked
        limit_ns = game.table.clock.limit_ns(side.index ^ game.swap)
        if limit_ns is None or not guest.fresh:
            return limit_ns
        return limit_ns + self._warm_up_ns

    def is_late(self, guest: Guest, asked: Asked, spent_ns: int) -> bool:
        """Look closely at an answer that may be late, or is the first one."""
        game, side, _, stalled_ns, _ = asked
        limit_ns = self._limit_ns(guest, asked)
        if limit_ns is not None and spent_ns > limit_ns:
            if spent_ns - (self.stalled_ns - stalled_ns) <= limit_ns:
                self._boards.stalled(side)
            else:
                self._time_out(guest, asked, spent_ns)
            return True
        if guest.fresh:
            guest.fresh = False
            game.table.clock.excuse(side.index ^ game.swap, min(spent_ns, self._warm_up_ns))
        return False

    def _time_out(self, guest: Guest, asked: Asked, spent_ns: int, *, silent: bool = False) -> None:
        """A guest is late: it loses its games, and has to show that it is there before the next."""
        game, side, *_ = asked
        seat = side.index ^ game.swap
        fault = no_answer(guest, game.table.clock, seat, self._warm_up_ns, silent=silent)
        limit_ns = self._limit_ns(guest, asked)
        guest.forget_turns()
        guest.outbox.append(Error(fault.code, fault.detail))
        self._boards.lose_all(
            guest,
            fault.code,
            fault.detail,
            fault.received,
            spent_us=spent_ns // 1000,
            limit_us=None if limit_ns is None else limit_ns // 1000,
        )
        self._reception.ping(guest, self._now_ns())

    # Words.

    def odd_answer(
        self, guest: Guest, asked: Asked, event: OddMoveReceived | ResignReceived, at_ns: int
    ) -> None:
        game, side, since_ns, *_ = asked
        spent_ns = at_ns - since_ns
        if game.table.verdict is not None:
            return
        if self.is_late(guest, asked, spent_ns):
            return
        try:
            if isinstance(event, ResignReceived):
                raise BotFault(Ending.RESIGN, "the bot resigned")
            seat = side.index ^ game.swap
            if game.table.answer(seat, event.move, spent_ns, event.note):
                self._boards.judged(side, game)
        except BotFault as fault:
            self.bad_answer(guest, asked, fault, event)
        except Exception as error:
            self._boards.bug(side, game, error)

    def bad_answer(
        self,
        guest: Guest,
        asked: Asked,
        fault: BotFault,
        event: Answer,
    ) -> None:
        game, side, *_ = asked
        said = "" if isinstance(event, ResignReceived) else quote(event)
        if fault.code in ENDS_PROCESS:
            self.show_out(guest, fault.code, fault.detail, said)
        else:
            self._boards.lose_one(side, game, event, fault.code, fault.detail, said)

    def show_out(self, guest: Guest, code: Ending, detail: str, said: str = "") -> None:
        """After garbled or flood, a guest is not listened to until it says hello again."""
        self._reception.dropped[code] += 1
        self._reception.show_out(guest, detail, code, said)
