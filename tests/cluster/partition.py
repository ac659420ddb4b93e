"""A network that can be cut between a scheduler and a worker: both live on, no line is closed."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from collections.abc import Iterator

from tests.loopback import own_address

CHUNK = 1 << 16
LOOK_S = 0.05


class Cable:
    """What comes in at `address` goes on to a port of this host, unless it is cut."""

    def __init__(self, host: str, port: int) -> None:
        self._goes_to = host, port
        self._listening = socket.create_server((own_address(), 0))
        self.address = "tcp://{}:{}".format(*self._listening.getsockname())
        self._whole = threading.Event()
        self._whole.set()
        self._open = True
        self._ends: dict[socket.socket, socket.socket] = {}
        self._thread = threading.Thread(target=self._carry)
        self._thread.start()

    def cut(self) -> None:
        """Nothing arrives any more, and nobody is told so."""
        self._whole.clear()

    def mend(self) -> None:
        self._whole.set()

    def close(self) -> None:
        self._open = False
        self._whole.set()
        self._thread.join()
        for each in (self._listening, *self._ends):
            each.close()

    def _carry(self) -> None:
        while self._open:
            self._whole.wait()
            ready, _, _ = select.select([self._listening, *self._ends], [], [], LOOK_S)
            for each in ready if self._whole.is_set() else ():
                if each is self._listening:
                    self._connect(each.accept()[0])
                elif each in self._ends:
                    self._pass_on(each)

    def _connect(self, near: socket.socket) -> None:
        try:
            far = socket.create_connection(self._goes_to)
        except OSError:
            near.close()
            return
        self._ends[near], self._ends[far] = far, near

    def _pass_on(self, come: socket.socket) -> None:
        other = self._ends[come]
        with contextlib.suppress(OSError):
            data = come.recv(CHUNK)
            if data:
                other.sendall(data)
                return
        for each in (come, other):
            del self._ends[each]
            each.close()


@contextlib.contextmanager
def cables(host: str, *ports: int) -> Iterator[list[Cable]]:
    found = [Cable(host, port) for port in ports]
    try:
        yield found
    finally:
        for each in found:
            each.close()
