"""The hall's process: orders on standard input, reports on standard output.

    python -c 'from referee.daemon.hall import main; main()'

A process of its own, so that neither commits nor ratings take time from a guest's clock. It never
waits for whoever reads its reports, and ends when its standard input does: whoever gave the orders
is gone. It says no bye then: guests are to come back when the daemon does.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import select
import sys
import time
from collections.abc import Callable, Sequence

from msgspec import Struct

from referee.arena.forfeits import forfeited
from referee.arena.game import Setting, bot_info
from referee.arena.hall import Hall
from referee.arena.happenings import (
    Arrived,
    Began,
    Departed,
    Happening,
    Match,
    MatchOver,
    Moved,
    Played,
)
from referee.bots.descriptors import raise_descriptor_limit
from referee.daemon.doors import KeysAndTokens
from referee.daemon.orders import (
    Admit,
    CallOff,
    ChunkFailed,
    Close,
    Counters,
    Follow,
    GuestCame,
    GuestLeft,
    HallOrder,
    HallReport,
    Open,
    Opened,
    Play,
    hall_frame,
    read_hall_orders,
)
from referee.links.keys import keys_of
from referee.links.router import Router
from referee.mistake import Mistake
from referee.rules.registry import build_variant
from referee.schedule import game_orders
from referee.tournament.batching import Batches
from referee.tournament.chunk import Chunk, Done, Failed, Frames
from referee.tournament.telling import live_report

STEP_MS = 100
COUNT_S = 1.0
READ_BYTES = 1 << 16
PIPE_BYTES = 1 << 20
MOST_UNREAD = 16 << 20
"""So many bytes of reports wait for a reader; beyond that it is waited for."""
GARBAGE_THRESHOLD = 100_000


class Wire:
    """The way back to the coordinator. A reader that is slow for a moment stops nothing."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._unsent = bytearray()
        os.set_blocking(fd, False)
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            with contextlib.suppress(OSError):
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def send(self, report: HallReport) -> None:
        self._unsent += hall_frame(report)
        self.flush()

    def flush(self, *, all_of_it: bool = False) -> None:
        while self._unsent:
            try:
                del self._unsent[: os.write(self._fd, self._unsent[:PIPE_BYTES])]
            except BlockingIOError:
                if not all_of_it and len(self._unsent) < MOST_UNREAD:
                    return
                select.select([], [self._fd], [])


class Playing(Struct):
    """A chunk that is being played."""

    chunk: Chunk
    batches: Batches
    began: float
    first_ended: float | None = None


class HallProcess:
    """A hall, and the orders and reports around it."""

    def __init__(self, order: Open, wire: Wire, now: Callable[[], float] = time.monotonic) -> None:
        curve = order.secret is not None
        self._doors = KeysAndTokens(order.admit, curve=curve)
        self._router = Router(
            order.endpoint, secret=order.secret, known=self._doors.name_of_key if curve else None
        )
        self.hall = Hall(self._router, self._doors, order.terms)
        self._wire = wire
        self._now = now
        self._playing: dict[int, Playing] = {}
        self._arrivals: dict[str, int] = {}
        """The last one of each name."""
        self._arrived = 0
        self._counted = 0.0
        public = keys_of(order.secret).public if order.secret is not None else None
        wire.send(Opened(endpoint=self._router.endpoint, public=public))

    def take(self, order: HallOrder) -> None:
        match order:
            case Play():
                self._play(order)
            case CallOff(chunk):
                self.hall.call_off(chunk)
            case Admit():
                self._admit(order)
            case Follow(games):
                self.hall.follow = games
            case Close(finish_s):
                self.hall.close(finish_s)
            case Open():
                raise ValueError("the hall is open already")

    def step(self) -> bool:
        """Whether there is more to come."""
        for happening in self.hall.step(STEP_MS):
            self._tell(happening)
        now = self._now()
        for playing in self._playing.values():
            batch = playing.batches.take(only_old=True)
            if batch is not None:
                self._wire.send(batch)
            if now > playing.began + playing.chunk.budget_s:
                self.hall.call_off(playing.chunk.id)
        if now > self._counted + COUNT_S:
            self._counted = now
            self._wire.send(self._counters())
        self._wire.flush()
        return not self.hall.closed

    def close(self) -> None:
        self._wire.send(self._counters())
        self._wire.flush(all_of_it=True)
        self._router.close()

    def _admit(self, admitted: Admit) -> None:
        self._doors.admitted = admitted
        for name in list(self.hall.guests):
            if not self._doors.knows(name):
                self.hall.show_out(name, f"{name} may not stay: its key or token was withdrawn")

    def _play(self, order: Play) -> None:
        chunk = order.chunk
        try:
            match = _match(order)
        except (Exception, SystemExit) as error:  # a variant's script may call exit()
            self._wire.send(ChunkFailed(chunk.id, f"{type(error).__name__}: {error}"))
            return
        self._playing[chunk.id] = Playing(chunk, Batches(chunk), self._now())
        out = [place for place, each in enumerate((chunk.first, chunk.second)) if each.out]
        if out:
            self._forfeit(match, out)
        elif self._are_here(order):
            self.hall.seat(match)
        else:
            self._over(MatchOver(chunk.id, list(match.orders)))

    def _are_here(self, order: Play) -> bool:
        """Whether those are in the hall that were there when the order was given."""
        return all(
            self._arrivals.get(name) == arrival
            for name, arrival in zip(order.guests, order.arrivals, strict=True)
        )

    def _forfeit(self, match: Match, out: Sequence[int]) -> None:
        """These two are out, or one of them: nothing is played."""
        games = forfeited(match.setting, match.orders, out)
        for record in games.finished:
            self._tell(Played(match.id, record))
        self._over(MatchOver(match.id, [], 0, 0, games.errors))

    def _tell(self, happening: Happening) -> None:
        match happening:
            case Played(chunk, record):
                playing = self._playing[chunk]
                now = self._now()
                playing.first_ended = playing.first_ended or now
                if playing.batches.add(record, now):
                    batch = playing.batches.take()
                    assert batch is not None
                    self._wire.send(batch)
            case MatchOver():
                self._over(happening)
            case Arrived(name, hello, address):
                self._arrived += 1
                self._arrivals[name] = self._arrived
                self._wire.send(
                    GuestCame(name=name, hello=hello, address=address, arrival=self._arrived)
                )
            case Departed(name, why):
                self._arrivals.pop(name, None)
                self._wire.send(GuestLeft(name, why))
            case Began() | Moved():
                self._wire.send(live_report(happening))

    def _over(self, over: MatchOver) -> None:
        playing = self._playing.pop(over.match)
        batch = playing.batches.take()
        if batch is not None:
            self._wire.send(batch)
        self._wire.send(
            Done(
                chunk=over.match,
                stalls=over.stalls,
                replayed=over.replayed,
                errors=over.errors,
                pinned=False,
                starting_s=(playing.first_ended or playing.began) - playing.began,
            )
        )

    def _counters(self) -> Counters:
        hall, reception = self.hall, self.hall.reception
        return Counters(
            connected=len(hall.guests),
            away=sum(guest.away_ns is not None for guest in hall.guests.values()),
            open_games=hall.open_games,
            answers=hall.answers,
            refused=dict(reception.refused + self._router.refused),
            dropped=dict(reception.dropped + self._router.dropped),
        )


