"""A process of the daemon's own: this Python, one function, bytes in and out.

It ends when its standard input does, so that nothing is left when the daemon is killed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

from referee.daemon.journal import Journal
from referee.daemon.overhearing import Overhearing

READ_BYTES = 1 << 20
PACKAGES = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
sys.path.insert(0, sys.argv.pop())
from {module} import main
main()
"""


class Child:
    """One process; what it says is read without waiting."""

    def __init__(
        self,
        module: str,
        who: str,
        journal: Journal,
        *,
        nice: int = 0,
        cores: frozenset[int] = frozenset(),
        cwd: Path | None = None,
    ) -> None:
        """Run `main` of this module; what it writes to stderr is told as said by `who`. It and all
        that it starts are bound to `cores`, if there are any."""
        self._overhearing = Overhearing(who, journal)
        self.process = subprocess.Popen(
            # The folder in which somebody runs a daemon is no place to import from: -P.
            [sys.executable, "-P", "-c", PROGRAM.format(module=module), str(PACKAGES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._overhearing.fd,
            bufsize=0,
            cwd=cwd,
            # Ctrl-C is for the daemon, which ends its processes in good order.
            start_new_session=True,
        )
        self._overhearing.started()
        assert self.process.stdout is not None
        self.fd = self.process.stdout.fileno()
        os.set_blocking(self.fd, False)
        if nice:
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, self.process.pid, nice)
        if cores:
            with contextlib.suppress(OSError):
                os.sched_setaffinity(self.process.pid, cores)

    def send(self, data: bytes) -> None:
        """Where nobody is there to take it, `read` tells so in a moment."""
        assert self.process.stdin is not None
        left = memoryview(data)
        with contextlib.suppress(OSError, ValueError):
            while left:
                left = left[self.process.stdin.write(left) or 0 :]

    def read(self) -> bytes | None:
        """What has come; None at its end."""
        try:
            return os.read(self.fd, READ_BYTES) or None
        except BlockingIOError:
            return b""

    def end_input(self) -> None:
        """Ask it to leave."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()

    def close(self, within_s: float) -> int:
        """End it, and everything in its session where it does not leave by itself."""
        self.end_input()
        try:
            self.process.wait(within_s)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        if self.process.stdout is not None:
            self.process.stdout.close()
        status = self.process.wait()
        self._overhearing.close()
        return status

    def last_words(self) -> str:
        """The last line that it wrote to stderr; after `close`."""
        return self._overhearing.last

    def how_it_ended(self) -> str:
        """After `close`."""
        status = self.process.returncode
        return f"by signal {-status}" if status < 0 else f"with status {status}"
