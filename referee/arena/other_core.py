"""A clock on another core: a process that wakes every few milliseconds and notes how late it was.

    python -I -S other_core.py

Its output is a file in memory with two numbers: when it woke last, and how late it had been in all
by then. The referee reads them and waits for nobody. The process ends with its input, and so with
the referee.
"""

from __future__ import annotations

import os
import select
import struct
import subprocess
import sys
import time

TICK_MS = 5
TICK_NS = TICK_MS * 1_000_000
NOTE = struct.Struct("qq")


class OtherCore:
    """The referee's handle on such a process, which does not run before it is needed."""

    def __init__(self, cores: frozenset[int]) -> None:
        self._cores = cores
        self._process: subprocess.Popen[bytes] | None = None
        self._note = -1

    def start(self) -> None:
        """Have it run, where the system has what it needs."""
        if self._runs():
            return
        self.close()
        here = os.sched_getaffinity(0)
        self._note = os.memfd_create("other_core")
        try:
            # It begins on the other core: on this one it would wait for those that burn it.
            os.sched_setaffinity(0, self._cores)
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__],
                stdin=subprocess.PIPE,
                stdout=self._note,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            self.close()
        finally:
            os.sched_setaffinity(0, here)

    def late_ns(self) -> int | None:
        """How late it was in all so far; None where it does not run, or has only just begun."""
        note = os.pread(self._note, NOTE.size, 0) if self._runs() else b""
        if not note:
            return None
        woke_ns, late_ns = NOTE.unpack(note)
        return int(late_ns + max(0, time.monotonic_ns() - woke_ns - TICK_NS))

    def close(self) -> None:
        """End it. It can be started again."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()
        if self._note >= 0:
            os.close(self._note)
            self._note = -1

    def _runs(self) -> bool:
        return self._process is not None and self._process.poll() is None


def main() -> None:
    poll = select.poll()
    poll.register(0, select.POLLIN)
    late_ns, before_ns = 0, time.monotonic_ns()
    while not poll.poll(TICK_MS):
        now_ns = time.monotonic_ns()
        late_ns += max(0, now_ns - before_ns - TICK_NS)
        before_ns = now_ns
        os.pwrite(1, NOTE.pack(now_ns, late_ns), 0)


if __name__ == "__main__":
    main()
