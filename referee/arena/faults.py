"""Faults: what a bot did wrong, and what follows for its games and its process.

All of it off the path of every answer. The methods that judge an answer say whether the player's
process is gone by it.
"""

from __future__ import annotations

import contextlib
import select
import time
from collections.abc import Callable, Iterator
from typing import Protocol

from referee.arena.game import Game
from referee.arena.games import Games
from referee.arena.hints import Hints
from referee.arena.player import Player
from referee.arena.stall import tells_against
from referee.arena.switchboard import Switchboard
from referee.clock import NS_PER_MS, BankClock
from referee.protocol.codec import quote
from referee.protocol.messages import (
    FLOOD_BYTES,
    Error,
    Event,
    Misbehaved,
    MoveReceived,
    OddMoveReceived,
    ResignReceived,
)
from referee.protocol.session import Session, State
from referee.rules.variant import Seat
from referee.verdict import ENDS_PROCESS, BotFault, Ending

FLOOD_LOOK_S = 1.0
FLOOD_QUIET_MS = 5

Answer = MoveReceived | OddMoveReceived | ResignReceived


class Silent(Protocol):
    """Who owes an answer."""

    session: Session
    fresh: bool
    hints: Hints


def no_answer(
    player: Silent, clock: BankClock, seat: Seat, warm_up_ns: int, *, silent: bool = True
) -> BotFault:
    """That a player is late, what the time was made of that it had, and what to look for.

    `warm_up_ns` is for a process that has answered nothing yet; `silent` is False where an answer
    did come, after its time.
    """
    left_ns, limit_ns = clock.left_ns(seat), clock.limit_ns(seat)
    assert left_ns is not None
    assert limit_ns is not None
    extra = {"grace": limit_ns - left_ns, "warm-up": warm_up_ns if player.fresh else 0}
    parts = [f"{name} {ns // NS_PER_MS} ms" for name, ns in extra.items() if ns]
    made_of = f" ({', '.join([f'{left_ns // NS_PER_MS} ms', *parts])})" if parts else ""
    told = f"no answer within {(left_ns + sum(extra.values())) // NS_PER_MS} ms{made_of}"
    said = player.session.unfinished()
    if said:
        told += player.hints.half
    elif silent and player.fresh:
        told += player.hints.no_first_answer
    return BotFault(Ending.TIMEOUT, told, said)


