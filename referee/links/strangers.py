"""Connections of nobody who is known: for how long they may be silent, and how many there may be.

Every connection takes a descriptor, whether anybody speaks or not. So a silent one is closed after
a while, an address has a share of the descriptors, and where few are left the oldest connection of
a stranger makes room for a new one. libzmq cannot hang up on a peer: its socket is shut from
outside.
"""

from __future__ import annotations

import contextlib
import os
import resource
import time
from collections import Counter
from collections.abc import Callable
from itertools import islice, takewhile

from msgspec import Struct

from referee.links.addresses import network_of
from referee.links.tcp import copy_of, shut

SILENT_S = 60.0
"""From the beginning of a connection to its first message."""
MOST_OF_ONE = 2_000
"""Connections of one address; half of the descriptors where that is less."""
SPARE = 1_500
"""Descriptors that are left for connections that libzmq has and nobody has counted yet, and for all
else; half of them where that is less."""
SILENT = "silent"
TOO_MANY = "too many of one address"
NO_ROOM = "no room"


class Line(Struct, frozen=True):
    """A connection that is alive."""

    inode: int
    address: str
    """Of IPv6 the network."""
    since: float


class Strangers:
    """Every connection by its descriptor, and which of them are strangers'."""

    def __init__(
        self,
        refused: Counter[str],
        *,
        silent_s: float = SILENT_S,
        most_of_one: int = MOST_OF_ONE,
        most: int | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Who is hung up on is counted in `refused`, by why. `most` is for all addresses together;
        what the descriptors allow by default."""
        self.refused = refused
        self._silent_s = silent_s
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._most_of_one = min(most_of_one, descriptors // 2)
        self._most = most or descriptors - min(SPARE, descriptors // 2)
        self._now = now
        self._lines: dict[int, Line] = {}
        self._strangers: dict[int, None] = {}
        """Those that may be hung up on, the oldest first."""
        self._silent: dict[int, None] = {}
        """Those of which nothing was heard, the oldest first."""
        self._of_address: Counter[str] = Counter()

    def __contains__(self, fd: int) -> bool:
        """Whether nothing was heard of this connection."""
        return fd in self._silent

    def accepted(self, fd: int) -> None:
        """A connection has begun; it is ended where there are too many of its address, and the
        oldest of a stranger where there are too many in all."""
        self.ended(fd)
        inode, address = _peer(fd)
        self._lines[fd] = line = Line(inode, address, self._now())
        self._strangers[fd] = None
        self._silent[fd] = None
        self._of_address[address] += 1
        if address and self._of_address[address] > self._most_of_one:
            self._hang_up(fd, line, TOO_MANY)
        elif len(self._lines) > self._most:
            oldest = next(iter(self._strangers))
            self._hang_up(oldest, self._lines[oldest], NO_ROOM)

    def heard(self, fd: int) -> None:
        self._silent.pop(fd, None)

    def known(self, fd: int) -> None:
        """It is no stranger's any more."""
        self._strangers.pop(fd, None)

    def ended(self, fd: int) -> None:
        self._strangers.pop(fd, None)
        self._silent.pop(fd, None)
        line = self._lines.pop(fd, None)
        if line is not None:
            self._of_address[line.address] -= 1
            if not self._of_address[line.address]:
                del self._of_address[line.address]

    def end_silent(self, most: int) -> bool:
        """Hang up on those that have been silent for too long, at most so many of them; whether
        that were all."""
        latest = self._now() - self._silent_s
        late = takewhile(lambda fd: self._lines[fd].since < latest, self._silent)
        ended = list(islice(late, most))
        for fd in ended:
            self._hang_up(fd, self._lines[fd], SILENT)
        return len(ended) < most

    def _hang_up(self, fd: int, line: Line, why: str) -> None:
        """Its end is told of in a moment, and is no other trouble then."""
        self._strangers.pop(fd, None)
        self._silent.pop(fd, None)
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
        return os.fstat(fd).st_ino, network_of(name[0]) if isinstance(name, tuple) else ""
    return 0, ""
