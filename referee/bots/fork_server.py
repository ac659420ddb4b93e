"""The referee's end of the process that forks keepers (keeping/fork_server.py)."""

from __future__ import annotations

import atexit
import os
import resource
import socket
import subprocess
import sys
import threading
from pathlib import Path

from referee.bots.keeping.orders import Handed, Orders, send

SCRIPT = Path(__file__).with_name("keeper.py")
END_S = 1.0
SEND_S = 30.0
"""What a request may take to be read. A host may stand still for a while."""


class ForkServer:
    """Forks keepers for this process. It is started with the first of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)
        """What bots may have open, whatever this process allows itself later."""

    def start(self) -> None:
        """So that the first bot need not wait for it."""
        with self._lock:
            if self._line is None:
                self._line = self._start()

    def ask(self, orders: Orders, handed: Handed) -> socket.socket:
        """Ask for a keeper, which says on its control socket that it is there. A server that was
        killed is replaced by the next call. The result is what `give_up` takes. Raises OSError."""
        with self._lock:
            if self._line is None:
                self._line = self._start()
            try:
                send(self._line, orders, handed)
            except OSError:
                self._end()
                raise
            return self._line

    def give_up(self, line: socket.socket) -> None:
        """The server that was asked over this line stands still. Another thread may have replaced
        it."""
        with self._lock:
            if self._line is line:
                self._end()

    def close(self) -> None:
        """End it. Keepers end by themselves."""
        with self._lock:
            self._end()

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(SCRIPT), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                pass_fds=[theirs.fileno()],
                # Ctrl-C is for the referee, which ends its bots in good order.
                start_new_session=True,
            )
        if hasattr(resource, "prlimit"):
            resource.prlimit(self._process.pid, resource.RLIMIT_NOFILE, self._descriptors)
        # One that stands still reads nothing, and everybody who asks waits for the lock.
        ours.settimeout(SEND_S)
        return ours

    def _end(self) -> None:
        if self._line is not None:
            self._line.close()
        if self._process is not None:
            try:
                self._process.wait(END_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._line = self._process = None

    def forget(self) -> None:
        """In a fork of this process: the server is the parent's. It would not see the parent's end
        while somebody else has the line open."""
        if self._line is not None:
            self._line.close()
        self._lock = threading.Lock()
        self._line = self._process = None


SERVER = ForkServer()
atexit.register(SERVER.close)
os.register_at_fork(after_in_child=SERVER.forget)