class Faults:
    """The faults in the games of a slot."""

    def __init__(
        self,
        players: tuple[Player, Player],
        games: Games,
        board: Switchboard,
        warm_up_ms: int,
        excuse: Callable[[int], None],
    ) -> None:
        self._players = players
        self._games = games
        self._excuse = excuse
        """Takes nanoseconds that the referee spent on one bot's fault off the other's clock."""
        self._board = board
        self._warm_up_ns = warm_up_ms * NS_PER_MS

    # Late answers.

    def least_limit_ns(self, player: Player) -> int | None:
        """The least time after which one of the open turns may be late."""
        limits_ns = [
            limit_ns
            for game in player.turns.values()
            if (limit_ns := self._limit_ns(player, game)) is not None
        ]
        return min(limits_ns, default=None)

    def _limit_ns(self, player: Player, game: Game) -> int | None:
        """After how long this player's answer in this game is late."""
        limit_ns = game.table.clock.limit_ns(player.index ^ game.swap)
        if limit_ns is None or not player.fresh:
            return limit_ns
        return limit_ns + self._warm_up_ns

    def silent(self, player: Player, spent_ns: int) -> None:
        """Nothing came within the least limit of the open turns."""
        games = player.turns.values()
        game = min(games, key=lambda game: self._limit_ns(player, game) or 0)
        self.late(player, game, spent_ns, silent=True)

    @contextlib.contextmanager
    def _off_the_clock(self) -> Iterator[None]:
        began_ns = time.monotonic_ns()
        yield
        self._excuse(time.monotonic_ns() - began_ns)

    def late(self, player: Player, game: Game, spent_ns: int, *, silent: bool = False) -> bool:
        """Judge an answer, or a silence, past the least limit; False if this game's own holds."""
        limit_ns = self._limit_ns(player, game)
        if limit_ns is None or spent_ns <= limit_ns:
            return False
        with self._off_the_clock():
            if spent_ns - player.stalled_ns <= limit_ns and not self._stalls_itself(player):
                self._games.stalled()
                self.stop(player)
                return True
            clock, seat = game.table.clock, player.index ^ game.swap
            fault = no_answer(player, clock, seat, self._warm_up_ns, silent=silent)
            self._break(
                player,
                fault.code,
                fault.detail,
                fault.received,
                spent_us=spent_ns // 1000,
                limit_us=limit_ns // 1000,
            )
        return True

    def _stalls_itself(self, player: Player) -> bool:
        """The host stood still in a turn of this player. Does that happen to it alone?"""
        own, other = player.stall_count, self._players[1 - player.index].stall_count
        return tells_against(own, other)

    def first_answer(self, player: Player, game: Game, spent_ns: int) -> None:
        """The process has warmed up; what that took of the time allowed for it is not charged."""
        player.fresh = False
        game.table.clock.excuse(player.index ^ game.swap, min(spent_ns, self._warm_up_ns))

    # What came.

    def hear_odd(self, player: Player, event: Event, data: bytes, at_ns: int) -> bool:
        """Anything but a plain move."""
        if isinstance(event, Misbehaved):
            with self._off_the_clock():
                self._misbehaved(player, event, ended=not data)
            return True
        if not isinstance(event, OddMoveReceived | ResignReceived):
            return False
        game = player.turns.pop(event.id)
        spent_ns = max(0, at_ns - player.since_ns)
        player.answered_ns = at_ns
        if game.table.verdict is not None:
            return False
        if self.late(player, game, spent_ns):
            return True
        if player.fresh:
            self.first_answer(player, game, spent_ns)
        try:
            if isinstance(event, ResignReceived):
                raise BotFault(Ending.RESIGN, "the bot resigned")
            seat = player.index ^ game.swap
            cpu_us = player.cpu_used_us() if self._games.alone else None
            if game.table.answer(seat, event.move, spent_ns, event.note, cpu_us):
                self._games.after_round(game)
        except BotFault as fault:
            return self.bad_answer(player, game, fault, event)
        except Exception as error:
            self._games.bug(game, error)
        return False

    def bad_answer(self, player: Player, game: Game, fault: BotFault, event: Answer) -> bool:
        """A complete answer that is at fault."""
        said = "" if isinstance(event, ResignReceived) else quote(event)
        player.blamed |= fault.code is not Ending.RESIGN
        if fault.code in ENDS_PROCESS:
            with self._off_the_clock():
                self._break(player, fault.code, fault.detail, said)
            return True
        self._games.fail_one(player, game, event.id, fault.code, fault.detail, said)
        return False

    def _misbehaved(self, player: Player, event: Misbehaved, *, ended: bool) -> None:
        code, detail = Ending(event.code), event.detail
        if ended:
            detail = player.last_words(player.hints.closed_output)
            if event.received:
                detail += player.hints.in_the_middle
        elif code is Ending.GARBLED and self._keeps_talking(player):
            code, detail = Ending.FLOOD, f"more than {FLOOD_BYTES} bytes that nobody asked for"
        self._break(player, code, detail, event.received)

    def _keeps_talking(self, player: Player) -> bool:
        """After a garbled line: does the bot go on and on? Then it is a flood."""
        assert player.link is not None
        assert player.process is not None
        poll = select.poll()
        poll.register(player.link.fd, select.POLLIN)
        heard = 0
        give_up = time.monotonic() + FLOOD_LOOK_S
        while heard <= FLOOD_BYTES and time.monotonic() < give_up:
            if not poll.poll(FLOOD_QUIET_MS):
                if player.process.waits():
                    return False
                continue  # On a busy host it has not come to its next line yet.
            data = player.link.read()
            if not data:
                return False
            heard += len(data)
        return heard > FLOOD_BYTES

    def input_closed(self, player: Player) -> None:
        """The bot does not read any more."""
        with self._off_the_clock():
            self._break(player, Ending.CRASH, player.last_words(player.hints.closed_input))

    def _break(
        self,
        player: Player,
        code: Ending,
        detail: str,
        said: str = "",
        spent_us: int | None = None,
        limit_us: int | None = None,
    ) -> None:
        """A fault that names no game: every open game of this bot is lost, and its process ends."""
        link, session = player.link, player.session
        if link is not None and code is not Ending.CRASH and session.state is not State.GREETING:
            # For its author's log, should it still read.
            with contextlib.suppress(BrokenPipeError):
                link.write(session.pack([*player.outbox, Error(code, detail)]))
        self.stop(player)
        self._games.fail_all(player, code, detail, said, spent_us, limit_us)

    def stop(self, player: Player) -> None:
        """End the player's process; what it still owes is forgotten."""
        self._board.forget(player)
        player.stop()
