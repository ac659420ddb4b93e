"""The hot loop: two bots, any number of games between them, one core.

    deal games → ask who is due, all that is due in one write → poll → hear answers → judge → record

A plain synchronous loop: the arena owns file descriptors and time and hands values to the session
and the table, which do no I/O. One bot of a slot thinks at a time, since two that think at once on
one core would each see the other's work as lost time (`think="parallel"` asks both at once).

`_exchange` and `_listen` are the path of every answer. Between two exchanges the processor has run
the kernel and another program, so here Python runs cold and every call costs several times its
usual price: the two functions are long and flat on purpose, and what happens seldom is elsewhere.
"""

from __future__ import annotations

import contextlib
import gc
import select
import time
from collections.abc import Callable, Iterable, Iterator
from os import read, write
from pathlib import Path
from typing import Literal

from msgspec import Struct

from referee.arena.game import Game, Setting
from referee.arena.games import Games
from referee.arena.player import Player, Upkeep
from referee.arena.stall import LATE_NS, SLICE_MS, StallWatch
from referee.bots.manifest import Bot
from referee.clock import DEFAULT_STARTUP_MS, DEFAULT_WARM_UP_MS, NS_PER_MS
from referee.links.pipe import READ_SIZE
from referee.protocol.codec import encode, quote
from referee.protocol.messages import (
    FLOOD_BYTES,
    Error,
    Event,
    Misbehaved,
    MoveReceived,
    OddMoveReceived,
    ResignReceived,
    Turn,
)
from referee.protocol.session import State
from referee.record import Record
from referee.schedule import GameOrder
from referee.verdict import ENDS_PROCESS, BotFault, Ending, Fault

FLOOD_LOOK_S = 0.1
FLOOD_QUIET_MS = 5
GARBAGE_THRESHOLD = 100_000
"""New objects between two looks of the garbage collector: a game leaves no cycles behind."""


class House(Struct, frozen=True, kw_only=True):
    """The rules of the house: how bots are started, timed and asked."""

    startup_ms: int = DEFAULT_STARTUP_MS
    warm_up_ms: int = DEFAULT_WARM_UP_MS
    think: Literal["in turn", "parallel"] = "in turn"
    at_once: int = 64
    """The most games on one link, whatever the bots offer."""
    logs: Path | None = None
    keeper_cores: frozenset[int] | None = None


