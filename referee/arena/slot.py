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

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from os import read, write
from pathlib import Path
from typing import Literal

from msgspec import Struct

from referee.arena.core import PinnedCore
from referee.arena.faults import Faults
from referee.arena.following import Onlooker
from referee.arena.game import Setting
from referee.arena.games import Games
from referee.arena.player import Player, Upkeep
from referee.arena.process_cache import ProcessCache
from referee.arena.restart import Restart
from referee.arena.stall import SLICE_MS, TOLERANCE_MS, StallCount, StallWatch
from referee.arena.switchboard import Switchboard
from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.manifest import Bot
from referee.clock import DEFAULT_STARTUP_MS, DEFAULT_WARM_UP_MS, NS_PER_MS
from referee.links.pipe import READ_SIZE, SMALL_READ
from referee.protocol.messages import (
    MoveReceived,
    Turn,
)
from referee.record import Record
from referee.schedule import GameOrder
from referee.verdict import BotFault, Fault

LOOK_MS = 2
"""A bot thinks so long before the referee looks whether the other one stands still."""
LOOK_NS = LOOK_MS * NS_PER_MS
NEVER_NS = 1 << 62
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
    keep_logs: bool = False
    """Whether logs that are there are added to."""
    core: PinnedCore | None = None
    """Where this process and the bots run, if they are bound to a core."""
    confinement: Confinement = UNCONFINED
    restart: Restart | None = None
    contest: str = ""
    """A bot that is kept and not stateless carries nothing to another one."""
    cache: ProcessCache | None = None
    stall_counts: tuple[StallCount, StallCount] | None = None
    """Of these two bots so far, to be added to."""


