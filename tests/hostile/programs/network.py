"""Talks to the world on its first turn.

    network.py TCP UDP ABSTRACT PATH MARK

TCP and UDP are ports of this machine, ABSTRACT and PATH the names of two unix sockets. The test
listens on all of them, and answers.

Bounded: one word to each, and half a second for the answer.
"""

from __future__ import annotations

import socket
import sys

from tests.hostile.programs.bot import Turn, answer, attempt, say, serve

PATIENCE_S = 0.5
HOST_ID = 2
"""What a machine is called by the virtual machines on it."""

tcp, udp, abstract, path, _ = sys.argv[1:]
turns = 0


def greeted(family: int, kind: int, address: tuple[str, int] | str) -> bool:
    with socket.socket(family, kind) as ours:
        ours.settimeout(PATIENCE_S)
        ours.connect(address)
        ours.send(b"hello")
        return ours.recv(16) == b"welcome"


def other_interfaces() -> bool:
    return any(name != "lo" for _, name in socket.if_nameindex())


def vsock() -> None:
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()


def vsock_to_host() -> None:
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM) as ours:
        ours.settimeout(PATIENCE_S)
        ours.connect((HOST_ID, 1))


def on_turn(turn: Turn) -> None:
    global turns
    turns += 1
    if turns == 1:
        stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
        attempt("tcp", lambda: greeted(socket.AF_INET, stream, ("127.0.0.1", int(tcp))))
        attempt("udp", lambda: greeted(socket.AF_INET, datagram, ("127.0.0.1", int(udp))))
        attempt("abstract", lambda: greeted(socket.AF_UNIX, stream, f"\0{abstract}"))
        attempt("path", lambda: greeted(socket.AF_UNIX, stream, path))
        attempt("vsock", vsock)
        attempt("vsock to the host", vsock_to_host)
        attempt("interfaces", other_interfaces)
    say(answer(turn))


serve(on_turn)
