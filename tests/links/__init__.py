"""Tests of the links, and the peers that they talk to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import zmq

from referee.links.keys import KeyPair
from referee.links.router import Arrival, Router
from tests.waiting import PATIENCE_S, wait_for


def next_arrival(router: Router) -> Arrival:
    return wait_for(router.receive, "an arrival")


def next_departures(router: Router) -> list[int]:
    return wait_for(router.departures, "a departure")


def let_take_over(router: Router) -> None:
    """Let a peer have the routing id of one that has just left.

    libzmq tells of an end a moment before it lets go of the id. It never hears a peer that comes
    with the same id in that moment, unless it is told to hand the id over.
    """
    (socket, _), _ = router.poller_items
    socket.setsockopt(zmq.ROUTER_HANDOVER, 1)


@contextmanager
def dealer(
    endpoint: str,
    *,
    keys: KeyPair | None = None,
    server: str | None = None,
    identity: bytes | None = None,
    rcvhwm: int | None = None,
) -> Iterator[zmq.Socket[bytes]]:
    """A bot's end, in a context of its own."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    socket = context.socket(zmq.DEALER)
    socket.linger = 0
    socket.rcvtimeo = int(PATIENCE_S * 1000)
    if identity is not None:
        socket.routing_id = identity
    if rcvhwm is not None:
        socket.rcvhwm = rcvhwm
        socket.rcvbuf = 4096
    if keys is not None:
        assert server is not None
        socket.curve_publickey = keys.public.encode()
        socket.curve_secretkey = keys.secret.encode()
        socket.curve_serverkey = server.encode()
    socket.connect(endpoint)
    try:
        yield socket
    finally:
        socket.close()
        context.term()
