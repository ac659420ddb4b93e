"""A bot across the board from a person: one process, one game, nothing left behind.

The slot is built for thousands of games between two bots. Here one bot answers at the pace of a
person, by the same player, session and table and with the same faults.
"""

from __future__ import annotations

import contextlib
import select
import time
from pathlib import Path

from referee.arena.faults import no_answer
from referee.arena.game import Game, Setting
from referee.arena.player import Player, Upkeep
from referee.arena.stall import LATE_NS, SLICE_MS
from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.manifest import Bot
from referee.bots.process import Share
from referee.clock import DEFAULT_STARTUP_MS, DEFAULT_WARM_UP_MS, NS_PER_MS
from referee.protocol.codec import quote
from referee.protocol.messages import (
    Error,
    Misbehaved,
    MoveReceived,
    OddMoveReceived,
    ResignReceived,
    Start,
    Turn,
)
from referee.rules.variant import Seat
from referee.verdict import ENDS_PROCESS, BotFault, Ending, Verdict

Answer = MoveReceived | OddMoveReceived | ResignReceived


class Opponent:
    """The bot of a game that a person plays."""

    def __init__(
        self,
        bot: Bot,
        seat: Seat,
        game: Game,
        setting: Setting,
        *,
        startup_ms: int = DEFAULT_STARTUP_MS,
        warm_up_ms: int = DEFAULT_WARM_UP_MS,
        logs: Path | None = None,
        confinement: Confinement = UNCONFINED,
        share: Share | None = None,
    ) -> None:
        """`share` is what the bot gets of the processor; None is as much as the referee."""
        self.seat = seat
        self._game = game
        self._setting = setting
        self._warm_up_ns = warm_up_ms * NS_PER_MS
        upkeep = Upkeep(startup_ms=startup_ms, confinement=confinement, logs=logs, share=share)
        self._player = Player(seat, bot, upkeep)
        self._broken: Misbehaved | None = None
        """What the bot did wrong behind an answer: the answer counts, the next turn is lost."""

    @property
    def log(self) -> Path | None:
        """Where the bot's stderr is, if it wrote any."""
        log = self._player.log
        return log if log is not None and log.exists() else None

    def sit_down(self) -> None:
        """Start the bot; it hears of the game with its first turn. Raises BotFault."""
        self._player.start()
        game, setting, seat = self._game, self._setting, self.seat
        variant, seeds = setting.variant, game.order.bot_seeds
        self._player.outbox.append(
            Start(
                game.name,
                variant.name,
                variant.rules,
                variant.settings,
                seat,
                setting.players,
                setting.clock,
                seeds[seat],
            )
        )

    def move(self) -> None:
        """Ask the bot for its move and put it on the table. Raises BotFault."""
        try:
            self._move()
        except BotFault as fault:
            self._reproach(fault)
            raise

    def rest(self) -> None:
        """Let the bot stand still until its next move, if all its processes can be stopped."""
        process = self._player.process
        if process is not None and process.stops_whole:
            self._player.hold()

    def finish(self, verdict: Verdict) -> None:
        """Tell the bot how the game ended, if it still listens, and see it out."""
        if self._player.link is not None:
            self._player.outbox.append(self._game.over(self.seat, verdict))
        self._player.leave()

    def close(self) -> None:
        """End the bot at once, if it has not ended."""
        self._player.stop()

    def _move(self) -> None:
        table, player, seat = self._game.table, self._player, self.seat
        left_ns, limit_ns = table.clock.left_ns(seat), table.clock.limit_ns(seat)
        warm_up_ns = self._warm_up_ns if player.fresh else 0
        view, events, legal = table.request(seat)
        left_ms = None if left_ns is None else left_ns // NS_PER_MS
        turn_id = player.session.ask()
        player.outbox.append(Turn(self._game.name, turn_id, view, events, legal, left_ms))
        try:
            answer, spent_ns = self._exchange(None if limit_ns is None else limit_ns + warm_up_ns)
        except TimeoutError:
            raise no_answer(player, table.clock, seat, self._warm_up_ns) from None
        if player.fresh:
            player.fresh = False
            table.clock.excuse(seat, min(spent_ns, self._warm_up_ns))
        if isinstance(answer, ResignReceived):
            raise BotFault(Ending.RESIGN, "the bot resigned")
        note = answer.note if isinstance(answer, OddMoveReceived) else None
        try:
            table.answer(seat, answer.move, spent_ns, note)
        except BotFault as fault:
            raise BotFault(fault.code, fault.detail, quote(answer)) from None

    def _exchange(self, limit_ns: int | None) -> tuple[Answer, int]:
        """Send what waits in the outbox and hear the answer, and what time it took.

        Raises BotFault, or TimeoutError where nothing came in time.
        """
        player, link, session = self._player, self._player.link, self._player.session
        assert link is not None, "a bot that was ended is asked"
        if self._broken is not None:
            raise self._misbehaved(self._broken, ended=False)
        poll = select.poll()
        poll.register(link.fd, select.POLLIN)
        player.release()
        woke_ns, spent_ns = time.monotonic_ns(), 0
        try:
            link.write(session.pack(player.outbox))
            player.outbox.clear()
            while limit_ns is None or spent_ns <= limit_ns:
                left_ms = SLICE_MS if limit_ns is None else (limit_ns - spent_ns) // NS_PER_MS + 1
                ready = poll.poll(min(SLICE_MS, left_ms))
                now_ns = time.monotonic_ns()
                # Whoever stops the referee (Ctrl-Z, a closed lid) takes no time from the bot.
                spent_ns += min(now_ns - woke_ns, LATE_NS)
                woke_ns = now_ns
                if link.unsent:
                    link.flush()
                data = link.read() if ready else None
                if data is None:
                    continue
                answer: Answer | None = None
                for event in session.receive(data) if data else session.end_of_input():
                    if isinstance(event, Misbehaved) and answer is None:
                        raise self._misbehaved(event, ended=not data)
                    if isinstance(event, Misbehaved):
                        self._broken = event
                    elif isinstance(event, Answer) and (limit_ns is None or spent_ns <= limit_ns):
                        answer = event
                if answer is not None:
                    return answer, spent_ns
        except BrokenPipeError:
            told = player.last_words(player.hints.closed_input)
            raise BotFault(Ending.CRASH, told) from None
        raise TimeoutError

    def _misbehaved(self, event: Misbehaved, *, ended: bool) -> BotFault:
        detail = event.detail
        if ended:
            hints = self._player.hints
            detail = self._player.last_words(hints.closed_output)
            if event.received:
                detail += hints.in_the_middle
        return BotFault(Ending(event.code), detail, event.received)

    def _reproach(self, fault: BotFault) -> None:
        """Tell the bot for its author's log; after a fault of the process, end it."""
        player, ends = self._player, fault.code in ENDS_PROCESS
        if fault.code is not Ending.RESIGN:
            game = None if ends else self._game.name
            player.outbox.append(Error(fault.code, fault.detail, game))
        if ends:
            if player.link is not None:
                with contextlib.suppress(BrokenPipeError):
                    player.link.write(player.session.pack(player.outbox))
            player.stop()
