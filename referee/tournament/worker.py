"""A worker process: orders on standard input, reports on standard output.

It plays one chunk at a time in a slot of its own, pinned to a core of its own where there is one.
When its standard input ends, whoever gave the orders is gone: it ends at once, and the bots'
keepers, who watch it, leave nothing behind.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from collections.abc import Callable
from functools import lru_cache
from queue import Empty, SimpleQueue
from typing import Any

from referee.arena.core import PinnedCore, take_core
from referee.arena.following import Onlooker
from referee.arena.game import Setting, bot_info
from referee.arena.memory_budget import share_of_memory
from referee.arena.player import FAILED_STARTS, Player, Upkeep
from referee.arena.process_cache import DESCRIPTORS, ProcessCache
from referee.arena.restart import is_stateless
from referee.arena.slot import House, Slot
from referee.arena.stall import StallHistory
from referee.bots.descriptors import raise_descriptor_limit
from referee.bots.fork_server import SERVER
from referee.rules.registry import build_variant, is_path
from referee.rules.variant import Variant
from referee.schedule import game_orders
from referee.tournament.batching import OLDEST_S, Batches
from referee.tournament.chunk import (
    START_SHARE,
    Call,
    Called,
    Chunk,
    Done,
    Failed,
    Frames,
    Order,
    Report,
    frame,
    read_order,
)
from referee.tournament.telling import live_report
from referee.verdict import BotFault

IDLE_S = 60.0
"""So long a worker without an order keeps processes: of bots, and the clock on another core."""
SEE_OFF_S = 2.0
"""What the bots that are kept may take to leave at the end."""


class Wire:
    """The way back to the coordinator. Two threads use it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = threading.Lock()
        self.batches: Batches | None = None
        """Of the chunk that is being played."""
        self.answered = 0
        """Orders of which the last report is written, or is about to be."""

    def answer(self, report: Called | Failed) -> None:
        """The one report of an order, or its last one."""
        self.answered += 1
        self.send(report)

    def send(self, report: Report) -> None:
        with self._lock:
            self._write(frame(report))

    def flush(self, *, only_old: bool = False, last: Done | None = None) -> None:
        """Send the games that have gathered, and then the end of their chunk, if this is it."""
        # Under the lock from taking to writing: a batch must not fall behind its chunk's end.
        with self._lock:
            batches = self.batches
            batch = batches.take(only_old=only_old) if batches is not None else None
            reports = [report for report in (batch, last) if report is not None]
            self.answered += last is not None
            if reports:
                self._write(b"".join(map(frame, reports)))

    def _write(self, frames: bytes) -> None:
        data = memoryview(frames)
        while data:
            data = data[os.write(self._fd, data) :]


class OrderQueue:
    """Orders on their way from the thread that hears them to the one that does the work."""

    def __init__(self) -> None:
        self._orders: SimpleQueue[Order | None] = SimpleQueue()
        self._given = 0
        self.finished = threading.Event()
        """Whether everything has been put away."""

    def put(self, order: Order) -> None:
        self._given += 1
        self._orders.put(order)

    def get(self, keep_nothing: Callable[[], None]) -> Order | None:
        """The next order, or None where none will come. Where none comes for long, no process is
        kept."""
        try:
            return self._orders.get(timeout=IDLE_S)
        except Empty:
            keep_nothing()
            return self._orders.get()

    def end(self, *, answered: int) -> None:
        """No more will come. Where so many answers are all, there is time to see the bots off."""
        if answered == self._given:
            self._orders.put(None)
            self.finished.wait(SEE_OFF_S)


def main(workers: int) -> None:
    """One of so many workers on this machine."""
    # What a variant's script prints must not end up between the reports.
    wire = Wire(os.dup(1))
    os.dup2(2, 1)
    orders = OrderQueue()
    threading.Thread(target=_hear, args=(orders, wire), daemon=True).start()
    raise_descriptor_limit(DESCRIPTORS)
    with contextlib.suppress(BrokenPipeError):
        _work(orders, wire, ProcessCache(share_of_memory(workers)))
        orders.finished.set()
    # Whoever gave the orders is gone: the other thread ends this process.
    threading.Event().wait()


def _work(orders: OrderQueue, wire: Wire, cache: ProcessCache) -> None:
    """One order after the other. Raises BrokenPipeError where nobody hears the reports."""
    core: PinnedCore | None = None
    history = StallHistory()

    def keep_nothing() -> None:
        cache.close()
        if core is not None:
            core.stop_clock()

    while True:
        order = orders.get(keep_nothing)
        if order is None:
            keep_nothing()
            return
        try:
            if order.manner.think == "in turn" and core is None:
                core = take_core()
                if core is not None:
                    cache.close()  # Bots that are kept run where they were started.
            if isinstance(order, Call):
                wire.answer(call(order, cache, core))
            else:
                play(order, wire, core, cache, history)
        except (Exception, SystemExit) as error:  # a variant's script may call exit()
            wire.flush()
            wire.answer(Failed(f"{type(error).__name__}: {error}"))


def _hear(orders: OrderQueue, wire: Wire) -> None:
    """Take orders in, and send on what has waited for too long. Ends the process."""
    poll = select.poll()
    poll.register(0, select.POLLIN)
    frames = Frames()
    with contextlib.suppress(OSError):
        while True:
            if poll.poll(OLDEST_S * 1000):
                data = os.read(0, 65536)
                if not data:
                    break
                for body in frames.feed(data):
                    orders.put(read_order(body))
            wire.flush(only_old=True)
    orders.end(answered=wire.answered)
    SERVER.close()
    os._exit(0)


