"""The keeper's look at its bot, twenty times a second: at what no limit of a process counts."""

from __future__ import annotations

import contextlib
import os
import signal
import time

from .files import Files
from .kin import family, is_alive
from .memory import SLACK, has_more

LOOK_S = 0.05
REST_FACTOR = 10
"""A look is followed by a pause of so many times what it took, at least."""


class Watch:
    """Looks at a bot behind its walls. Without walls there is nothing to look at."""

    def __init__(
        self, limit: int, outer: int, bot: int, files: Files | None, *, alone: bool
    ) -> None:
        """Of what was started, and the bot behind its walls.

        `limit` of memory is 0 where a control group sees to that. `alone`: the bot cannot have a
        second process, so there is no need to search for one.
        """
        self._limit_kb = (limit + SLACK) // 1024 if limit else 0
        self._outer = outer
        self._bot = bot
        self._files = files
        self._alone = alone
        self._due = 0.0
        self._cpu_ns = 0
        self.exceeded = ""
        """What it had too much of, `memory` or `files`, or what it ended: its `stopper`."""

    def wait_ms(self) -> int | None:
        """Until the next look; None for ever."""
        if self._files is None:
            return None
        return max(0, round(1000 * (self._due - time.monotonic())))

    def ran_out_of_cpu(self, limit_s: int, ended: str) -> bool:
        """Whether a bot that has ended so had no seconds left: by the signal that says so or, for
        who does not heed that one, as far as was seen before the one that nobody can ignore."""
        if ended == f"signal {int(signal.SIGXCPU)}":
            return True
        return ended == f"signal {int(signal.SIGKILL)}" and self._cpu_ns >= limit_s * 10**9

    def lost_its_stopper(self) -> bool:
        """Whether the bot lives on without the process that stops it; then it is killed. One that
        has ended takes its stopper along."""
        alive = is_alive(self._bot)
        if alive:
            self.exceeded = "stopper"
            self._kill()
        return alive

    def _kill(self) -> None:
        with contextlib.suppress(OSError):
            os.kill(self._bot, signal.SIGKILL)  # the rest is swept up in a moment

    def look(self) -> bool:
        """If it is time for a look: whether the bot has more than its limits, and was killed."""
        began = time.monotonic()
        if self._files is None or began < self._due:
            return False
        with contextlib.suppress(OSError):
            self._cpu_ns = time.clock_gettime_ns((~self._bot << 3) | 2)
        if self._files.too_many():
            self.exceeded = "files"
        elif self._limit_kb:
            pids = [self._bot] if self._alone else family(self._outer)
            if has_more(self._limit_kb, pids):
                self.exceeded = "memory"
        if self.exceeded:
            self._kill()
        now = time.monotonic()
        self._due = now + max(LOOK_S, REST_FACTOR * (now - began))
        return bool(self.exceeded)
