"""What happens right now, for whoever follows: JSON events on a ZeroMQ socket of the data folder.

Nobody has to listen, and whoever does not keep up misses events: the socket drops what it cannot
send and the daemon never waits for it.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec
import zmq

FILE = "live.ipc"
TOPIC = b"live"
MOST_WAITING = 10_000


class Live:
    """The daemon's end."""

    def __init__(self, data: Path) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.PUB)
        self._socket.set(zmq.SNDHWM, MOST_WAITING)
        self._socket.set(zmq.LINGER, 0)
        # The path of a socket may have about a hundred characters: from inside, it is short.
        with contextlib.chdir(data):
            Path(FILE).unlink(missing_ok=True)
            self._socket.bind(f"ipc://{FILE}")

    def tell(self, kind: str, **fields: object) -> None:
        body = msgspec.json.encode({"type": kind, **fields})
        with contextlib.suppress(zmq.Again):
            self._socket.send_multipart([TOPIC, body], zmq.NOBLOCK)

    def close(self) -> None:
        self._socket.close()
        self._context.term()
