"""Who may connect: a ZeroMQ context asks here before a CURVE handshake is done (RFC 27, ZAP).

A thread of its own, since the context waits for the answer while the hall is at work. A key that
is known is answered with the name that it belongs to; libzmq puts that name on every message of the
connection, so that nobody can speak for another.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

import zmq
from zmq.utils import z85

ADDRESS = "inproc://zeromq.zap.01"
VERSION = b"1.0"
UNKNOWN_KEY = "unknown key"
NO_KEY = "no key"


class Doorkeeper:
    """Answers the context's questions until the context ends."""

    def __init__(
        self, context: zmq.Context[zmq.Socket[bytes]], known: Callable[[str], str | None]
    ) -> None:
        self._known = known
        self.refused: Counter[str] = Counter()
        self._socket = context.socket(zmq.REP)
        self._socket.linger = 0
        # Bound before anything listens: without a doorkeeper libzmq would let everybody in.
        self._socket.bind(ADDRESS)
        self._thread = threading.Thread(target=self._answer, daemon=True)
        self._thread.start()

    def _answer(self) -> None:
        try:
            while True:
                request = self._socket.recv_multipart()
                self._socket.send_multipart(self._reply(request))
        except zmq.ZMQError:
            pass  # The context has ended.
        finally:
            self._socket.close()

    def _reply(self, request: list[bytes]) -> list[bytes]:
        _, number, _, _, _, mechanism, *credentials = request
        why = NO_KEY
        if mechanism == b"CURVE" and len(credentials) == 1:
            name = self._known(z85.encode(credentials[0]).decode())
            if name is not None:
                return [VERSION, number, b"200", b"OK", name.encode(), b""]
            why = UNKNOWN_KEY
        self.refused[why] += 1
        return [VERSION, number, b"400", why.encode(), b"", b""]
