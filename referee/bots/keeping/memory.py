"""What memory a bot has filled, all its processes together, where no control group counts it.

The limit of a process (RLIMIT_DATA) counts maps that are private and can be written to, so a
process that fills a map and then gives up writing to it, or writes to one by way of /proc/self/mem,
has as much as it likes; and every process has a limit of its own. So the keeper looks, some twenty
times a second, at what is really there.

Files in /tmp and /dev/shm are memory as well, but have limits of their own; other memory that
processes share is refused at this level. So what is looked at is anonymous memory, what of it was
swapped, and the page tables for it. Pages that a fork has left in common are first counted for each
process, which costs next to nothing; only a sum beyond the limit is taken again with each page
counted once, which takes the kernel longer, and then the next look is put off accordingly.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time

from .ending import descendants

LOOK_S = 0.05
SLACK = 16 * 1024 * 1024
"""Beyond the limit: the stack, of which the limit of a process knows nothing, and what the loader
and compilers within runtimes have written once and then closed to writing."""
COUNTED = (b"RssAnon:", b"VmSwap:", b"VmPTE:")
ONCE = (b"Pss_Anon:", b"SwapPss:")
"""The same with every page divided by the number of processes that have it."""
REST_FACTOR = 10
"""A look is followed by a pause of so many times what it took, at least."""


class MemoryWatch:
    """Looks at the memory of a bot. Without a limit there is nothing to look at."""

    def __init__(self, limit: int, outer: int, bot: int, *, alone: bool) -> None:
        """Of what was started, and the bot behind its walls.

        `alone`: it cannot have a second process, so there is no need to search for one.
        """
        self._limit_kb = (limit + SLACK) // 1024 if limit else 0
        self._outer = outer
        self._bot = bot
        self._alone = alone
        self._due = 0.0
        self.exceeded = False

    def wait_ms(self) -> int | None:
        """Until the next look; None for ever."""
        if not self._limit_kb:
            return None
        return max(0, round(1000 * (self._due - time.monotonic())))

    def look(self) -> bool:
        """If it is time for a look: whether the bot has more than its limit, and was killed."""
        began = time.monotonic()
        if not self._limit_kb or began < self._due:
            return False
        pids = [self._bot] if self._alone else family(self._outer)
        too_much = sum(map(filled_kb, pids)) > self._limit_kb
        if too_much and len(pids) > 1:
            too_much = sum(map(filled_once_kb, pids)) > self._limit_kb
        if too_much:
            self.exceeded = True
            with contextlib.suppress(OSError):
                os.kill(self._bot, signal.SIGKILL)  # the rest is swept up in a moment
        now = time.monotonic()
        self._due = now + max(LOOK_S, REST_FACTOR * (now - began))
        return too_much


def family(pid: int) -> list[int]:
    """A process and all that descend from it, those of its threads too."""
    found = [pid]
    if not os.path.exists(f"/proc/{pid}/task/{pid}/children"):  # noqa: PTH110  # no pathlib here
        return descendants()  # a kernel that keeps no such list
    for each in found:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{each}/task"):  # noqa: PTH208
                with open(f"/proc/{each}/task/{thread}/children") as file:
                    found += map(int, file.read().split())
    return found


def filled_kb(pid: int) -> int:
    return kilobytes(f"/proc/{pid}/status", COUNTED)


def filled_once_kb(pid: int) -> int:
    """What the kernel does not tell so closely is counted as a whole."""
    once = kilobytes(f"/proc/{pid}/smaps_rollup", ONCE)
    if not once:
        return filled_kb(pid)
    return once + kilobytes(f"/proc/{pid}/status", (b"VmPTE:",))


def kilobytes(path: str, names: tuple[bytes, ...]) -> int:
    """The sum of these lines; 0 for a process that has ended."""
    try:
        with open(path, "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(names))
