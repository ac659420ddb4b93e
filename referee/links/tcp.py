"""What the system knows of a connection that libzmq holds."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import sys
from collections.abc import Iterator

_BYTES_RECEIVED = struct.Struct("=128xQ")
"""Where Linux keeps that in TCP_INFO."""
_NO_LINGERING = struct.pack("ii", 1, 0)


@contextlib.contextmanager
def copy_of(fd: int) -> Iterator[socket.socket]:
    """Another descriptor of the same socket, which stays that socket's until it is closed. Raises
    OSError."""
    with socket.socket(fileno=os.dup(fd)) as line:
        yield line


def shut(line: socket.socket) -> None:
    """End a connection that libzmq holds. libzmq notices and closes it. Raises OSError.

    That close resets the connection. Any other would leave half of it open for a minute, where one
    side has no room for what the other one sends.
    """
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGERING)
    line.shutdown(socket.SHUT_RDWR)


def bytes_received(line: socket.socket) -> int:
    """All that ever came; 0 where the system does not tell."""
    if sys.platform != "linux":
        return 0
    try:
        told = line.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _BYTES_RECEIVED.size)
        (came,) = _BYTES_RECEIVED.unpack(told)
    except (OSError, struct.error):
        return 0
    return int(came)
