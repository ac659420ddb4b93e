"""One running bot process: start it, hear how it ended, leave nothing of it behind.

A keeper (keeper.py) stands between the referee and the bot's process tree; this is the referee's
handle on both.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

KEEPER = Path(__file__).with_name("keeper.py")
KEEPER_EXIT_S = 10.0


class NoStart(Exception):
    """The bot's command could not be run; the message says why."""


def told_status(status: int) -> str:
    """An exit status in words, a negative one as the signal that it stands for."""
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"


class BotProcess:
    """A bot, started. `stdin` and `stdout` are non-blocking file descriptors of the pipes."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        log: Path | None = None,
        keeper_cores: frozenset[int] | None = None,
    ) -> None:
        ours, theirs = socket.socketpair()
        cores = ",".join(map(str, sorted(keeper_cores))) if keeper_cores else "-"
        try:
            self._keeper = subprocess.Popen(
                [
                    *(sys.executable, "-I", "-S", str(KEEPER), str(theirs.fileno()), cores),
                    *(str(log) if log else os.devnull, *command),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                cwd=cwd,
                env=env,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            raise NoStart(f"{error.strerror}: {error.filename}") from None
        finally:
            theirs.close()
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        self.stdin = self._keeper.stdin.fileno()
        self.stdout = self._keeper.stdout.fileno()
        os.set_blocking(self.stdin, False)
        os.set_blocking(self.stdout, False)
        self._control = ours
        self._said = b""
        self._closed = False
        self.pid: int | None = None
        self._cpu_clock: int | None = None

    def await_start(self, within_s: float) -> None:
        """Wait until the command runs. Raises NoStart."""
        if not self._hear(within_s, b"started", b"failed"):
            raise NoStart(f"the command did not run within {within_s:g} s")
        word, _, rest = self._line_of(b"started", b"failed").partition(b" ")
        if word == b"failed":
            raise NoStart(rest.decode("utf-8", "replace"))
        self.pid = int(rest)
        if sys.platform == "linux":
            # The id of another process's CPU clock, as clock_getcpuclockid makes it.
            self._cpu_clock = (~self.pid << 3) | 2

    def exit_status(self, within_s: float = 0.0) -> int | None:
        """With which it ended, negative for a signal; None if it is still running."""
        if not self._hear(within_s, b"exit", b"signal"):
            return None
        word, _, rest = self._line_of(b"exit", b"signal").partition(b" ")
        return int(rest) if word == b"exit" else -int(rest)

    def how_it_ended(self, within_s: float = 0.0) -> str | None:
        """`exited with status 3`, `was killed by SIGSEGV`; None if it is still running."""
        status = self.exit_status(within_s)
        return None if status is None else told_status(status)

    def cpu_ns(self) -> int:
        """CPU time of the bot's main process so far, 0 where the system does not tell."""
        if self._cpu_clock is None:
            return 0
        try:
            return time.clock_gettime_ns(self._cpu_clock)
        except OSError:
            return 0

    def close(self) -> None:
        """End the bot, if it has not ended, with its whole process tree, and its keeper."""
        if self._closed:
            return
        self._closed = True
        if self.pid is not None and self.how_it_ended() is None:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
        self._control.close()
        try:
            self._keeper.wait(KEEPER_EXIT_S)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()
        for pipe in (self._keeper.stdin, self._keeper.stdout):
            if pipe is not None:
                pipe.close()

    def leave(self, within_s: float) -> None:
        """Give the bot a moment to exit by itself, then close."""
        if not self._closed:
            # The end of its input tells even a bot that does not know `bye`.
            self.end_input()
            self.how_it_ended(within_s)
            self.close()

    def end_input(self) -> None:
        """Say no more: the process reads the end of its input."""
        assert self._keeper.stdin is not None
        self._keeper.stdin.close()

    def _hear(self, within_s: float, *words: bytes) -> bool:
        """Read control lines until one begins with one of the words; False if none does in time."""
        deadline = time.monotonic() + within_s
        while not self._line_of(*words):
            self._control.settimeout(max(0.0, deadline - time.monotonic()))
            try:
                data = self._control.recv(1024)
            except (BlockingIOError, TimeoutError):
                return False
            except OSError:
                data = b""
            if not data:
                return bool(self._line_of(*words))
            self._said += data
        return True

    def _line_of(self, *words: bytes) -> bytes:
        for line in self._said.split(b"\n")[:-1]:
            if line.startswith(words):
                return line
        return b""