class Slot:
    """Plays the games of one pairing."""

    def __init__(
        self,
        bots: tuple[Bot, Bot],
        setting: Setting,
        house: House,
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        upkeep = Upkeep(
            startup_ms=house.startup_ms, logs=house.logs, keeper_cores=house.keeper_cores
        )
        self.players = (Player(0, bots[0], upkeep), Player(1, bots[1], upkeep))
        self.games = Games(self.players, setting)
        self._house = house
        self._parallel = house.think == "parallel"
        self._now_ns = now_ns
        self._by_fd: dict[int, Player] = {}
        self._poller = select.poll()
        self._poll = self._poller.poll
        self._stalls = StallWatch([player.cpu_ns for player in self.players])
        self._width = 0
        self._leg: int | None = None
        self._woke_ns = 0
        clock = setting.clock
        self._banked = clock.bank_ms is not None
        self._move_ms = clock.move_ms
        self._move_limit_ns = (
            None if clock.move_ms is None else (clock.move_ms + clock.grace_ms) * NS_PER_MS
        )
        self._slice_ms = min(SLICE_MS, (clock.move_ms or SLICE_MS) + clock.grace_ms)

    def play(self, orders: Iterable[GameOrder]) -> Iterator[Record]:
        """Play these games and give their records as they end. Closing it ends the bots."""
        games = self.games
        games.order(orders)
        waiting, opened, finished = games.waiting, games.open, games.finished
        first, second = self.players
        thresholds = gc.get_threshold()
        gc.set_threshold(GARBAGE_THRESHOLD, *thresholds[1:])
        try:
            while True:
                if finished:
                    yield from self._hand_out()
                if (waiting and len(opened) < self._width) or self._width == 0:
                    self._deal()
                if first.due and not first.turns:
                    self._exchange(first)
                if second.due and not second.turns:
                    self._exchange(second)
                if first.turns or second.turns:
                    self._listen(second if second.turns else first)
                elif not waiting and not opened and not finished:
                    break
            for player in self.players:
                player.leave()
        finally:
            gc.set_threshold(*thresholds)
            self.close()

    def close(self) -> None:
        for player in self.players:
            self._stop(player)
        self._stalls.close()

    # The path of every answer.

    def _exchange(self, player: Player) -> None:
        """Every turn that is due from this player, in one write with what waited for it; then,
        unless both think at once, hear its answers."""
        link, session = player.link, player.session
        outbox, turns, index = player.outbox, player.turns, player.index
        left_ms = self._move_ms
        for game in player.due:
            seat = index ^ game.swap
            table = game.table
            if self._banked:
                left_ms = (table.clock.left_ns(seat) or 0) // NS_PER_MS
            try:
                view, events, legal = table.request(seat)
            except Exception as error:
                self.games.bug(game, error)
                continue
            turn_id = session.ask()
            turns[turn_id] = game
            outbox.append(Turn(game.name, turn_id, view, events, legal, left_ms))
        player.due = []
        if link is None or not turns:
            return
        if self._banked or player.fresh:
            player.limit_ns = self._least_limit_ns(player)
        else:
            player.limit_ns = self._move_limit_ns
        data = encode(outbox)
        outbox.clear()
        player.stalled_ns = 0
        player.since_ns = self._woke_ns = asked_ns = self._now_ns()
        if asked_ns > self._stalls.stale_ns:
            self._stalls.mark(asked_ns)
        try:
            sent = 0 if link.unsent else write(link.out_fd, data)
        except BlockingIOError:
            sent = 0
        except BrokenPipeError:
            self._input_closed(player)
            return
        if sent != len(data):
            self._send_later(player, data[sent:])
        if not self._parallel:
            self._listen(player)

    def _listen(self, player: Player) -> None:
        """Hear answers until this player has given all of them, and act on each."""
        turns = player.turns
        wait_ms = self._slice_ms
        while turns:
            ready = self._poll(wait_ms)
            at_ns = self._now_ns()
            if at_ns - self._woke_ns > LATE_NS:
                self._woke_late(at_ns, wait_ms)
            self._woke_ns = at_ns
            if not ready:
                wait_ms = self._tick(at_ns)
                continue
            for fd, _ in ready:
                speaker = self._by_fd.get(fd)
                if speaker is None:
                    continue
                try:
                    data = read(fd, READ_SIZE)
                except BlockingIOError:
                    continue
                except OSError:
                    self._flush(speaker)
                    continue
                session = speaker.session
                for event in session.receive(data) if data else session.end_of_input():
                    if type(event) is not MoveReceived:
                        if self._hear_odd(speaker, event, data, at_ns):
                            break
                        continue
                    game = speaker.turns.pop(event.id)
                    spent_ns = at_ns - speaker.since_ns
                    speaker.since_ns = at_ns
                    table = game.table
                    if table.verdict is not None:
                        continue
                    limit_ns = speaker.limit_ns
                    if limit_ns is not None and spent_ns > limit_ns:
                        if self._late(speaker, game, spent_ns):
                            break
                    elif speaker.fresh:
                        speaker.fresh = False
                    try:
                        if table.answer(speaker.index ^ game.swap, event.move, spent_ns):
                            if not table.due:
                                self.games.finish(game)
                            for seat in table.due:
                                self.players[seat ^ game.swap].due.append(game)
                    except BotFault as fault:
                        if self._bad_answer(speaker, game, fault, quote(event)):
                            break
                    except Exception as error:
                        self.games.bug(game, error)
            if self._parallel:
                return

    # Dealing games and handing out records.

    def _deal(self) -> None:
        """Start games until as many are open as both bots take."""
        games = self.games
        waiting = games.waiting
        first, second = self.players
        while waiting and not (self._width and len(games.open) >= self._width):
            if first.link is None or second.link is None or waiting[0].leg != self._leg:
                if games.open or first.turns or second.turns:
                    return
                if waiting[0].leg != self._leg:
                    self._next_leg(waiting[0].leg)
                self._start_bots(waiting[0])
                continue
            games.begin()

    def _next_leg(self, leg: int) -> None:
        """Both bots are started anew, so that neither knows a hand from the leg before."""
        self._leg = leg
        for player in self.players:
            player.leave()
            self._stop(player)

    def _start_bots(self, order: GameOrder) -> None:
        """Start what is down. A bot that cannot be started loses the game that waits for it."""
        faults: list[Fault] = []
        for player in self.players:
            if player.link is not None:
                continue
            seat = player.index ^ order.swapped
            try:
                link = player.start()
            except BotFault as fault:
                code, detail, said = fault.code, fault.detail, fault.received
                faults.append(Fault(seat=seat, turn=1, code=code, detail=detail, received=said))
                continue
            self._by_fd[link.fd] = player
            self._poller.register(link.fd, select.POLLIN)
        if faults:
            self.games.lose_unplayed(faults)
        else:
            first, second = self.players
            self._width = min(first.games_at_once, second.games_at_once, self._house.at_once)
            self.games.alone = self._width == 1

    def _hand_out(self) -> Iterator[Record]:
        """Give the records away. What the receiver takes for them is charged to no bot."""
        before_ns = self._now_ns()
        records = self.games.finished[:]
        self.games.finished.clear()
        yield from records
        pause_ns = self._now_ns() - before_ns
        self._woke_ns += pause_ns
        for player in self.players:
            player.since_ns += pause_ns

    # Time.

    def _least_limit_ns(self, player: Player) -> int | None:
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
        return limit_ns + self._house.warm_up_ms * NS_PER_MS

    def _tick(self, at_ns: int) -> int:
        """Nothing came within the slice: is somebody late? How long to wait next."""
        self._stalls.mark(at_ns)
        wait_ms = SLICE_MS
        for player in self.players:
            if not player.turns:
                continue
            player.limit_ns = self._least_limit_ns(player)
            if player.limit_ns is None:
                continue
            spent_ns = at_ns - player.since_ns
            # What the host took, a silent bot gets on top. Called off at once, its games would
            # be played again, and on a busy host a bot that hangs would never lose one.
            left_ns = player.limit_ns + player.stalled_ns - spent_ns
            if left_ns < 0:
                late = min(
                    player.turns.values(), key=lambda game: self._limit_ns(player, game) or 0
                )
                self._late(player, late, spent_ns)
            else:
                wait_ms = min(wait_ms, left_ns // NS_PER_MS + 1)
        return wait_ms

    def _woke_late(self, at_ns: int, wait_ms: int) -> None:
        """The referee should have been back earlier: note what the host took."""
        late_ns = at_ns - self._woke_ns - wait_ms * NS_PER_MS
        stalled_ns = self._stalls.stalled_ns(late_ns)
        for player in self.players:
            if player.turns:
                player.stalled_ns += stalled_ns

    def _late(self, player: Player, game: Game, spent_ns: int) -> bool:
        """Judge an answer, or a silence, past the least limit; False if this game's own holds."""
        limit_ns = self._limit_ns(player, game)
        if limit_ns is None or spent_ns <= limit_ns:
            return False
        if spent_ns - player.stalled_ns <= limit_ns:
            self.games.stalled()
            self._stop(player)
            return True
        self._break(
            player,
            Ending.TIMEOUT,
            f"no answer within {limit_ns // NS_PER_MS} ms",
            spent_us=spent_ns // 1000,
            limit_us=limit_ns // 1000,
        )
        return True

    # Faults. Each says whether the player's process is gone.

    def _hear_odd(self, player: Player, event: Event, data: bytes, at_ns: int) -> bool:
        """Anything but a plain move."""
        if isinstance(event, Misbehaved):
            self._misbehaved(player, event, ended=not data)
            return True
        if not isinstance(event, OddMoveReceived | ResignReceived):
            return False
        game = player.turns.pop(event.id)
        spent_ns = at_ns - player.since_ns
        player.since_ns = at_ns
        if game.table.verdict is not None:
            return False
        if self._late(player, game, spent_ns):
            return True
        player.fresh = False
        try:
            if isinstance(event, ResignReceived):
                raise BotFault(Ending.RESIGN, "the bot resigned")
            seat = player.index ^ game.swap
            if game.table.answer(seat, event.move, spent_ns, event.note):
                self.games.after_round(game)
        except BotFault as fault:
            said = "" if isinstance(event, ResignReceived) else quote(event)
            return self._bad_answer(player, game, fault, said)
        except Exception as error:
            self.games.bug(game, error)
        return False

    def _bad_answer(self, player: Player, game: Game, fault: BotFault, said: str) -> bool:
        """A complete answer that is at fault."""
        if fault.code in ENDS_PROCESS:
            self._break(player, fault.code, fault.detail, said)
            return True
        self.games.fail_one(player, game, fault.code, fault.detail, said)
        return False

    def _misbehaved(self, player: Player, event: Misbehaved, *, ended: bool) -> None:
        code, detail = Ending(event.code), event.detail
        if ended:
            detail = player.last_words("closed its standard output")
            if event.received:
                detail += " in the middle of a line"
        elif code is Ending.GARBLED and self._keeps_talking(player):
            code, detail = Ending.FLOOD, f"more than {FLOOD_BYTES} bytes that nobody asked for"
        self._break(player, code, detail, event.received)

    def _keeps_talking(self, player: Player) -> bool:
        """After a garbled line: does the bot go on and on? Then it is a flood."""
        assert player.link is not None
        poll = select.poll()
        poll.register(player.link.fd, select.POLLIN)
        heard = 0
        give_up = time.monotonic() + FLOOD_LOOK_S
        while heard <= FLOOD_BYTES and time.monotonic() < give_up and poll.poll(FLOOD_QUIET_MS):
            data = player.link.read()
            if not data:
                return False
            heard += len(data)
        return heard > FLOOD_BYTES

    def _input_closed(self, player: Player) -> None:
        """The bot does not read any more."""
        self._break(player, Ending.CRASH, player.last_words("closed its standard input"))

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
                link.write(encode([*player.outbox, Error(code, detail)]))
        self._stop(player)
        self.games.fail_all(player, code, detail, said, spent_us, limit_us)

    def _stop(self, player: Player) -> None:
        link = player.link
        if link is not None:
            for fd in (link.fd, link.out_fd):
                if self._by_fd.pop(fd, None) is not None:
                    self._poller.unregister(fd)
        player.stop()

    # Bots that read slowly.

    def _send_later(self, player: Player, data: bytes) -> None:
        """The pipe is full: the rest goes out when the bot has read."""
        link = player.link
        assert link is not None
        link.unsent += data
        if link.out_fd not in self._by_fd:
            self._by_fd[link.out_fd] = player
            self._poller.register(link.out_fd, select.POLLOUT)

    def _flush(self, player: Player) -> None:
        link = player.link
        assert link is not None
        try:
            link.flush()
        except BrokenPipeError:
            self._input_closed(player)
            return
        if not link.unsent:
            self._poller.unregister(link.out_fd)
            del self._by_fd[link.out_fd]
