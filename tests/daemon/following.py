"""What a daemon tells its pages, heard by a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import zmq

from referee.daemon.live import FILE, TOPIC
from tests.daemon.serving import Daemon


@contextmanager
def following(daemon: Daemon) -> Iterator[zmq.Socket[bytes]]:
    """What the daemon tells its pages."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    socket = context.socket(zmq.SUB)
    socket.linger = 0
    socket.subscribe(TOPIC)
    socket.connect(f"ipc://{daemon.data / FILE}")
    try:
        yield socket
    finally:
        socket.close()
        context.term()


def heard(follower: zmq.Socket[bytes]) -> Iterator[dict[str, Any]]:
    while follower.poll(0):
        yield msgspec.json.decode(follower.recv_multipart()[1])
