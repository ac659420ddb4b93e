"""Connections of which nothing was heard yet: for how long, and how many from one address.

Every connection takes a descriptor, whether anybody speaks or not. So a silent one is closed after
a while, and an address has a share of the descriptors. libzmq cannot hang up on a peer: its socket
is shut from outside.
"""

from __future__ import annotations

import contextlib
import os
import resource
import time
from collections import Counter
from collections.abc import Callable

from msgspec import Struct

from referee.links.tcp import copy_of, shut

SILENT_S = 60.0
"""From the beginning of a connection to its first message."""
MOST_OF_ONE = 2_000
"""Connections of one address; half of the descriptors where that is less."""
SILENT = "silent"
TOO_MANY = "too many of one address"


class Line(Struct, frozen=True):
    """A connection that is alive."""

    inode: int
    address: str
    since: float


class Strangers:
    """Every connection by its descriptor, and which of them have said nothing."""

    def __init__(
        self,
        refused: Counter[str],
        *,
        silent_s: float = SILENT_S,
        most_of_one: int = MOST_OF_ONE,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Who is hung up on is counted in `refused`, by why."""
        self.refused = refused
        self._silent_s = silent_s
        self._most_of_one = min(most_of_one, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)
        self._now = now
        self._lines: dict[int, Line] = {}
        self._silent: set[int] = set()
        self._of_address: Counter[str] = Counter()

    def __contains__(self, fd: int) -> bool:
        """Whether nothing was heard of this connection."""
        return fd in self._silent

    def accepted(self, fd: int) -> None:
        """A connection has begun; it is ended where there are too many of its address."""
        self.ended(fd)
        inode, address = _peer(fd)
        self._lines[fd] = line = Line(inode, address, self._now())
        self._silent.add(fd)
        self._of_address[address] += 1
        if address and self._of_address[address] > self._most_of_one:
            self._hang_up(fd, line, TOO_MANY)

    def heard(self, fd: int) -> None:
        self._silent.discard(fd)

    def ended(self, fd: int) -> None:
        self._silent.discard(fd)
        line = self._lines.pop(fd, None)
        if line is not None:
            self._of_address[line.address] -= 1
            if not self._of_address[line.address]:
                del self._of_address[line.address]

    def end_silent(self) -> None:
        """Hang up on all that have been silent for too long."""
        latest = self._now() - self._silent_s
        for fd in [each for each in self._silent if self._lines[each].since < latest]:
            self._hang_up(fd, self._lines[fd], SILENT)

    def _hang_up(self, fd: int, line: Line, why: str) -> None:
        """Its end is told of in a moment, and is no other trouble then."""
        self._silent.discard(fd)
        self.refused[why] += 1
        hang_up(fd, line.inode)


def hang_up(fd: int, inode: int) -> None:
    """Shut a socket, if it is still this one: descriptors come again."""
    with contextlib.suppress(OSError), copy_of(fd) as line:
        if os.fstat(line.fileno()).st_ino == inode:
            shut(line)


def inode_of(fd: int) -> int | None:
    try:
        return os.fstat(fd).st_ino
    except OSError:
        return None


def _peer(fd: int) -> tuple[int, str]:
    """The number of a socket, and the address at its other end; none where it has none."""
    with contextlib.suppress(OSError), copy_of(fd) as line:
        name = line.getpeername()
        return os.fstat(fd).st_ino, str(name[0]) if isinstance(name, tuple) else ""
    return 0, ""
