"""The way to a referee elsewhere: one DEALER socket, and what becomes of its connection."""

from __future__ import annotations

import contextlib
import errno
import re

import zmq
from msgspec import Struct
from zmq.utils.monitor import recv_monitor_message

from referee.links.keys import KeyPair, check_key
from referee.links.tcp import bytes_received, copy_of
from referee.mistake import Mistake
from referee.protocol.messages import LINE_LIMIT

LINGER_MS = 500
HEARTBEAT_MS = 4_000
RECONNECT_MS, RECONNECT_MOST_MS = 200, 5_000
MOST_MESSAGE = 64 * LINE_LIMIT
"""A turn lists what a variant lists; more than this is no turn."""
RECEIVE_MARK = 16
"""Messages that wait to be heard. From then on, whoever sends more has to wait."""
MOST_HOARDED = 2 * RECEIVE_MARK * MOST_MESSAGE
"""Bytes that have come since the last message: libzmq keeps the parts of one until it is whole."""
_TCP = re.compile(r"tcp://(?:[^\s:/]+|\[[0-9A-Fa-f:.]+\]):(\d{1,5})")
REFUSED_AT_THE_DOOR: dict[int, str] = {
    zmq.EVENT_HANDSHAKE_FAILED_AUTH: "key",
    zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL: "handshake",
}
"""What is amiss: the key that was shown, or what comes before one is."""
ENDED_BY_PEER = (errno.EPIPE, errno.ECONNRESET)
REFUSING_ENDS = 3
"""A referee that does not take a bot may end the connection without a word, and so does one that is
killed. The killed one is not there for the next attempt; the other one ends that too. A proxy in
between may accept for one that is not there, so a bot that was taken once waits."""


class BadDestination(Mistake):
    """An address, a key or a token that cannot be used; the message says why."""


class Destination(Struct, frozen=True, kw_only=True):
    """Where to, as whom, and how to prove it."""

    to: str
    name: str
    token: str | None = None
    keys: KeyPair | None = None
    server_key: str | None = None

    def check(self) -> None:
        """Raises BadDestination, BadKey."""
        match = _TCP.fullmatch(self.to)
        if not self.to.startswith("ipc:///") and (match is None or not 0 < int(match[1]) < 65536):
            raise BadDestination(
                f"{self.to!r} is no address of a referee; write tcp://HOST:PORT, for example "
                "tcp://127.0.0.1:7781"
            )
        if self.keys is not None and self.server_key is None:
            raise BadDestination("with --key comes --server-key, which the organiser publishes")
        if self.server_key is not None and self.keys is None:
            raise BadDestination("with --server-key comes --key, the file of your bot's own key")
        if self.server_key is not None:
            check_key(self.server_key)
        if self.token is not None and not self.token.strip():
            raise BadDestination("the token is empty")


class Remote:
    """A connection that libzmq makes again whenever it breaks."""

    def __init__(self, destination: Destination) -> None:
        self.down = ""
        """Why there is no connection; empty where there is one, or none has been tried for."""
        self.fresh = False
        """Whether a connection has come up since this was last looked at."""
        self.turned_away = ""
        """What the other end does not take: our `key`, or the `handshake`; empty where it does."""
        self.shook_hands = False
        """Whether there ever was a connection over which one can speak."""
        self._ends = 0
        """Handshakes in a row that the other end has ended without a word."""
        self._fd = -1
        self._heard_one = True
        self._came = 0
        """Bytes, when a message was last heard."""
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self.socket = dealer = self._context.socket(zmq.DEALER)
        dealer.linger = LINGER_MS
        dealer.ipv6 = "[" in destination.to
        dealer.maxmsgsize = MOST_MESSAGE
        dealer.rcvhwm = RECEIVE_MARK
        dealer.heartbeat_ivl = HEARTBEAT_MS
        dealer.heartbeat_timeout = 2 * HEARTBEAT_MS
        dealer.reconnect_ivl = RECONNECT_MS
        dealer.reconnect_ivl_max = RECONNECT_MOST_MS
        # What was meant for a connection that is gone must not come out of the next one.
        dealer.immediate = True
        if destination.keys is not None and destination.server_key is not None:
            dealer.curve_publickey = destination.keys.public.encode()
            dealer.curve_secretkey = destination.keys.secret.encode()
            dealer.curve_serverkey = destination.server_key.encode()
        self.monitor = dealer.get_monitor_socket()
        try:
            dealer.connect(destination.to)
        except zmq.ZMQError as error:
            self.close()
            raise BadDestination(f"{destination.to}: {error.strerror}") from None

    def watch(self) -> None:
        """Take note of what has happened to the connection."""
        while self.monitor.poll(0):
            happened = recv_monitor_message(self.monitor)
            event = happened["event"]
            if event == zmq.EVENT_CONNECTED:
                self._fd, self._heard_one = int(happened["value"]), True
            elif event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                self.fresh, self.down, self.turned_away = True, "", ""
                self.shook_hands, self._ends = True, 0
            elif event in REFUSED_AT_THE_DOOR:
                self.turned_away = REFUSED_AT_THE_DOOR[event]
            elif event == zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL:
                self._ends += happened["value"] in ENDED_BY_PEER
                if self._ends == REFUSING_ENDS and not self.shook_hands:
                    self.turned_away = "handshake"
            elif event == zmq.EVENT_DISCONNECTED:
                self.down = "the connection ended"
            elif event in (zmq.EVENT_CONNECT_RETRIED, zmq.EVENT_CLOSED):
                self.down = self.down or "nobody answers there"
                if event == zmq.EVENT_CLOSED:  # No connection came about.
                    self._ends = 0

    def send(self, message: bytes) -> bool:
        """Whether it is on its way; it is not where there is no connection."""
        try:
            self.socket.send(message, zmq.DONTWAIT)
        except zmq.Again:
            return False
        return True

    def receive(self) -> bytes | None:
        """The next message, if one is there. One of several parts is none of a referee's."""
        with contextlib.suppress(zmq.Again):
            first, *more = self.socket.recv_multipart(zmq.DONTWAIT)
            self._heard_one = True
            return b"" if more else first
        return None

    def hoards(self) -> bool:
        """Whether far more has come than was ever a message."""
        try:
            with copy_of(self._fd) as line:
                came = bytes_received(line)
        except OSError:
            return False
        if self._heard_one:
            self._heard_one, self._came = False, came
        return came - self._came > MOST_HOARDED

    def close(self) -> None:
        self.socket.disable_monitor()
        self.monitor.close(0)
        self.socket.close()
        self._context.term()
