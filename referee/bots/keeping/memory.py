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

from .kin import threads

SLACK = 16 * 1024 * 1024
"""Beyond the limit: the stack, of which the limit of a process knows nothing, and what the loader
and compilers within runtimes have written once and then closed to writing."""
COUNTED = (b"RssAnon:", b"VmSwap:", b"VmPTE:")
ONCE = (b"Pss_Anon:", b"SwapPss:")
"""The same with every page divided by the number of processes that have it."""


def has_more(limit_kb: int, pids: list[int]) -> bool:
    """Whether these processes have filled more than this together."""
    too_much = sum(map(filled_kb, pids)) > limit_kb
    if too_much and len(pids) > 1:
        too_much = sum(map(filled_once_kb, pids)) > limit_kb
    return too_much


def filled_kb(pid: int) -> int:
    filled = kilobytes(f"/proc/{pid}/status", COUNTED)
    if not filled:
        # The first thread may end before the others, and nothing is told of memory in its name.
        for thread in threads(pid):
            filled = filled or kilobytes(f"/proc/{pid}/task/{thread}/status", COUNTED)
    return filled


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