class Slot:
    """Plays the games of one pairing."""

    def __init__(
        self,
        bots: tuple[Bot, Bot],
        setting: Setting,
        house: House,
        now_ns: Callable[[], int] = time.monotonic_ns,
        onlooker: Onlooker | None = None,
    ) -> None:
        core = house.core
        upkeep = Upkeep(
            startup_ms=house.startup_ms,
            confinement=house.confinement,
            logs=house.logs,
            keep_log=house.keep_logs,
            keeper_cores=core.before if core is not None else None,
            variant=setting.variant.name,
            restart=house.restart,
            contest=house.contest,
            cache=house.cache,
            terms=(setting.variant, setting.clock),
        )
        self.players = (Player(0, bots[0], upkeep), Player(1, bots[1], upkeep))
        if house.stall_counts is not None:
            for player, count in zip(self.players, house.stall_counts, strict=True):
                player.stall_count = count
        self.games = Games(self.players, setting)
        self._house = house
        self._parallel = house.think == "parallel"
        self._freeze = house.confinement.freeze and not self._parallel
        self._now_ns = now_ns
        self._onlooker = onlooker
        self._board = Switchboard()
        self._poll, self._speakers = self._board.poll, self._board.speakers
        self._faults = Faults(self.players, self.games, self._board, house.warm_up_ms, self._excuse)
        are_counted = all(player.is_all_counted for player in self.players)
        other_core = None if are_counted or core is None else core.other
        self._stalls = StallWatch([player.cpu_ns for player in self.players], other_core)
        self._width = 0
        self._leg: int | None = None
        self.block: int | None = None
        """Of the games that are being played."""
        self._woke_ns = 0
        clock = setting.clock
        self._banked = clock.bank_ms is not None
        self._move_ms = clock.move_ms
        self._move_limit_ns = (
            None if clock.move_ms is None else (clock.move_ms + clock.grace_ms) * NS_PER_MS
        )
        self._wait_ms = min(SLICE_MS, (clock.move_ms or SLICE_MS) + clock.grace_ms)
        if self._freeze:
            self._wait_ms = LOOK_MS
        self._late_ns = (self._wait_ms + TOLERANCE_MS) * NS_PER_MS

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
                self._board.forget(player)
                if games.replayed or games.errors:
                    player.leave()
                else:
                    player.keep_or_leave()
        finally:
            gc.set_threshold(*thresholds)
            self.close()

    def close(self) -> None:
        for player in self.players:
            self._faults.stop(player)
        self._stalls.close()

    # The path of every answer.

    def _exchange(self, player: Player) -> None:
        """Every turn that is due from this player, in one write with what waited for it; then,
        unless both think at once, hear its answers."""
        link, session = player.link, player.session
        outbox, turns, index = player.outbox, player.turns, player.index
        left_ms, banked = self._move_ms, self._banked
        if self.games.alone:
            due, player.due = player.due, []
        else:
            due = player.take_due()
        turn_id = session.ask(len(due)) - 1
        for game in due:
            turn_id += 1
            seat = index ^ game.swap
            table = game.table
            if banked:
                left_ms = (table.clock.left_ns(seat) or 0) // NS_PER_MS
            try:
                view, events, legal = table.request(seat)
            except Exception as error:
                session.withdraw(turn_id)
                self.games.bug(game, error)
                continue
            turns[turn_id] = game
            outbox.append(Turn(game.name, turn_id, view, events, legal, left_ms))
        if link is None or not turns:
            return
        if self._banked or player.fresh:
            player.limit_ns = self._faults.least_limit_ns(player)
        else:
            player.limit_ns = self._move_limit_ns
        try:
            data = session.pack(outbox)
        except Exception:
            data = self._encode_what_can_be(player)
        outbox.clear()
        if self._freeze:
            player.release()
        player.stalled_ns = 0
        player.since_ns = self._woke_ns = asked_ns = self._now_ns()
        if asked_ns > self._stalls.stale_ns:
            self._look_up(player, asked_ns)
        try:
            sent = 0 if link.unsent else write(link.out_fd, data)
        except BlockingIOError:
            sent = 0
        except BrokenPipeError:
            self._faults.input_closed(player)
            return
        if sent != len(data):
            self._board.send_later(player, data[sent:])
        if not self._parallel:
            self._listen(player)
        if player.link is not None and player.answered_ns > asked_ns:
            player.stall_count.thought_ns += player.answered_ns - asked_ns
        if self._freeze:
            player.rest(counted=self.games.alone)

    def _listen(self, player: Player) -> None:
        """Hear answers until this player has given all of them, and act on each."""
        turns = player.turns
        first, second = self.players
        wait_ms = self._wait_ms
        late_ns = self._late_ns
        look_ns = player.since_ns + LOOK_NS if self._freeze else NEVER_NS
        alone = self.games.alone
        read_size = SMALL_READ if alone else READ_SIZE
        while turns:
            ready = self._poll(wait_ms)
            at_ns = self._now_ns()
            if at_ns - self._woke_ns > late_ns:
                at_ns += self._woke_late(player, at_ns, wait_ms)
            self._woke_ns = at_ns
            if not ready:
                at_ns += self._look_up(player, at_ns)
            for fd, _ in ready:
                speaker = self._speakers.get(fd)
                if speaker is None:
                    self._flush(fd)
                    continue
                try:
                    data = read(fd, read_size)
                except BlockingIOError:
                    continue
                except ConnectionResetError:  # a socket, closed with something unread
                    data = b""
                session, index, take = speaker.session, speaker.index, speaker.turns.pop
                for event in session.receive(data) if data else session.end_of_input():
                    if type(event) is not MoveReceived:
                        if self._faults.hear_odd(speaker, event, data, at_ns):
                            break
                        continue
                    game = take(event.id)
                    table = game.table
                    speaker.answered_ns = at_ns
                    if table.verdict is not None:
                        continue
                    spent_ns = at_ns - speaker.since_ns
                    if spent_ns < 0:
                        # It came while the referee was busy with a fault of the other bot.
                        spent_ns = 0
                    limit_ns = speaker.limit_ns
                    if (
                        limit_ns is not None
                        and spent_ns > limit_ns
                        and self._faults.late(speaker, game, spent_ns)
                    ):
                        break
                    if speaker.fresh:
                        self._faults.first_answer(speaker, game, spent_ns)
                    try:
                        cpu_us = speaker.cpu_used_us() if alone else None
                        if table.answer(index ^ game.swap, event.move, spent_ns, None, cpu_us):
                            due = table.due
                            if len(due) == 2:
                                first.due.append(game)
                                second.due.append(game)
                            elif due:
                                self.players[due[0] ^ game.swap].due.append(game)
                            else:
                                self.games.finish(game)
                    except BotFault as fault:
                        if self._faults.bad_answer(speaker, game, fault, event):
                            break
                    except Exception as error:
                        self.games.bug(game, error)
            if self._parallel:
                self._check_clocks(at_ns)
                return
            # Noise must not stop the clock: the bot may be late though something came.
            limit_ns = player.limit_ns
            if (
                not ready
                or at_ns > look_ns
                or (limit_ns is not None and at_ns - player.since_ns > limit_ns)
            ):
                wait_ms = self._check_clocks(at_ns)
                if self._freeze:
                    wait_ms = min(wait_ms, self._look_at_the_other(player, at_ns))
                    look_ns = at_ns + wait_ms * NS_PER_MS
                late_ns = (wait_ms + TOLERANCE_MS) * NS_PER_MS

    # Dealing games and handing out records.

    def _deal(self) -> None:
        """Start games until as many are open as both bots take."""
        games = self.games
        waiting = games.waiting
        first, second = self.players
        while waiting and not (self._width and len(games.open) >= self._width):
            order = waiting[0]
            anew = games.anew or order.leg != self._leg
            if anew or order.block != self.block or first.link is None or second.link is None:
                if games.open or first.turns or second.turns:
                    return
                self._end_processes(order, both=anew)
                if not self._start_bots(order):
                    return
                continue
            games.begin()

    def _end_processes(self, order: GameOrder, *, both: bool) -> None:
        """Before this game, both bots are started anew where neither may know a hand that it has
        seen before. Between blocks only a bot that keeps something from game to game is."""
        new_block = order.block != self.block
        self._leg, self.block = order.leg, order.block
        self.games.anew = False
        for player in self.players:
            if both or (new_block and not player.outlives_pairing):
                self._say_bye(player)

    def _start_bots(self, order: GameOrder) -> bool:
        """Start what is down, while the other one stands still. A bot that cannot be started loses
        the game that waits for it."""
        faults: list[Fault] = []
        for player in self.players:
            if player.link is not None:
                continue
            seat = player.index ^ order.swapped
            if self._freeze:
                self.players[1 - player.index].hold()
            try:
                link = player.start()
            except BotFault as fault:
                code, detail, said = fault.code, fault.detail, fault.received
                faults.append(Fault(seat=seat, turn=1, code=code, detail=detail, received=said))
                continue
            self._board.connect(player, link)
            if self._freeze:
                player.rest(counted=True)
            else:
                player.release()
        if faults:
            self.games.lose_unplayed(faults)
            return False
        first, second = self.players
        self._width = min(first.games_at_once, second.games_at_once, self._house.at_once)
        self.games.alone = self._width == 1
        for player in self.players:
            player.pace.limit(self._width)
        return True

    def _hand_out(self) -> Iterator[Record]:
        """Give the records away. What the receiver takes for them is charged to no bot."""
        before_ns = self._now_ns()
        finished = self.games.finished
        while finished:
            # One by one: what an interruption leaves here can still be kept.
            yield finished.pop(0)
        self._excuse(self._now_ns() - before_ns)

    def _excuse(self, pause_ns: int) -> None:
        """So long the referee was busy with something else: charged to no bot, and no stall."""
        self._woke_ns += pause_ns
        for player in self.players:
            player.since_ns += pause_ns

    # Time.

    def _readings(self, player: Player) -> tuple[int, int, int]:
        """The clocks before the referee does something while this player thinks: the time, what the
        player has used, and what the referee and the other one have."""
        own_ns = time.thread_time_ns() + self.players[1 - player.index].cpu_ns()
        return self._now_ns(), player.cpu_ns(), own_ns

    def _excuse_since(self, player: Player, before: tuple[int, int, int]) -> int:
        """Charge nobody with what the referee has done since these readings; how long that was.

        What the player has thought meanwhile is its own time: else it could buy some by keeping the
        core busy. Where its clock does not tell all that it uses, no more is excused than the CPU
        time of the referee and of the other bot.
        """
        wall_ns, used_ns, others_ns = (
            max(0, now - then) for now, then in zip(self._readings(player), before, strict=True)
        )
        pause_ns = max(0, wall_ns - used_ns)
        if not player.is_all_counted:
            pause_ns = min(pause_ns, others_ns)
        self._excuse(pause_ns)
        return pause_ns

    def _look_up(self, player: Player, at_ns: int) -> int:
        """Some time has passed, or nothing has come: a moment for what can wait. How much of that
        is charged to nobody."""
        before = self._readings(player)
        self._stalls.mark(at_ns)
        if self._onlooker is not None:
            self._onlooker.look(self.games.open.values())
        return self._excuse_since(player, before)

    def _check_clocks(self, at_ns: int) -> int:
        """Is somebody late? How long to wait next, in milliseconds."""
        wait_ms = SLICE_MS
        for player in self.players:
            if not player.turns:
                continue
            player.limit_ns = self._faults.least_limit_ns(player)
            if player.limit_ns is None:
                continue
            spent_ns = at_ns - player.since_ns
            # What the host took, a silent bot gets on top. Called off at once, its games would
            # be played again, and on a busy host a bot that hangs would never lose one.
            left_ns = player.limit_ns + player.stalled_ns - spent_ns
            if left_ns < 0:
                self._faults.silent(player, spent_ns)
            else:
                wait_ms = min(wait_ms, left_ns // NS_PER_MS + 1)
        return wait_ms

    def _look_at_the_other(self, player: Player, at_ns: int) -> int:
        """While this player thinks, the other one has to stand still. When to look again, in
        milliseconds: less often the longer it takes."""
        before = self._readings(player)
        self.players[1 - player.index].look_at_rest()
        self._excuse_since(player, before)
        return max(LOOK_MS, (at_ns - player.since_ns) // NS_PER_MS)

    def _woke_late(self, thinker: Player, at_ns: int, wait_ms: int) -> int:
        """The referee should have been back earlier: note what the host took. How much of that work
        is charged to nobody."""
        before = self._readings(thinker)
        stalled_ns = self._stalls.stalled_ns(at_ns - self._woke_ns - wait_ms * NS_PER_MS)
        self._stalls.mark(at_ns)
        for player in self.players:
            if player.turns:
                player.stall_count.stalls += stalled_ns > 0 and not player.stalled_ns
                player.stalled_ns += stalled_ns
        return self._excuse_since(thinker, before)

    # What seldom happens.

    def _flush(self, fd: int) -> None:
        """A bot that was slow to read has read, or closed its end."""
        deaf = self._board.flush(fd)
        if deaf is not None:
            self._faults.input_closed(deaf)

    def _say_bye(self, player: Player) -> None:
        self._board.forget(player)
        player.leave()

    def _encode_what_can_be(self, player: Player) -> bytes:
        """A variant's script put something into a view or an event that JSON does not know."""
        lines = b""
        for message in player.outbox:
            try:
                lines += player.session.pack([message])
            except Exception as error:
                if isinstance(message, Turn):
                    player.session.withdraw(message.id)
                    self.games.bug(player.turns.pop(message.id), error)
                else:
                    lines += player.session.pack_what_can_be([message])
        return lines
