"""A worker process: orders on standard input, reports on standard output.

    python -m referee.tournament.worker

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
from queue import SimpleQueue

from referee.arena.core import PinnedCore, take_core
from referee.arena.following import Onlooker
from referee.arena.game import Setting, bot_info
from referee.arena.player import FAILED_STARTS, Player, Upkeep
from referee.arena.slot import House, Slot
from referee.bots.fork_server import SERVER
from referee.rules.registry import build_variant
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


class Wire:
    """The way back to the coordinator. Two threads use it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = threading.Lock()
        self.batches: Batches | None = None
        """Of the chunk that is being played."""

    def send(self, report: Report) -> None:
        with self._lock:
            self._write(report)

    def flush(self, *, only_old: bool = False) -> None:
        # Under the lock from taking to writing: a batch must not fall behind its chunk's end.
        with self._lock:
            batches = self.batches
            batch = batches.take(only_old=only_old) if batches is not None else None
            if batch is not None:
                self._write(batch)

    def _write(self, report: Report) -> None:
        data = memoryview(frame(report))
        while data:
            data = data[os.write(self._fd, data) :]


def main() -> None:
    # What a variant's script prints must not end up between the reports.
    wire = Wire(os.dup(1))
    os.dup2(2, 1)
    orders: SimpleQueue[Order] = SimpleQueue()
    threading.Thread(target=_hear, args=(orders, wire), daemon=True).start()
    try:
        _work(orders, wire)
    except BrokenPipeError:
        # Whoever gave the orders is gone: the other thread ends this process.
        threading.Event().wait()


def _work(orders: SimpleQueue[Order], wire: Wire) -> None:
    """One order after the other. Raises BrokenPipeError where nobody hears the reports."""
    core: PinnedCore | None = None
    while True:
        order = orders.get()
        try:
            if isinstance(order, Call):
                wire.send(call(order))
                continue
            if order.manner.think == "in turn" and core is None:
                core = take_core()
            wire.send(play(order, wire, core))
        except (Exception, SystemExit) as error:  # a variant's script may call exit()
            wire.flush()
            wire.send(Failed(f"{type(error).__name__}: {error}"))


def _hear(orders: SimpleQueue[Order], wire: Wire) -> None:
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
    SERVER.close()
    os._exit(0)


def play(chunk: Chunk, wire: Wire, core: PinnedCore | None) -> Done:
    """Play a chunk and report its games as they end."""
    manner = chunk.manner
    variant = build_variant(chunk.variant, chunk.options)
    names = (chunk.first.bot.name, chunk.second.bot.name)
    setting = Setting(
        variant=variant,
        clock=manner.clock,
        players=chunk.called or names,
        bots=(bot_info(chunk.first.bot), bot_info(chunk.second.bot)),
        tournament=manner.tournament,
        level=manner.confinement.level,
    )
    logs = manner.logs and manner.logs / variant.name / f"{names[0]} - {names[1]}"
    house = House(
        startup_ms=manner.startup_ms,
        warm_up_ms=manner.warm_up_ms,
        think=manner.think,
        at_once=manner.at_once,
        logs=logs,
        keep_logs=True,
        confinement=manner.confinement,
        keeper_cores=core.before if core is not None else None,
    )
    onlooker = _onlooker(chunk.id, setting, wire) if manner.told else None
    slot = Slot((chunk.first.bot, chunk.second.bot), setting, house, onlooker=onlooker)
    for player, contestant in zip(slot.players, (chunk.first, chunk.second), strict=True):
        if contestant.out:
            player.retire()
    orders = game_orders(
        chunk.branch,
        chunk.each_number(),
        hidden_chance=variant.hidden_chance,
        strangers=chunk.own_chance,
        prefix=f"{chunk.pairing}-",
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
                _begin_no_more(slot)
    finally:
        slot.close()
        wire.flush()
        wire.batches = None
    return Done(
        chunk=chunk.id,
        stalls=slot.games.stalls,
        replayed=slot.games.replayed,
        errors=slot.games.errors,
        pinned=core is not None,
        starting_s=starting_s,
    )


def _onlooker(chunk: int, setting: Setting, wire: Wire) -> Onlooker:
    return Onlooker(chunk, setting, lambda happening: wire.send(live_report(happening)))


def _begin_no_more(slot: Slot) -> None:
    """Time is up: games that were not begun are left, except those that are to be played again."""
    waiting = slot.games.waiting
    again = [order for order in waiting if order.attempt > 1]
    waiting.clear()
    waiting.extend(again)


def call(order: Call) -> Called:
    """See whether a bot comes up, as often as it may fail."""
    contestant, manner = order.contestant, order.manner
    logs = manner.logs and manner.logs / "start"
    upkeep = Upkeep(
        startup_ms=manner.startup_ms,
        confinement=manner.confinement,
        logs=logs,
        keep_log=True,
    )
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
            player.leave()
    named = player.hello.variants if player.hello is not None else None
    return Called(id=contestant.id, variants=named, trouble=trouble)


if __name__ == "__main__":
    main()