def _match(order: Play) -> Match:
    chunk = order.chunk
    variant = build_variant(chunk.variant, chunk.options)
    first, second = chunk.first.bot, chunk.second.bot
    setting = Setting(
        variant=variant,
        clock=chunk.manner.clock,
        players=chunk.called or (first.name, second.name),
        bots=(bot_info(first), bot_info(second)),
        tournament=chunk.manner.tournament,
    )
    prefix = f"{chunk.pairing}-"
    orders = game_orders(
        chunk.branch, chunk.each_number(), hidden_chance=variant.hidden_chance, prefix=prefix
    )
    return Match(
        id=chunk.id,
        setting=setting,
        guests=order.guests,
        orders=orders,
        at_once=chunk.manner.at_once,
    )


class Orders:
    """What comes in on standard input."""

    def __init__(self) -> None:
        self._frames = Frames()
        self._poll = select.poll()
        self._poll.register(0, select.POLLIN)

    def read(self, *, wait: bool = False) -> list[HallOrder] | None:
        """What has come; None once nobody gives orders any more."""
        if not self._poll.poll(None if wait else 0):
            return []
        data = os.read(0, READ_BYTES)
        return list(read_hall_orders(self._frames, data)) if data else None


def main() -> None:
    # What a variant's script prints must not end up between the reports.
    wire = Wire(os.dup(1))
    os.dup2(2, 1)
    raise_descriptor_limit()  # A guest is a descriptor.
    orders = Orders()
    waiting: list[HallOrder] = []
    while not waiting:
        came = orders.read(wait=True)
        if came is None:
            return
        waiting = came
    try:
        _serve(_opened(waiting.pop(0), wire), orders, waiting)
    except BrokenPipeError:
        os._exit(0)  # Nobody gives orders any more.


def _opened(order: HallOrder, wire: Wire) -> HallProcess:
    assert isinstance(order, Open), "the first order opens the hall"
    try:
        process = HallProcess(order, wire)
    except Mistake as mistake:
        wire.send(Failed(str(mistake)))
        wire.flush(all_of_it=True)
        sys.exit(1)
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD, *gc.get_threshold()[1:])
    process.hall.watch(0)
    return process


def _serve(process: HallProcess, orders: Orders, waiting: list[HallOrder] | None) -> None:
    while waiting is not None:
        for order in waiting:
            process.take(order)
        if not process.step():
            process.close()
            return
        waiting = orders.read()
    # Whoever gave the orders is gone. Nothing to wait for.
    os._exit(0)


if __name__ == "__main__":
    main()
