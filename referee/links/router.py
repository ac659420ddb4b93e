"""One ROUTER for many bots, wherever they are. Never blocks.

libzmq's input and output are in a thread of its own, and what passes it here is whole messages with
the routing id of their connection. Three things that a ROUTER does not tell are found out here:

- **Whose message it is.** With CURVE, the name that the doorkeeper gave the connection's key. A
  routing id that the ROUTER made up (it begins with a zero byte, which no peer may choose) is never
  given twice, so what is known of its connection is looked up. A peer that chose its own id is
  looked at with every message: another may come under the same id.
- **That a connection has ended.** The socket's monitor tells the descriptor, messages tell theirs.
  Descriptors come again; connections are numbered here, and a number never does.
- **That a peer does not read.** What is sent to it fills its queue up to a mark and is refused
  from then on: the memory that a peer can take is bounded. So is what it can make libzmq hold
  back: a message of many parts is handed over when its last one came, and may never end.

Whoever speaks an older ZMTP than 3, or something that libzmq takes for it, as it does HTTP, is
handed over without a word of where it came from: such a message is counted and not heard, and a
connection of which nothing was ever heard is shut when much has come over it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import struct
from collections import Counter, OrderedDict
from collections.abc import Callable
from enum import Enum

import zmq
from msgspec import Struct
from zmq.backend import Socket as Bare

from referee.links.doorkeeper import Doorkeeper
from referee.links.strangers import MOST_OF_ONE, SILENT_S, Strangers, hang_up, inode_of
from referee.links.tcp import bytes_received, copy_of, shut
from referee.mistake import Mistake

LARGEST_MESSAGE = 128 * 1024
"""libzmq hangs up on a peer that sends more. Twice a line's limit, so that the protocol can say
what is wrong with a message that is only too long."""
SEND_MARK = 1_000
"""Messages that wait for one peer: a few for each of 64 games at once, and no more."""
RECEIVE_MARK = 200
LINGER_MS = 1_000
HEARTBEAT_MS = 4_000
HANDSHAKE_MS = 10_000
UNHEARD_BYTES = 64 << 20
"""What may have come over a connection and not been handed over: more than a full queue."""
UNHEARD_STRANGER_BYTES = 2 * LARGEST_MESSAGE
"""The same where nothing of it was ever heard."""
FRAMING_BYTES = 64
"""Of a message on the wire, at most."""
DEPARTED = 1_000
"""So many connections that have ended are remembered: what they sent last may still be unread."""
NEVER_HEARD = "never heard"
"""It ended before it had said anything, for want of a handshake as a rule."""
GUARDED_AT_ONCE = 200
"""Connections that `guard` looks at in one call. Strangers can open thousands, and the loop that
looks at them also keeps the clocks."""
HOARDED = "message without end"
OLD_PROTOCOL = "older than ZMTP 3"
UNHEARD_AT_ONCE = 64
"""So many messages that are not heard are passed over before it is somebody else's turn."""

_ACCEPTED = int(zmq.EVENT_ACCEPTED)
_NOT_ADMITTED = int(zmq.EVENT_HANDSHAKE_FAILED_AUTH)
_DISCONNECTED = int(zmq.EVENT_DISCONNECTED)
_event = struct.Struct("=Hi")
_NOW = int(zmq.DONTWAIT)
_NOW_MORE = int(zmq.DONTWAIT | zmq.SNDMORE)
_RCVMORE = int(zmq.RCVMORE)
_SRCFD = int(zmq.SRCFD)


class BadEndpoint(Mistake):
    """An endpoint on which nobody can listen; the message says why."""


class Delivery(Enum):
    """What became of messages that were to be sent."""

    SENT = "sent"
    FULL = "full"
    """The peer does not read."""
    GONE = "gone"
    """There is no such connection any more."""


