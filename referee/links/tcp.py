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


@contextlib.contextmanager
def copy_of(fd: int) -> Iterator[socket.socket]:
    """Another descriptor of the same socket, which stays that socket's until it is closed. Raises
    OSError."""
    with socket.socket(fileno=os.dup(fd)) as line:
        yield line


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
