"""The hall: bots that connected from elsewhere, any number of matches between them, one ROUTER.

    hear what came → judge → deal → send all that is due → check clocks → wait

A plain synchronous loop like the slot's, with the same session, table, games and faults; only the
link differs. Guests have their own machines, so both seats are asked at once. `_listen` and `_send`
are the path of every answer: flat, and what happens seldom is elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import zmq

from referee.arena.boards import Boards
from referee.arena.guest import NEVER_NS, Asked, Guest
from referee.arena.happenings import Doors, HallTerms, Happening, Match
from referee.arena.lapses import Lapses
from referee.arena.reception import CLOSED, Reception, many_parts
from referee.arena.stall import SLICE_MS, TOLERANCE_MS
from referee.clock import NS_PER_MS
from referee.links.router import Arrival, Delivery, Router
from referee.protocol.codec import encode_whole
from referee.protocol.messages import (
    Event,
    Misbehaved,
    MoveReceived,
    OddMoveReceived,
    PongReceived,
    ResignReceived,
    Turn,
)
from referee.protocol.packed import pack
from referee.verdict import BotFault, Ending

BATCH = 64
"""So many messages are heard before what follows from them is sent."""
TOLERANCE_NS = TOLERANCE_MS * NS_PER_MS
LOOK_NS = SLICE_MS * NS_PER_MS
GUARD_NS = 1000 * NS_PER_MS
NOT_READING = "the bot does not read what is sent to it"


class Hall:
    """Plays the matches that it is given, between the guests that are there."""

    def __init__(
        self,
        router: Router,
        doors: Doors,
        terms: HallTerms,
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._router = router
        self._terms = terms
        self._now_ns = now_ns
        self._boards = Boards()
        self._reception = Reception(router, doors, terms, self._boards)
        self._lapses = Lapses(self._boards, self._reception, terms.warm_up_ms, now_ns)
        self._poller = zmq.Poller()
        for item, flags in router.poller_items:
            self._poller.register(item, flags)
        self.answers = 0
        """How many moves were heard."""
        self._told: list[Happening] = []
        self._deaf_since_ns = now_ns()
        self._check_ns = 0
        """When to look at the clocks next."""
        self._look_ns = 0
        """When to look for guests that are away or silent."""
        self._guard_ns = 0
        self._finish_ns: int | None = None
        self.closed = False
        """Whether everything has ended after `close`."""

    # From outside.

    @property
    def guests(self) -> dict[str, Guest]:
        return self._reception.guests

    @property
    def reception(self) -> Reception:
        """For its counters."""
        return self._reception

    @property
    def open_games(self) -> int:
        return self._boards.open_games

    @property
    def follow(self) -> int:
        return self._boards.following.most

    @follow.setter
    def follow(self, games: int) -> None:
        self._boards.following.most = games

    def watch(self, fd: int) -> None:
        """Let `step` return when something can be read from this descriptor."""
        self._poller.register(fd, zmq.POLLIN)

    def unwatch(self, fd: int) -> None:
        self._poller.unregister(fd)

    def seat(self, match: Match) -> None:
        self._told += self._boards.seat(match, self.guests)
        if self._finish_ns is not None:
            self._boards.call_off(match.id)

    def call_off(self, match: int) -> None:
        """No further game of this match begins."""
        self._boards.call_off(match)

    def show_out(self, name: str, why: str) -> None:
        """A guest may not stay."""
        guest = self.guests.get(name)
        if guest is not None:
            self._reception.show_out(guest, why, Ending.CRASH)

    def close(self, finish_s: float) -> None:
        """Begin no more games; give those that are open so long, then void them and say bye.

        `step` goes on as before; `closed` says when all is done.
        """
        self._finish_ns = self._now_ns() + int(finish_s * 1e9)
        for match in list(self._boards.contests):
            self._boards.call_off(match)

    def step(self, timeout_ms: int) -> list[Happening]:
        """Do what there is to do, and wait at most so long for something to come."""
        heard = self._listen()
        self._send()
        if not heard and not self._told and not self._reception.told:
            self._wait(timeout_ms)
            self._listen()
            self._send()
        now_ns = self._now_ns()
        if now_ns >= self._check_ns:
            self._check_clocks(now_ns)
        if now_ns >= self._look_ns:
            self._look_around(now_ns)
        self._send()
        told, self._told = self._told + self._reception.told, []
        self._reception.told = []
        return told

    # The path of every answer.

    def _listen(self) -> int:
        """Hear what has come. How many messages it was."""
        receive, now_ns, find = self._router.receive, self._now_ns, self._reception.by_peer.get
        deaf_ns = now_ns() - self._deaf_since_ns
        if deaf_ns > TOLERANCE_NS:
            self._lapses.stalled_ns += deaf_ns
        judged = self._boards.judged
        heard = 0
        while heard < BATCH:
            arrival = receive()
            if arrival is None:
                break
            heard += 1
            at_ns = now_ns()
            guest = find(arrival.peer)
            parts = arrival.parts
            if guest is None or guest.connection != arrival.connection or len(parts) != 1:
                guest = self._recognise(arrival, guest, at_ns)
                if guest is None:
                    continue
            guest.heard_ns = at_ns
            for event in guest.session.message(parts[0]):
                if type(event) is not MoveReceived:
                    self._hear_odd(guest, event, arrival, at_ns)
                    continue
                asked = guest.turns.pop(event.id)
                game, side, since_ns, _, _ = asked
                table = game.table
                if guest.games_at_once > 1:
                    self._answered(guest, asked, at_ns)
                if table.verdict is not None:
                    continue
                self.answers += 1
                spent_ns = at_ns - since_ns
                limit_ns = side.limit_ns
                if (
                    guest.fresh or (limit_ns is not None and spent_ns > limit_ns)
                ) and self._lapses.is_late(guest, asked, spent_ns):
                    continue
                try:
                    if table.answer(side.index ^ game.swap, event.move, spent_ns):
                        judged(side, game)
                except BotFault as fault:
                    self._lapses.bad_answer(guest, asked, fault, event)
                except Exception as error:
                    self._boards.bug(side, game, error)
        self._deaf_since_ns = now_ns()
        return heard

    def _answered(self, guest: Guest, asked: Asked, at_ns: int) -> None:
        """One of several turns: there is room for others that are due."""
        game, side, since_ns, *_ = asked
        limit_ns = game.table.clock.limit_ns(side.index ^ game.swap)
        guest.pace.answered(since_ns, at_ns, limit_ns)
        if any(side.due for side in guest.sides):
            self._boards.mark(guest)

    def _send(self) -> None:
        """Begin what can begin, and send to every guest what there is for it, in one go."""
        boards = self._boards
        self._told += boards.deal()
        while boards.to_hear:
            to_hear, boards.to_hear = boards.to_hear, []
            for guest in to_hear:
                guest.marked = False
                if guest.away_ns is None and not guest.gone:
                    self._send_to(guest)
            self._told += boards.deal()

    def _send_to(self, guest: Guest) -> None:
        session, outbox, turns = guest.session, guest.outbox, guest.turns
        encode = pack if session.packed else encode_whole
        frames: list[bytes] = []
        if outbox:
            try:
                frames += [encode(message) for message in outbox]
            except Exception:
                frames += guest.encode(outbox)
            outbox.clear()
        stalled_ns, check_ns = self._lapses.stalled_ns, guest.check_ns
        # A turn's clock runs from here. What encoding the others takes is less than the grace by
        # far, and there are others only for one who plays many games at once.
        now_ns = self._now_ns()
        room = guest.pace.turns - len(turns)
        for side in guest.sides:
            due = side.due
            if not due or room <= 0:
                continue
            due, side.due = due[:room], due[room:]
            room -= len(due)
            index, left_ms, limit_ns = side.index, side.move_ms, side.limit_ns
            if limit_ns is not None and now_ns + limit_ns < check_ns:
                check_ns = now_ns + limit_ns
            for game in due:
                table = game.table
                seat = index ^ game.swap
                if side.banked:
                    left_ms = (table.clock.left_ns(seat) or 0) // NS_PER_MS
                turn_id = session.ask()
                try:
                    view, events, legal = table.request(seat)
                    turn = Turn(game.name, turn_id, view, events, legal, left_ms)
                    frames.append(encode(turn))
                except Exception as error:
                    session.withdraw(turn_id)
                    self._boards.bug(side, game, error)
                    continue
                turns[turn_id] = (game, side, now_ns, stalled_ns, turn)
        if not frames:
            return
        guest.pace.sent(len(turns))
        guest.check_ns = check_ns
        if check_ns < self._check_ns:
            self._check_ns = check_ns
        delivery = self._router.send(guest.peer, frames)
        if delivery is not Delivery.SENT:
            self._not_sent(guest, frames, delivery, now_ns)

    # Time.

    def _wait(self, timeout_ms: int) -> None:
        """Until something comes, a clock runs out, or it is time to look around."""
        now_ns = self._now_ns()
        due_ns = min(self._check_ns, self._look_ns)
        wait_ms = max(0, min(timeout_ms, (due_ns - now_ns) // NS_PER_MS + 1))
        self._poller.poll(wait_ms)
        # What it waits for at most is no deafness.
        woke_ns = self._now_ns()
        late_ns = woke_ns - now_ns - wait_ms * NS_PER_MS
        self._deaf_since_ns = woke_ns - max(0, late_ns)

    def _check_clocks(self, now_ns: int) -> None:
        """Is somebody late? And when to look again."""
        self._check_ns = NEVER_NS
        for guest in list(self.guests.values()):
            if guest.check_ns <= now_ns:
                guest.check_ns = self._lapses.next_deadline(guest, now_ns)
                # Turns of games that ended meanwhile have made room.
                self._boards.mark(guest)
            if guest.check_ns < self._check_ns:
                self._check_ns = guest.check_ns

    # What seldom happens.

    def _recognise(self, arrival: Arrival, guest: Guest | None, at_ns: int) -> Guest | None:
        """Whose message this is, if it is to be heard as that guest's."""
        known = self._reception.recognise(arrival, guest, at_ns)
        if known is not None and len(arrival.parts) != 1:
            self._lapses.show_out(known, Ending.GARBLED, many_parts(arrival))
            return None
        return known

    def _hear_odd(self, guest: Guest, event: Event, arrival: Arrival, at_ns: int) -> None:
        """Anything but a plain move."""
        if isinstance(event, PongReceived):
            self._reception.ponged(guest)
        elif isinstance(event, Misbehaved):
            if not self._reception.hello_again(guest, arrival, at_ns):
                self._lapses.show_out(guest, Ending(event.code), event.detail, event.received)
        elif isinstance(event, OddMoveReceived | ResignReceived):
            asked = guest.turns.pop(event.id)
            self._answered(guest, asked, at_ns)
            self._lapses.odd_answer(guest, asked, event, at_ns)

    def _not_sent(self, guest: Guest, frames: list[bytes], delivery: Delivery, now_ns: int) -> None:
        if delivery is Delivery.FULL:
            guest.unsent += frames
        why = NOT_READING if delivery is Delivery.FULL else CLOSED
        self._reception.away(guest, why, now_ns)

    def _look_around(self, now_ns: int) -> None:
        """Who left, who is silent, is it time to stop?"""
        self._look_ns = now_ns + LOOK_NS
        self._reception.look_for_departures(now_ns)
        if now_ns >= self._guard_ns and self._router.guard():
            self._guard_ns = now_ns + GUARD_NS
        self._reception.look_after(now_ns)
        if self._finish_ns is not None and not self.closed:
            if now_ns > self._finish_ns:
                self._boards.abandon()
            if not self._boards.open_games:
                self._send()
                self._reception.say_bye()
                self.closed = True
