"""Addresses of the loopback network, a new one for each server that a test starts.

All of 127.0.0.0/8 is loopback. A port that one test's server gives up cannot be taken by another
test's server as long as the two have different addresses. A client that still knocks there is then
refused, where it would otherwise disturb a stranger. Clients connect from 127.0.0.1, so that the
port of a client is never the one that it connects to. Elsewhere than on Linux there is 127.0.0.1
alone.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from itertools import count

LOWEST, PORTS = 10_000, 20_000
_servers, _ports = count(), count()


def own_address() -> str:
    """An address that no other running server of any tests has."""
    if sys.platform != "linux":
        return "127.0.0.1"
    process, server = os.getpid(), next(_servers)
    return f"127.{1 + process // 256 % 254}.{process % 256}.{1 + server % 254}"


def free_port(address: str) -> int:
    """A port for a server to listen at later. Nobody takes it until then, if the address is own:
    whoever listens at any port of all addresses is given a higher one by the system."""
    while True:
        port = LOWEST + (os.getpid() + next(_ports)) % PORTS
        with contextlib.suppress(OSError), socket.create_server((address, port)):
            return port
