"""Who is in the hall: hellos, guests that are away and come back, strangers.

One name, one live connection. A hello under a name that is here takes it over: where the older
connection has ended, or is the same one, the guest goes on with its games; where it is alive, the
newer wins and the older one's games are lost. What a stranger sends costs a counter, and from some
point on his connection. An arrival costs whoever hears of it far more than the hall: it becomes a
version, is committed and logged. So a name arrives twice within a second at most.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque

from msgspec import Struct

from referee.arena.boards import Boards
from referee.arena.guest import Guest
from referee.arena.happenings import Arrived, Departed, Doors, HallTerms, Happening, Refused
from referee.arena.hints import ZEROMQ
from referee.clock import NS_PER_MS
from referee.links.router import Arrival, Delivery, Router
from referee.protocol.messages import (
    Bye,
    Error,
    Event,
    HelloReceived,
    Misbehaved,
    Ping,
    ToBot,
)
from referee.protocol.packed import is_packed
from referee.protocol.session import Session
from referee.verdict import Ending
from referee.version import __version__

NO_HELLO = "no hello"
STRAYS = 100
"""So many messages of a connection that belong to no guest are answered by hanging up."""
HELLO_AGAIN_NS = 1_000_000_000
"""A guest that says hello more often than this is at fault."""
ARRIVALS = 2
"""So often a name may arrive within `ARRIVALS_NS`: who is started anew once does not wait."""
ARRIVALS_NS = 1_000_000_000
TAKEN_OVER = "another connection said hello under this name"
CLOSED = f"the bot {ZEROMQ.closed_output}"


class Stray(Struct):
    """A connection that is no guest's."""

    peer: bytes
    messages: int = 0
    seen_ns: int | None = None
    """When it was first looked at."""


class Waiting(Struct, frozen=True):
    """A good hello that came too soon after the last arrivals of its name."""

    arrival: Arrival
    session: Session
    hello: HelloReceived