class Connection(Struct, frozen=True):
    """One connection of a peer, from its first message to its end."""

    number: int
    peer: bytes
    user: str
    """Whom its key belongs to; empty without CURVE."""
    fd: int
    inode: int
    address: str


class Arrival(Struct, frozen=True, gc=False):
    """One message."""

    peer: bytes
    user: str
    connection: int
    parts: list[bytes]


class Router:
    """Listens on one endpoint."""

    def __init__(
        self,
        endpoint: str,
        *,
        secret: str | None = None,
        known: Callable[[str], str | None] | None = None,
        heartbeat_ms: int = HEARTBEAT_MS,
        silent_s: float = SILENT_S,
        most_of_one: int = MOST_OF_ONE,
        most: int | None = None,
    ) -> None:
        """With a secret key, only peers whose public key is known get in. A connection has so many
        seconds to its first message, an address so many connections, all together `most`. Raises
        BadEndpoint."""
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self.refused: Counter[str] = Counter()
        """Who was not let in, by why."""
        self.dropped: Counter[str] = Counter()
        """Messages that were not heard, by why."""
        self._curve = secret is not None
        self._connections: dict[bytes, Connection] = {}
        self._by_fd: dict[int, Connection] = {}
        self._departed: OrderedDict[bytes, Connection] = OrderedDict()
        self._unreported: list[int] = []
        self._last_number = 0
        self._heard: dict[int, int] = {}
        """Bytes that were handed over, by descriptor, of every connection that is alive."""
        self._unguarded: list[int] = []
        """Descriptors that this round of `guard` has not come to."""
        self._counted = False
        """Whether the doorkeeper has counted the one that will be hung up on next."""
        if secret is not None:
            keeper = Doorkeeper(self._context, known or (lambda _: None))
            self.refused = keeper.refused
        self._strangers = Strangers(
            self.refused, silent_s=silent_s, most_of_one=most_of_one, most=most
        )
        self._socket = self._context.socket(zmq.ROUTER)
        _configure(self._socket, endpoint, secret, heartbeat_ms)
        self._monitor = self._watch()
        try:
            _check_port(endpoint)
            self._socket.bind(endpoint)
        except zmq.ZMQError as error:
            self.close()
            raise BadEndpoint(f"cannot listen on {endpoint}: {_reason(error)}") from None
        bound = self._socket.getsockopt(zmq.LAST_ENDPOINT)
        assert isinstance(bound, bytes)
        self.endpoint = bound.rstrip(b"\0").decode()
        """Where it listens, with the port that it was given."""

    @property
    def poller_items(self) -> list[tuple[zmq.Socket[bytes], int]]:
        """What a zmq.Poller should look at: readable means `receive`, or `departures`."""
        return [(self._socket, zmq.POLLIN), (self._monitor, zmq.POLLIN)]

    def receive(self) -> Arrival | None:
        """The next message, or None where none is there that can be heard."""
        source = self._socket
        try:
            peer = Bare.recv(source, _NOW)
        except zmq.Again:
            return None
        connection = self._connections.get(peer)
        if connection is None or peer[0] != 0:
            return self._receive_from(peer) or self._receive_next()
        body = Bare.recv(source, _NOW)
        parts = [body]
        if Bare.get(source, _RCVMORE):
            self._receive_rest(parts)
            body = b"".join(parts)
        self._heard[connection.fd] += len(body) + FRAMING_BYTES * len(parts)
        return Arrival(peer, connection.user, connection.number, parts)

    def send(self, peer: bytes, frames: list[bytes]) -> Delivery:
        """Each frame as one message. What a full queue did not take is left in the list."""
        target = self._socket
        sent = 0
        try:
            for frame in frames:
                Bare.send(target, peer, _NOW_MORE)
                Bare.send(target, frame, _NOW)
                sent += 1
        except zmq.Again:
            del frames[:sent]
            return Delivery.FULL
        except zmq.ZMQError as error:
            if error.errno != errno.EHOSTUNREACH:
                raise
            return Delivery.GONE
        return Delivery.SENT

    def departures(self) -> list[int]:
        """The numbers of connections that have ended since this was last asked."""
        self._look()
        ended, self._unreported = self._unreported, []
        return ended

    def connection(self, peer: bytes) -> Connection | None:
        """What is known of a peer that is connected and has sent something."""
        return self._connections.get(peer)

    def keep(self, peer: bytes) -> None:
        """This peer is known: its connection is not ended to make room for others."""
        connection = self._connections.get(peer)
        if connection is not None:
            self._strangers.known(connection.fd)

    def guard(self) -> bool:
        """Hang up on whoever has said nothing for too long, or has sent far more than could be
        handed over. Each call looks at some connections; whether it was the last of a round."""
        self._look()
        all_ended = self._strangers.end_silent(GUARDED_AT_ONCE)
        if not self._unguarded:
            self._unguarded = list(self._heard)
        for _ in range(min(GUARDED_AT_ONCE, len(self._unguarded))):
            self._hang_up_on_hoarder(self._unguarded.pop())
        return all_ended and not self._unguarded

    def cut(self, peer: bytes) -> None:
        """Hang up on a peer. ZeroMQ has no way to do it, so its socket is shut from outside."""
        connection = self._connections.get(peer)
        if connection is not None:
            hang_up(connection.fd, connection.inode)

    def close(self) -> None:
        """Send what is left to send, for a moment, and let go of everything."""
        with contextlib.suppress(zmq.ZMQError):
            self._socket.disable_monitor()
        self._monitor.close(linger=0)
        self._socket.close(linger=LINGER_MS)
        self._context.term()

    # What seldom happens.

    def _watch(self) -> zmq.Socket[bytes]:
        address = f"inproc://referee-monitor-{id(self)}"
        self._socket.monitor(address, _ACCEPTED | _NOT_ADMITTED | _DISCONNECTED)
        monitor = self._context.socket(zmq.PAIR)
        monitor.linger = 0
        monitor.rcvhwm = 0  # A full queue would stop libzmq's own thread.
        monitor.connect(address)
        return monitor

    def _hang_up_on_hoarder(self, fd: int) -> None:
        heard = self._heard.get(fd)
        if heard is None:
            return  # Its connection has ended since.
        with contextlib.suppress(OSError), copy_of(fd) as line:
            most = UNHEARD_STRANGER_BYTES if fd in self._strangers else UNHEARD_BYTES
            if bytes_received(line) - heard > most:
                self.refused[HOARDED] += 1
                shut(line)

    def _receive_next(self) -> Arrival | None:
        """After one that was not heard; a stranger's are not to keep the others waiting."""
        for _ in range(UNHEARD_AT_ONCE):
            try:
                peer = Bare.recv(self._socket, _NOW)
            except zmq.Again:
                return None
            arrival = self._receive_from(peer)
            if arrival is not None:
                return arrival
        return None

    def _receive_from(self, peer: bytes) -> Arrival | None:
        """From a connection that is new, or whose id might be another's by now; None where it
        cannot be said what connection that is."""
        frame = self._socket.recv(_NOW, copy=False)
        parts = [frame.bytes]
        self._receive_rest(parts)
        try:
            fd = int(frame.get(_SRCFD))
        except zmq.ZMQError:
            self.dropped[OLD_PROTOCOL] += 1
            return None
        # Without CURVE nobody vouches for it: it is what the peer itself says, in any bytes.
        user = _property(frame, "User-Id") if self._curve else ""
        # The monitor told of an end before its descriptor could be given out again.
        self._look()
        connection = self._connections.get(peer)
        if connection is None or (connection.fd, connection.user) != (fd, user):
            late = self._departed.get(peer)
            if late is not None and (peer[0] == 0 or inode_of(fd) in (None, late.inode)):
                return Arrival(peer, late.user, late.number, parts)
            connection = self._welcome(peer, user, fd, _property(frame, "Peer-Address"))
        if connection.fd in self._heard:
            self._heard[connection.fd] += sum(map(len, parts)) + FRAMING_BYTES * len(parts)
        return Arrival(peer, connection.user, connection.number, parts)

    def _receive_rest(self, parts: list[bytes]) -> None:
        while Bare.get(self._socket, _RCVMORE):
            parts.append(Bare.recv(self._socket, _NOW))

    def _welcome(self, peer: bytes, user: str, fd: int, address: str) -> Connection:
        # The monitor tells of a connection before its first message, and may have told of its end.
        # Its descriptor can be anything by now.
        is_there = fd in self._heard
        for stale in (self._connections.get(peer), self._by_fd.get(fd)):
            if stale is not None:
                self._forget(stale)
        self._last_number += 1
        inode = inode_of(fd)
        connection = Connection(self._last_number, peer, user, fd, inode or 0, address)
        self._connections[peer] = self._by_fd[fd] = connection
        self._strangers.heard(fd)
        if is_there and inode is not None:
            self._heard.setdefault(fd, 0)
        else:
            self._forget(connection)
        return connection

    def _forget(self, connection: Connection) -> None:
        if self._connections.get(connection.peer) is connection:
            del self._connections[connection.peer]
        if self._by_fd.get(connection.fd) is connection:
            del self._by_fd[connection.fd]
            self._heard.pop(connection.fd, None)
        self._departed[connection.peer] = connection
        if len(self._departed) > DEPARTED:
            self._departed.popitem(last=False)
        self._unreported.append(connection.number)

    def _look(self) -> None:
        """Hear what the monitor has to say."""
        try:
            while True:
                head, *_ = self._monitor.recv_multipart(zmq.DONTWAIT)
                kind, value = _event.unpack(head)
                if kind == _ACCEPTED:
                    self._heard[value] = 0
                    self._strangers.accepted(value)
                elif kind == _NOT_ADMITTED:
                    self._counted = True
                elif kind == _DISCONNECTED:
                    self._ended(value)
        except zmq.Again:
            pass

    def _ended(self, fd: int) -> None:
        self._heard.pop(fd, None)
        if fd in self._strangers and not self._counted:
            self.refused[NEVER_HEARD] += 1
        self._strangers.ended(fd)
        self._counted = False
        connection = self._by_fd.get(fd)
        if connection is not None:
            self._forget(connection)


