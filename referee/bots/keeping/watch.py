"""The keeper's look at its bot, twenty times a second: at what no limit of a process counts."""

from __future__ import annotations

import contextlib
import os
import signal
import time

from .files import Files
from .group import Group
from .growth import SMALL_SHARE, Growth
from .kin import family, is_alive
from .memory import SLACK, has_more
from .orders import Orders

LOOK_S = 0.05
REST_FACTOR = 10
"""A look is followed by a pause of so many times what it took, at least."""


class Watch:
    """Looks at a bot behind its walls. Without walls there is nothing to look at."""

    def __init__(
        self, orders: Orders, outer: int, bot: int, files: Files | None, group: Group
    ) -> None:
        """`outer` is the process that was started, `bot` the one behind its walls."""
        self._limit_kb = (orders.memory + SLACK) // 1024 if orders.memory else 0
        self._most_cpu_ns = orders.cpu_s * 10**9
        self._cpu_before_ns = 0
        """What it had used when the pairing began."""
        self._aside = False
        # At level full the kernel counts memory, and only growth is to be judged here.
        self._growth = Growth(
            memory_kb=self._limit_kb or orders.group_limits.get("memory.max", 0) // 1024,
            open_files=orders.limits.get("NOFILE", 0),
            threads=orders.threads,
        )
        self._outer = outer
        self._bot = bot
        self._files = files
        self._group = group
        self._alone = orders.alone
        self._due = 0.0
        self._cpu_ns = 0
        self.exceeded = ""
        """What it had too much of, `memory`, `files` or `cpu`, or what it ended: its `stopper`."""

    def wait_ms(self) -> int | None:
        """Until the next look; None for ever."""
        if self._files is None or self._aside:
            return None
        return max(0, round(1000 * (self._due - time.monotonic())))

    def ran_out_of_cpu(self, ended: str) -> bool:
        """Whether a bot that has ended so had no seconds left: by the signal that says so or, for
        who does not heed that one, as far as was seen before the one that nobody can ignore."""
        if not self._most_cpu_ns:
            return False
        if ended == f"signal {int(signal.SIGXCPU)}":
            return True
        return ended == f"signal {int(signal.SIGKILL)}" and self._used_cpu()

    def _used_cpu(self) -> bool:
        return 0 < self._most_cpu_ns <= self._cpu_ns - self._cpu_before_ns

    def set_aside(self) -> bool:
        """The bot is stopped and not looked at for a while. Whether it may be taken up again."""
        self._aside = True
        if self._files is None:
            return True
        self._note_cpu()
        # The kernel counts the CPU time of each process by itself, for as long as that lives.
        pids = self._pids()
        busiest_ns = max(map(cpu_ns, pids), default=0)
        return (
            busiest_ns * SMALL_SHARE <= self._most_cpu_ns
            and self._files.are_few(SMALL_SHARE)
            and self._growth.is_small(pids)
            and not self._group.is_half_full()
        )

    def take_up(self) -> None:
        """A pairing begins: what the bot has used before does not count in it."""
        self._aside = False
        self._due = time.monotonic() + LOOK_S
        self._cpu_before_ns = self._cpu_ns
        if self._files is not None:
            self._files.begin_pairing()

    def _pids(self) -> list[int]:
        return [self._bot] if self._alone else family(self._outer)

    def _note_cpu(self) -> None:
        self._cpu_ns = max(self._cpu_ns, cpu_ns(self._bot))

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
        if self._files is None or self._aside or began < self._due:
            return False
        self._note_cpu()
        if self._used_cpu():
            self.exceeded = "cpu"
        elif self._files.too_many():
            self.exceeded = "files"
        elif self._limit_kb and has_more(self._limit_kb, self._pids()):
            self.exceeded = "memory"
        if self.exceeded:
            self._kill()
        now = time.monotonic()
        self._due = now + max(LOOK_S, REST_FACTOR * (now - began))
        return bool(self.exceeded)


def cpu_ns(pid: int) -> int:
    """CPU time of a process so far; 0 for one that has ended."""
    try:
        return time.clock_gettime_ns((~pid << 3) | 2)
    except OSError:
        return 0
