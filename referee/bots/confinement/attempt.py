"""A confined process that tries what it must not be able to do, and tells how far it got."""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from referee.bots.confinement import Confinement
from referee.bots.confinement.guard import Guard, NotConfined, guard
from referee.bots.confinement.levels import Level
from referee.bots.confinement.limits import MIB, RANGES, Limits
from referee.bots.confinement.walls import SHELL, View, system_program
from referee.bots.process import OUT_OF_MEMORY, BotProcess, NoStart

WITHIN_S = 60.0
"""Far more than it takes, also on a machine that emulates another or has much else to do."""
LIMITS = Limits(memory=32 * MIB, processes=16, cpu=60)
LEAST = replace(LIMITS, memory=RANGES["memory"][0])
"""For what fills its memory: less is filled sooner."""
LOCK = r"""
while read -r word rest; do
    case $word in Seccomp:) echo "seccomp $rest";; esac
done < /proc/self/status
exec 9< /usr/bin/env
exec {flock} --shared --nonblock 9
""".replace("{flock}", system_program("flock"))
"""A lock that nobody else could be in the way of: what refuses it is the filter of system calls.
Where there is no program for it, the kernel's word on the process has to do."""
SCRIPT = r"""
lock() {
{lock}
}
if [ -e "$1" ]; then echo "outside seen"; else echo "outside hidden"; fi
while read -r inside user many; do echo "user $user"; done < /proc/self/uid_map
echo "pid $$"
network=
while read -r name rest; do
    case $name in *:*) network="$network${network:+ }${name%%:*}";; esac
done < /proc/net/dev
echo "network $network"
wrote=
for place in / /usr /dev; do
    if command : > "$place/.referee-probe"; then wrote="$wrote $place"; fi
done 2>/dev/null
echo "wrote$wrote"
trap lock EXIT
( : ) 2>/dev/null
echo "forked yes"
""".replace("{lock}", LOCK)
"""A shell ends at the first fork that is refused, so that comes last but for the lock, to which it
comes however it ends."""
FILL = """
ulimit -s 1024
a=0123456789abcdef n=0
while [ $n -lt 23 ]; do a=$a$a n=$((n+1)); done
echo "filled"
"""
"""128 MiB, if nobody says no. A shell without memory to say so may call itself until its stack is
full, so that is small."""
FILTERED = "2"
"""What the kernel calls a process with a filter."""


class Attempt(Struct, frozen=True):
    """How far it got."""

    seen: dict[str, str]
    forked: bool
    filled: str
    """How it got more memory than the limit, or failed to run into the limit; empty if refused."""
    called: str
    """How it got through the filter of system calls; empty if it did not."""


def attempt(level: Level, outside: str) -> Attempt:
    """Try at this level. `outside` is a file that everybody may read. Raises NotConfined."""
    confinement = Confinement(level=level, limits=LIMITS)
    said, ended = heard_of(guarded((SHELL, "-c", SCRIPT, "sh", outside), confinement))
    seen = facts(said)
    filling = guarded((SHELL, "-c", FILL), Confinement(level=level, limits=LEAST))
    if level is Level.FULL:
        # The group is to say no, not the limit of the process.
        filling = replace(filling, limits={**filling.limits, "DATA": 64 * LEAST.memory})
    return Attempt(
        seen=seen,
        forked="forked" in seen,
        filled=_judged(level, *heard_of(filling)),
        called=_called(seen, ended),
    )


def facts(said: str) -> dict[str, str]:
    """What it said, by the first word of each line."""
    return {word: rest for word, _, rest in (line.partition(" ") for line in said.splitlines())}


def _judged(level: Level, said: str, ended: str | None) -> str:
    if "filled" in said:
        return "more memory than the limit could be filled"
    if ended is None:
        return f"a process did not fill its memory within {WITHIN_S:g} s"
    if level is Level.FULL and ended != OUT_OF_MEMORY:
        return f"a process that filled its memory {ended}, not by its control group"
    return ""


def _called(seen: Mapping[str, str], ended: str | None) -> str:
    if seen.get("seccomp") != FILTERED:
        return "a process runs without a filter of system calls"
    if ended is None or ended == "exited with status 0":
        return "a system call that must be refused was not"
    return ""


def guarded(command: tuple[str, ...], confinement: Confinement) -> Guard:
    return guard(command, {}, View((), "/tmp"), confinement)


def heard_of(confined: Guard) -> tuple[str, str | None]:
    """What it said, and how it ended; None if it did not. Raises NotConfined."""
    with started(confined) as process:
        said = _heard(process.stdout)
        return said, process.how_it_ended(WITHIN_S)


@contextlib.contextmanager
def started(confined: Guard) -> Iterator[BotProcess]:
    """A process behind walls, for as long as it is wanted. Raises NotConfined."""
    try:
        process = BotProcess((), guard=confined)
        try:
            process.await_start(WITHIN_S)
            yield process
        finally:
            process.close()
    except NoStart as problem:
        raise NotConfined(str(problem)) from None


def _heard(fd: int) -> str:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    data = b""
    deadline = time.monotonic() + WITHIN_S
    while time.monotonic() < deadline:
        if poll.poll(100):
            more = os.read(fd, 4096)
            if not more:
                break
            data += more
    return data.decode("utf-8", "replace")
