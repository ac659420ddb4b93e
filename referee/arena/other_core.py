"""A clock on another core: a process that wakes every few milliseconds and counts how late it is.

    python -I -S other_core.py CORE[,CORE…]

To every byte on its input it answers with its count. It ends with its input, and so with the
referee.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time

TICK_MS = 5
COUNT_BYTES = 8
ANSWER_MS = 50
"""A clock that does not answer within this is late itself."""


class OtherCore:
    """The referee's handle on such a process."""

    def __init__(self, cores: frozenset[int]) -> None:
        names = ",".join(map(str, sorted(cores)))
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, names],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._ask, self._answer = self._process.stdin, self._process.stdout
        self._owed = 0
        """Answers that have not come in time."""

    def late_ns(self) -> int | None:
        """How late it was in all so far; None where it does not answer in time."""
        poll = select.poll()
        poll.register(self._answer, select.POLLIN)
        try:
            self._ask.write(b"?")
            self._owed += 1
            while poll.poll(ANSWER_MS):
                said = self._answer.read(COUNT_BYTES)
                if len(said) < COUNT_BYTES:
                    return None
                self._owed -= 1
                if not self._owed:
                    return int.from_bytes(said, "little")
        except OSError:  # it has ended
            pass
        return None

    def close(self) -> None:
        self._ask.close()
        self._answer.close()
        self._process.wait()


def main() -> None:
    os.sched_setaffinity(0, [int(core) for core in sys.argv[1].split(",")])
    poll = select.poll()
    poll.register(0, select.POLLIN)
    late_ns, before_ns = 0, time.monotonic_ns()
    while True:
        asked = poll.poll(TICK_MS)
        now_ns = time.monotonic_ns()
        late_ns += max(0, now_ns - before_ns - TICK_MS * 1_000_000)
        before_ns = now_ns
        if asked:
            questions = os.read(0, 64)
            if not questions:
                return
            os.write(1, late_ns.to_bytes(COUNT_BYTES, "little") * len(questions))


if __name__ == "__main__":
    main()