class Reception:
    """The guests, by name and by routing id."""

    def __init__(self, router: Router, doors: Doors, terms: HallTerms, boards: Boards) -> None:
        self._router = router
        self._doors = doors
        self._terms = terms
        self._boards = boards
        self.guests: dict[str, Guest] = {}
        self.by_peer: dict[bytes, Guest] = {}
        self._by_connection: dict[int, Guest] = {}
        self._strays: dict[int, Stray] = {}
        """Connections that have spoken and are no guest's."""
        self._arrivals: defaultdict[str, deque[int]] = defaultdict(lambda: deque(maxlen=ARRIVALS))
        """When each name has arrived last."""
        self._waiting: dict[str, Waiting] = {}
        """The last hello of each name that is to arrive later."""
        self.refused: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self.told: list[Happening] = []

    # Messages that are not one plain message of a guest on the connection that it is known by.

    def recognise(self, arrival: Arrival, guest: Guest | None, at_ns: int) -> Guest | None:
        """Whose message this is; None where there is nothing more to do with it."""
        if guest is None and arrival.user:
            guest = self.guests.get(arrival.user)
        if guest is not None and guest.connection == arrival.connection:
            return guest
        if len(arrival.parts) != 1:
            self._stray(arrival, many_parts(arrival), "parts")
            return None
        session, event = self._read_hello(arrival.parts[0])
        if isinstance(event, HelloReceived):
            self.introduce(arrival, session, event, at_ns)
            return None
        if guest is not None and guest.away_ns is not None and _is(guest, arrival):
            self._rebind(guest, arrival)
            guest.reconnect(arrival, at_ns)
            self._came_back(guest)
            return guest
        self._stray(arrival, event.detail, str(event.code))
        return None

    def hello_again(self, guest: Guest, arrival: Arrival, at_ns: int) -> bool:
        """Whether what a guest said in the middle of its conversation is a good hello."""
        session, event = self._read_hello(arrival.parts[0])
        if not isinstance(event, HelloReceived) or at_ns - guest.greeted_ns < HELLO_AGAIN_NS:
            return False
        self.introduce(arrival, session, event, at_ns, guest)
        return True

    def introduce(
        self,
        arrival: Arrival,
        session: Session,
        hello: HelloReceived,
        at_ns: int,
        before: Guest | None = None,
    ) -> None:
        """A good hello: who is it? `before` is who was known on this connection until now."""
        name = self._doors.admit(arrival.user, hello)
        if before is not None and (isinstance(name, Refused) or name != before.name):
            self.show_out(before, "the bot said hello under another name", Ending.CRASH)
        if isinstance(name, Refused):
            self.refused[name.kind] += 1
            self._stray(arrival, name.why, "hello")
            return
        connection = self._router.connection(arrival.peer)
        address = connection.address if connection is not None else ""
        guest = Guest(name, arrival, hello, address)
        older = self.guests.get(name)
        if older is not None:
            same = older.connection == arrival.connection or older.away_ns is not None
            if same and (older.hello, older.user) == (guest.hello, guest.user):
                self._rebind(older, arrival)
                older.greet(session, arrival, at_ns)
                self._came_back(older)
                return
        if name in self._waiting or self._arrives_at(name) > at_ns:
            self._keep_waiting(name, Waiting(arrival, session, hello))
            return
        if older is not None:
            self.show_out(older, TAKEN_OVER, Ending.CRASH)
        self._arrivals[name].append(at_ns)
        self.guests[name] = guest
        self._rebind(guest, arrival)
        guest.greet(session, arrival, at_ns)
        self._boards.mark(guest)
        self.told.append(Arrived(name, guest.hello, address))

    def _arrives_at(self, name: str) -> int:
        """From when on this name may arrive."""
        last = self._arrivals[name]
        return last[0] + ARRIVALS_NS if len(last) == ARRIVALS else 0

    def _keep_waiting(self, name: str, newer: Waiting) -> None:
        """The newer hello of a name wins here, too."""
        older = self._waiting.get(name)
        self._waiting[name] = newer
        if older is not None and older.arrival.connection != newer.arrival.connection:
            self._stray(older.arrival, TAKEN_OVER, "hello")

    def _introduce_waiting(self, now_ns: int) -> None:
        for name, waiting in list(self._waiting.items()):
            if self._arrives_at(name) <= now_ns:
                del self._waiting[name]
                connection = self._router.connection(waiting.arrival.peer)
                if connection is not None and connection.number == waiting.arrival.connection:
                    self.introduce(waiting.arrival, waiting.session, waiting.hello, now_ns)

    def _read_hello(self, data: bytes) -> tuple[Session, HelloReceived | Misbehaved]:
        session = Session(self._terms.flood_bytes)
        session.hello(__version__)
        events: list[Event] = list(session.message(data))
        (event,) = events
        assert isinstance(event, HelloReceived | Misbehaved)
        return session, event

    def _rebind(self, guest: Guest, arrival: Arrival) -> None:
        self._unbind(guest)
        self.by_peer[arrival.peer] = guest
        self._by_connection[arrival.connection] = guest
        self._strays.pop(arrival.connection, None)
        self._router.keep(arrival.peer)

    def _unbind(self, guest: Guest) -> None:
        if self.by_peer.get(guest.peer) is guest:
            del self.by_peer[guest.peer]
        if self._by_connection.get(guest.connection) is guest:
            del self._by_connection[guest.connection]

    def _came_back(self, guest: Guest) -> None:
        self._boards.mark(guest)
        self._boards.can_play(guest)

    def _stray(self, arrival: Arrival, detail: str, kind: str) -> None:
        """From nobody who is known. The first one is answered, for the author of a bot."""
        self.dropped[kind] += 1
        if self._router.connection(arrival.peer) is None:
            return
        stray = self._strays.setdefault(arrival.connection, Stray(arrival.peer))
        stray.messages += 1
        if stray.messages == 1:
            session = Session()
            session.packed = is_packed(arrival.parts[0])
            error = Error(Ending.NO_HELLO, detail)
            self._router.send(arrival.peer, session.frames([error]))
        elif stray.messages > STRAYS:
            self._router.cut(arrival.peer)

    # Leaving.

    def show_out(self, guest: Guest, why: str, code: Ending, said: str = "") -> None:
        """A guest leaves: its open games are lost, and it is told why if it still listens."""
        guest.forget_turns()
        if guest.away_ns is None:
            guest.outbox.append(Error(code, why))
        self._boards.lose_all(guest, code, why, said)
        self._boards.leave(guest)
        self._part(guest, [*guest.outbox, Bye()], why)

    def say_bye(self) -> None:
        """To everybody."""
        for guest in list(self.guests.values()):
            self._part(guest, [*guest.outbox, Bye()], "the hall closes")

    def _part(self, guest: Guest, last_words: list[ToBot], why: str) -> None:
        if guest.away_ns is None:
            self._router.send(guest.peer, guest.encode(last_words))
        connection = self._router.connection(guest.peer)
        if connection is not None and connection.number == guest.connection:
            self._strays.setdefault(connection.number, Stray(guest.peer))
        guest.outbox.clear()
        guest.gone = True
        self._unbind(guest)
        if self.guests.get(guest.name) is guest:
            del self.guests[guest.name]
        self.told.append(Departed(guest.name, why))

    # Being away.

    def look_for_departures(self, now_ns: int) -> None:
        for number in self._router.departures():
            self._strays.pop(number, None)
            guest = self._by_connection.pop(number, None)
            if guest is not None:
                self.away(guest, CLOSED, now_ns)

    def away(self, guest: Guest, why: str, now_ns: int) -> None:
        if guest.away_ns is None:
            guest.away_ns, guest.away_why = now_ns, why

    def look_after(self, now_ns: int) -> None:
        """Who has been away for too long? Who is silent? Who is nobody? Now and then."""
        self._end_strays(now_ns)
        self._introduce_waiting(now_ns)
        terms = self._terms
        away_ns, ping_ns = terms.away_ms * NS_PER_MS, int(terms.ping_s * 1e9)
        within = f"within {terms.away_ms} ms"
        for guest in list(self.guests.values()):
            if guest.away_ns is not None:
                if guest.unsent and self._reads_again(guest):
                    continue
                if now_ns - guest.away_ns > away_ns:
                    why = f"{guest.away_why} and did not come back {within}"
                    self.show_out(guest, why, Ending.CRASH)
            elif guest.pinged_ns is not None:
                if now_ns - guest.pinged_ns > away_ns:
                    self.show_out(guest, f"the bot did not answer a ping {within}", Ending.CRASH)
            elif now_ns - guest.heard_ns > ping_ns and not guest.turns:
                self.ping(guest, now_ns)

    def _end_strays(self, now_ns: int) -> None:
        """Hang up on those who have said no good hello for a while: each takes a descriptor."""
        latest_ns = now_ns - int(self._terms.hello_s * 1e9)
        for number, stray in list(self._strays.items()):
            if stray.seen_ns is None:
                stray.seen_ns = now_ns
            elif stray.seen_ns < latest_ns:
                del self._strays[number]
                connection = self._router.connection(stray.peer)
                if connection is not None and connection.number == number:
                    self.refused[NO_HELLO] += 1
                    self._router.cut(stray.peer)

    def ping(self, guest: Guest, now_ns: int) -> None:
        """Is it there? Until it says so, it begins no game."""
        if guest.turns or any(side.due for side in guest.sides):
            return
        guest.session.ping()
        guest.pinged_ns = now_ns
        guest.outbox.append(Ping())
        self._boards.mark(guest)

    def ponged(self, guest: Guest) -> None:
        if guest.pinged_ns is not None:
            guest.pinged_ns = None
            self._boards.can_play(guest)

    def _reads_again(self, guest: Guest) -> bool:
        """Whether a guest that did not read has taken what was left for it."""
        delivery = self._router.send(guest.peer, guest.unsent)
        if delivery is Delivery.FULL:
            return False
        guest.unsent.clear()
        if delivery is Delivery.GONE:
            return False
        guest.away_ns = None
        self._came_back(guest)
        return True


def many_parts(arrival: Arrival) -> str:
    return (
        f"a message of {len(arrival.parts)} parts; each object is a message of one part "
        f"(a DEALER sends it like that, a REQ does not)"
    )


def _is(guest: Guest, arrival: Arrival) -> bool:
    """Whether the new connection is the guest's beyond doubt, without a hello."""
    if guest.user or arrival.user:
        return guest.user == arrival.user
    return guest.peer == arrival.peer and not guest.vouched
