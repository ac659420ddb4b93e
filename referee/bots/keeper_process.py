"""The referee's end of one keeper: its control socket, and the pipes of its bot."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import tempfile
import termios
import time

from referee.bots import fork_server
from referee.bots.keeping.kin import is_alive
from referee.bots.keeping.orders import ASIDE, LINE_END, UP, Handed, Orders
from referee.bots.stopper import Stopper
from referee.mistake import REFUSED, Mistake

FORK_S = 30.0
"""What a fork may take on a host that stands still."""
TRIES = 3
"""The process that forks keepers may be killed at any moment, and no bot is at fault."""
EXIT_S = 10.0
ASIDE_S = 10.0
LAST_MOMENT_S = 1.0
PAUSE_S = 0.0002
NOTHING = bytes(4)
"""As a number of bytes."""


class NoKeeper(Mistake):
    """No process could be started for a bot. That is the machine's fault, and no bot's."""

    status = REFUSED


class KeeperProcess:
    """A keeper that runs. `stdin` and `stdout` are the referee's ends of its bot's pipes."""

    def __init__(
        self,
        orders: Orders,
        *,
        log: str,
        filter: bytes = b"",
        stopped: bool = False,
        own_stderr: bool = False,
    ) -> None:
        """`stopped` is for a bot whose processes are to be stopped together; `own_stderr` lets what
        the bot writes go to ours, and not to the log. Raises NoKeeper."""
        self._is_asked = False
        """Whether it was told that the bot is set aside, and has not answered yet."""
        self.has_open_log = False
        """Whether what the bot wrote before it was set aside may not be in its log yet."""
        self._said = b""
        self._has_ended = False
        """Whether the control socket has: a keeper holds it open as long as it lives."""
        self.stopper: Stopper | None = None
        for _ in range(TRIES):
            self._ask(orders, log, filter, stopped=stopped, own_stderr=own_stderr)
            if self._said:
                break
            self.close()
        word, _, rest = self._said.partition(b"\n")[0].partition(b" ")
        if word != b"keeper":
            self.close()
            why = rest.decode("utf-8", "replace")
            raise NoKeeper(f"bots cannot be started here: {why or 'who starts them does not live'}")
        self.pid = int(rest)

    def _ask(
        self, orders: Orders, log: str, filter: bytes, *, stopped: bool, own_stderr: bool
    ) -> None:
        self._control, control = socket.socketpair()
        self._log_path = _shared_file()
        self.begin_log(log)
        self._words, bot_stderr = os.pipe()
        stdin, self.stdin = os.pipe()
        self.stdout, stdout = os.pipe()
        self.stopper = Stopper() if stopped else None
        handed = Handed(
            stdin=stdin,
            stdout=stdout,
            bot_stderr=bot_stderr,
            words=os.dup(self._words),
            log_path=os.dup(self._log_path),
            control=control.detach(),
            filter=_readable(filter) if filter else -1,
            stopper=self.stopper.hand_over() if self.stopper is not None else -1,
            stderr=os.dup(2) if own_stderr else -1,
        )
        line: socket.socket | None = None
        try:
            try:
                line = fork_server.SERVER.ask(orders, handed)
            finally:
                handed.close()
            # A socket that ends before a word came says that there is no keeper to hold it.
            self._control.settimeout(FORK_S)
            self._said = self._control.recv(1024)
        except TimeoutError:
            if line is not None:
                fork_server.SERVER.give_up(line)
        except (BrokenPipeError, ConnectionResetError):
            pass
        except OSError as error:
            self.close()
            raise NoKeeper(f"bots cannot be started here: {error}") from None

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
                self._has_ended = True
                return bool(self.line_of(*words))
            self._said += data
        return True

    def line_of(self, *words: bytes) -> bytes:
        """The first control line so far that begins with one of the words; empty for none."""
        for line in self._said.split(b"\n")[:-1]:
            if line.startswith(words):
                return line
        return b""

    def set_aside(self, *, is_watched: bool) -> None:
        """The bot is stopped: have its log closed, and look at it no more. There is nothing to do
        for the keeper of a bot that it does not watch and that has written nothing."""
        self.has_open_log = self.has_written()
        if is_watched or self.has_open_log:
            self._is_asked = True
            self._send(ASIDE)

    def may_be_taken_up(self) -> bool:
        """Whether a bot that was set aside had used little of its limits. Its log is closed."""
        if not self._is_asked:
            return True
        self._is_asked = self.has_open_log = False
        if not self.hear(ASIDE_S, b"kept", b"used"):
            return False
        answer = self.line_of(b"kept", b"used")
        # What the bot wrote before the answer is in its log; what it writes afterwards is not.
        before, _, after = self._said.partition(answer + b"\n")
        self._said = before.replace(b"wrote\n", b"") + after
        return answer == b"kept"

    def take_up(self, log: str, *, is_watched: bool) -> None:
        """The bot goes on in a moment, with this log."""
        self.begin_log(log)
        if is_watched:
            self._send(UP)

    def has_written(self) -> bool:
        """Whether the bot has written anything since it was taken up. What was not read yet comes
        first: the keeper says that there is something before it reads that."""
        unread = fcntl.ioctl(self._words, termios.FIONREAD, NOTHING)
        return unread != NOTHING or self.hear(0.0, b"wrote")

    def begin_log(self, path: str) -> None:
        """What the bot writes goes to this file, as soon as its keeper begins a log."""
        os.pwrite(self._log_path, os.fsencode(path) + b"\0", 0)

    def _send(self, line: bytes) -> None:
        with contextlib.suppress(OSError):
            self._control.settimeout(ASIDE_S)
            self._control.sendall(line + LINE_END)

    def end_input(self) -> None:
        """The bot reads the end of its input."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def end(self) -> None:
        """Have it leave nothing of the bot, and go."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)

    def await_end(self) -> None:
        """Wait until it is gone."""
        self._await_end()
        if not self._has_ended and self.pid:
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)
            self._await_end()
        self.close()

    def close(self) -> None:
        """Close our ends of everything: a keeper that lives leaves nothing of its bot and goes."""
        self._control.close()
        self.end_input()
        if self.stdout >= 0:
            for fd in (self.stdout, self._words, self._log_path):
                os.close(fd)
            self.stdout = -1
        if self.stopper is not None:
            self.stopper.close()

    def _await_end(self) -> None:
        """Its socket ends a moment before the process does."""
        self.hear(EXIT_S, b"\0")  # No line begins so: this waits for the end.
        deadline = time.monotonic() + LAST_MOMENT_S
        while self._has_ended and is_alive(self.pid) and time.monotonic() < deadline:
            time.sleep(PAUSE_S)


def _shared_file() -> int:
    """A descriptor of a file without a name, for two processes."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("log-path")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _readable(data: bytes) -> int:
    """A descriptor from which these few bytes can be read, and then the end."""
    out, into = os.pipe()
    os.write(into, data)
    os.close(into)
    return out