def play(
    chunk: Chunk, wire: Wire, core: PinnedCore | None, cache: ProcessCache, history: StallHistory
) -> None:
    """Play a chunk and report its games as they end, and then its end."""
    manner = chunk.manner
    variant = _variant(chunk)
    bots = (chunk.first.bot, chunk.second.bot)
    names = (bots[0].name, bots[1].name)
    setting = Setting(
        variant=variant,
        clock=manner.clock,
        players=chunk.called or names,
        bots=(bot_info(bots[0]), bot_info(bots[1])),
        tournament=manner.tournament,
        level=manner.confinement.level,
    )
    logs = manner.logs and manner.logs / variant.name / f"{names[0]} - {names[1]}"
    stall_counts = history.take(bots)
    house = House(
        startup_ms=manner.startup_ms,
        warm_up_ms=manner.warm_up_ms,
        think=manner.think,
        at_once=manner.at_once,
        logs=logs,
        keep_logs=True,
        confinement=manner.confinement,
        core=core,
        restart=manner.restart,
        contest=manner.contest,
        # No process plays both games of a pair whose chance is hidden, whatever it says of itself.
        cache=None if variant.hidden_chance and not chunk.own_chance else cache,
        stall_counts=stall_counts,
    )
    onlooker = _onlooker(chunk.id, setting, wire) if manner.told else None
    slot = Slot(bots, setting, house, onlooker=onlooker)
    for player, contestant in zip(slot.players, (chunk.first, chunk.second), strict=True):
        cache.number(contestant.bot, contestant.id)
        if contestant.out:
            player.retire()
    orders = game_orders(
        chunk.branch,
        chunk.each_number(),
        hidden_chance=variant.hidden_chance,
        strangers=chunk.own_chance,
        prefix=f"{chunk.pairing}-",
        block=chunk.block,
        each_anew=manner.restart == "game",
    )
    wire.batches = batches = Batches(chunk)
    began = time.monotonic()
    starting_s = ends = 0.0
    try:
        for record in slot.play(orders):
            now = time.monotonic()
            if not ends:
                starting_s = now - began
                ends = now + max(chunk.budget_s, START_SHARE * starting_s)
            awaited = onlooker is not None and onlooker.settle()
            if batches.add(record, now) or awaited:
                wire.flush()
            if now > ends:
                _begin_no_more(slot, within_block=bool(chunk.block))
        # Whoever hears that a chunk has ended may read what its bots wrote.
        cache.close_logs()
        if manner.logs_go:
            cache.forget_logs()
        done = Done(
            chunk=chunk.id,
            stalls=slot.games.stalls,
            replayed=slot.games.replayed,
            errors=slot.games.errors,
            pinned=core is not None,
            starting_s=starting_s,
            kept=cache.numbers(),
        )
        wire.flush(last=done)
    finally:
        slot.close()
        history.keep(bots, stall_counts)
        wire.flush()
        wire.batches = None


def _variant(chunk: Chunk) -> Variant[Any, Any]:
    """A script may have changed since the last chunk; what has a name has not."""
    if is_path(chunk.variant):
        return build_variant(chunk.variant, chunk.options)
    return _named_variant(chunk.variant, tuple(chunk.options.items()))


@lru_cache(maxsize=64)
def _named_variant(name: str, options: tuple[tuple[str, int | str], ...]) -> Variant[Any, Any]:
    """To look a name up is to search through all installed packages."""
    return build_variant(name, dict(options))


def _onlooker(chunk: int, setting: Setting, wire: Wire) -> Onlooker:
    return Onlooker(chunk, setting, lambda happening: wire.send(live_report(happening)))


def _begin_no_more(slot: Slot, *, within_block: bool) -> None:
    """Time is up: games that were not begun are left, except those that are to be played again, and
    those of the block that was begun."""
    waiting = slot.games.waiting
    still = [
        order
        for order in waiting
        if order.attempt > 1 or (within_block and order.block == slot.block)
    ]
    waiting.clear()
    waiting.extend(still)


def call(order: Call, cache: ProcessCache, core: PinnedCore | None) -> Called:
    """See whether a bot comes up, as often as it may fail. Its process may be kept for games."""
    contestant, manner = order.contestant, order.manner
    logs = manner.logs and manner.logs / "start"
    upkeep = Upkeep(
        startup_ms=manner.startup_ms,
        confinement=manner.confinement,
        logs=logs,
        keep_log=True,
        keeper_cores=core.before if core is not None else None,
        restart=manner.restart,
        contest=manner.contest,
        cache=cache,
    )
    cache.number(contestant.bot, contestant.id)
    player = Player(0, contestant.bot, upkeep)
    trouble: str | None = None
    for _ in range(FAILED_STARTS):
        try:
            player.start()
        except BotFault as fault:
            trouble = f"{fault.code}, {fault.detail}"
        else:
            trouble = None
            break
        finally:
            player.keep_or_leave()
    cache.close_logs()
    if manner.logs_go:
        cache.forget_logs()
    hello = player.hello
    return Called(
        id=contestant.id,
        variants=hello.variants if hello is not None else None,
        trouble=trouble,
        stateless=is_stateless(contestant.bot, hello),
        kept=cache.numbers(),
    )
