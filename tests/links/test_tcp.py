"""Connections that are shut from outside, whatever their peers are about."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
from collections.abc import Iterator

import pytest

from referee.links.strangers import hang_up
from tests.loopback import own_address
from tests.waiting import wait_for

SOON_MS = 30_000
"""Less than the minute for which the system keeps half a connection."""
_UNACKNOWLEDGED = struct.Struct("=24xI")
"""Where Linux keeps that in TCP_INFO."""


@contextlib.contextmanager
def both_ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Ours, and that of the peer."""
    with (
        socket.create_server((own_address(), 0)) as server,
        socket.create_connection(server.getsockname()) as peer,
    ):
        ours, _ = server.accept()
        with ours:
            yield ours, peer


def fill(sender: socket.socket) -> None:
    """Send until the other end has no room, and has said so."""
    sender.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            sender.send(bytes(1000))
    wait_for(lambda: not on_the_way(sender), "a window of zero")


def on_the_way(sender: socket.socket) -> int:
    """Packets that were sent and not acknowledged."""
    told = sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _UNACKNOWLEDGED.size)
    (packets,) = _UNACKNOWLEDGED.unpack(told)
    return int(packets)


def close_as_libzmq(line: socket.socket) -> None:
    """Read up to the end that was made from outside, and close."""
    while line.recv(1 << 16):
        pass
    line.close()


@pytest.mark.parametrize("sends", ["the peer", "the referee"])
def test_a_peer_learns_of_the_end_though_somebody_has_no_room(sends: str) -> None:
    with both_ends() as (ours, peer):
        fill(peer if sends == "the peer" else ours)
        hang_up(ours.fileno(), os.fstat(ours.fileno()).st_ino)
        close_as_libzmq(ours)
        poll = select.poll()
        poll.register(peer, 0)
        assert poll.poll(SOON_MS), "neither an error nor the end"