def _configure(
    router: zmq.Socket[bytes], endpoint: str, secret: str | None, heartbeat_ms: int
) -> None:
    router.router_mandatory = True
    router.maxmsgsize = LARGEST_MESSAGE
    router.sndhwm = SEND_MARK
    router.rcvhwm = RECEIVE_MARK
    router.linger = LINGER_MS
    router.handshake_ivl = HANDSHAKE_MS
    router.heartbeat_ivl = heartbeat_ms
    router.heartbeat_timeout = 2 * heartbeat_ms
    router.heartbeat_ttl = 2 * heartbeat_ms
    router.ipv6 = "[" in endpoint
    if secret is not None:
        router.curve_server = True
        router.curve_secretkey = secret.encode()


def _property(frame: zmq.Frame, name: str) -> str:
    try:
        return str(frame.get(name))
    except zmq.ZMQError:
        return ""


def _check_port(endpoint: str) -> None:
    """libzmq takes any number and listens somewhere."""
    port = endpoint.rpartition(":")[2]
    if (
        endpoint.startswith("tcp://")
        and port != "*"
        and not (port.isdecimal() and int(port) < 2**16)
    ):
        raise zmq.ZMQError(errno.EINVAL)


def _reason(error: zmq.ZMQError) -> str:
    if error.errno == errno.EINVAL:
        return "write it as tcp://ADDRESS:PORT"
    if error.errno == errno.ENODEV:
        return "no such address on this machine"
    return os.strerror(error.errno or 0).lower()
