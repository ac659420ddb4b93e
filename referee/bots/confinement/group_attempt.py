"""What the control group of a bot must keep it from, tried on a real one: too many processes, and
going on while it is to stand still."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec.structs import replace

from referee.bots.confinement import Confinement
from referee.bots.confinement.attempt import LIMITS, WITHIN_S, guarded, heard_of, started
from referee.bots.confinement.levels import Level
from referee.bots.confinement.walls import SHELL, system_program

MANY, FEW = 40, 10
MULTIPLY = f"""
n=0
while [ $n -lt {MANY} ]; do {system_program("sleep")} 60 & n=$((n+1)); echo "child"; done
echo "many"
"""
"""A shell ends at the first fork that is refused."""
SPIN = "echo up; while :; do :; done"
LOOK_S = 0.05
"""A look at the clock of a process that is to stand still, and again after so long."""
STILL_NS = 12_000_000
"""What it may have used in that time: some kernels count in ticks of 10 ms, and do not stop a
process between two instructions."""


def multiplied() -> str:
    """How a bot got more processes than its group allows; empty if that was refused.

    Raises NotConfined.
    """
    # The group is to say no, not the limit of the process.
    roomy = replace(LIMITS, processes=100 * MANY)
    trying = guarded((SHELL, "-c", MULTIPLY), Confinement(level=Level.FULL, limits=roomy))
    trying = replace(trying, group_limits={**trying.group_limits, "pids.max": FEW})
    return judged(*heard_of(trying))


def judged(said: str, ended: str | None) -> str:
    """By what a process said that multiplied."""
    if "many" in said:
        return f"{MANY} processes could be started where {FEW} are allowed"
    if "child" not in said:
        return f"no second process could be started at all: the first {ended}"
    return ""


def moved_when_frozen(level: Level = Level.FULL) -> str:
    """How a bot went on that was to stand still, or stood still for ever; empty if neither.

    Raises NotConfined.
    """
    spinning = guarded((SHELL, "-c", SPIN), Confinement(level=level, limits=LIMITS))
    with started(spinning) as process:
        if not _uses_more(process.cpu_ns, 0):
            return "a process used no time that was counted"
        process.hold()
        time.sleep(LOOK_S)
        before_ns = process.cpu_ns()
        time.sleep(LOOK_S)
        after_ns = process.cpu_ns()
        if after_ns - before_ns > STILL_NS:
            return "a process went on that was to stand still"
        process.release()
        if not _uses_more(process.cpu_ns, after_ns + STILL_NS):
            return "a process that had stood still did not go on"
    return ""


def _uses_more(cpu_ns: Callable[[], int], than_ns: int) -> bool:
    """Whether that comes to be, in time."""
    deadline = time.monotonic() + WITHIN_S
    while time.monotonic() < deadline:
        if cpu_ns() > than_ns:
            return True
        time.sleep(0.001)
    return False
