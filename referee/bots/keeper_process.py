"""The referee's end of one keeper: its control socket, and the pipes of its bot."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time

from referee.bots import fork_server
from referee.bots.keeping.orders import Handed, Orders
from referee.bots.stopper import Stopper

FORK_S = 30.0
"""What a fork may take on a host that stands still."""
TRIES = 3
"""The process that forks keepers may be killed at any moment, and no bot is at fault."""
EXIT_S = 10.0
PAUSE_S = 0.0002


class NoKeeper(Exception):
    """There can be none; the message says why."""


class KeeperProcess:
    """A keeper that runs. `stdin` and `stdout` are the referee's ends of its bot's pipes."""

    def __init__(
        self, orders: Orders, *, filter: bytes = b"", stopped: bool = False, stderr: bool = False
    ) -> None:
        """`stopped` is for a bot whose processes are to be stopped together; `stderr` lets what the
        bot writes there go to our own. Raises NoKeeper."""
        self._said = b""
        self.stopper: Stopper | None = None
        for _ in range(TRIES):
            self._ask(orders, filter, stopped=stopped, stderr=stderr)
            if self._said:
                break
            self.close()
        else:
            raise NoKeeper("the process that starts bots ends again and again")
        self._pid = int(self.line_of(b"keeper ").partition(b" ")[2] or 0)

    def _ask(self, orders: Orders, filter: bytes, *, stopped: bool, stderr: bool) -> None:
        self._control, control = socket.socketpair()
        stdin, self.stdin = os.pipe()
        self.stdout, stdout = os.pipe()
        self.stopper = Stopper() if stopped else None
        handed = Handed(
            stdin=stdin,
            stdout=stdout,
            control=control.detach(),
            filter=_readable(filter) if filter else -1,
            stopper=self.stopper.hand_over() if self.stopper is not None else -1,
            stderr=os.dup(2) if stderr else -1,
        )
        try:
            fork_server.SERVER.ask(orders, handed)
            handed.close()
            # A socket that ends before a word came says that there is no keeper to hold it.
            self._control.settimeout(FORK_S)
            self._said = self._control.recv(1024)
        except (BrokenPipeError, ConnectionResetError):
            handed.close()
        except OSError as error:
            handed.close()
            self.close()
            raise NoKeeper(f"{error.strerror or error}: {error.filename or 'no keeper'}") from None

    def hear(self, within_s: float, *words: bytes) -> bool:
        """Read control lines until one begins with one of the words; False if none does in time."""
        deadline = time.monotonic() + within_s
        while not self.line_of(*words):
            try:
                self._control.settimeout(max(0.0, deadline - time.monotonic()))
                data = self._control.recv(1024)
            except (BlockingIOError, TimeoutError):
                return False
            except OSError:
                data = b""
            if not data:
                return bool(self.line_of(*words))
            self._said += data
        return True

    def line_of(self, *words: bytes) -> bytes:
        """The first control line so far that begins with one of the words; empty for none."""
        for line in self._said.split(b"\n")[:-1]:
            if line.startswith(words):
                return line
        return b""

    def end_input(self) -> None:
        """The bot reads the end of its input."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def end(self) -> None:
        """Have it leave nothing of the bot, and wait until it is gone."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
        if not self._has_gone(EXIT_S):
            with contextlib.suppress(OSError):
                os.kill(self._pid, signal.SIGKILL)
            self._has_gone(EXIT_S)
        self.close()

    def close(self) -> None:
        """Close our ends of everything: a keeper that lives leaves nothing of its bot and goes."""
        self._control.close()
        self.end_input()
        if self.stdout >= 0:
            os.close(self.stdout)
            self.stdout = -1
        if self.stopper is not None:
            self.stopper.close()

    def _has_gone(self, within_s: float) -> bool:
        """Its socket ends with it, and a moment later its number is free."""
        deadline = time.monotonic() + within_s
        self.hear(within_s, b"\0")  # No line begins so: this waits for the end.
        while self._lives():
            if time.monotonic() > deadline:
                return False
            time.sleep(PAUSE_S)
        return True

    def _lives(self) -> bool:
        if not self._pid:
            return False
        try:
            os.kill(self._pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            pass
        return True


def _readable(data: bytes) -> int:
    """A descriptor from which these few bytes can be read, and then the end."""
    out, into = os.pipe()
    os.write(into, data)
    os.close(into)
    return out
