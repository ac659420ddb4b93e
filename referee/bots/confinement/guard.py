"""Everything that confines one process, as its keeper is told."""

from __future__ import annotations

import resource
import shutil
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from referee.bots.confinement import Confinement
from referee.bots.confinement.cgroups import NoCgroups, bot_group
from referee.bots.confinement.identity import servant
from referee.bots.confinement.levels import Level
from referee.bots.confinement.limits import GIB, MIB, Limits
from referee.bots.confinement.seccomp import UnknownMachine, seccomp_filter
from referee.bots.confinement.walls import HOME, View, search_path, walled, writable
from referee.bots.keeping.growth import SMALL_SHARE
from referee.mistake import REFUSED, Mistake

OPEN_FILES, BUILD_FILES = 64, 256
"""Of a process at a time. An epoll may hold an entry for every number of every open file: entries
grow with the cube of this limit, and the kernel counts them for a whole user."""
SIGNALS = 128
"""That wait to be delivered: the kernel counts them for the user, and one bot could have them
all."""
INSIDE = 1
"""Processes of bubblewrap's own behind the walls, which count as the bot's."""
STACK = 8 * MIB
ADDRESSES = 16 * GIB
"""Beyond what may be filled: runtimes set aside more than they use, but the kernel's own tables for
it are memory that no other limit of a process counts."""


class NotConfined(Mistake):
    """A process could not be confined as asked, so it was not started; nobody's bot is at fault."""

    status = REFUSED


class Guard(Struct, frozen=True, kw_only=True):
    """How a keeper starts what it keeps."""

    command: tuple[str, ...]
    """With the walls around it, and its environment inside them."""
    filter: bytes
    user: int | None
    """And group; None keeps the referee's own."""
    limits: dict[str, int]
    """By the name of the resource, for the process and all that it starts."""
    cpu_s: int = 0
    """Seconds of processor time that it may use in a pairing, which the keeper sees to."""
    threads: int = 0
    """Processes and threads that it may have at a time."""
    watched_memory: int = 0
    """Bytes that all its processes may fill together, which the keeper sees to; 0 where a control
    group does."""
    writable: tuple[str, ...] = ()
    """Folders, as the bot calls them, each a file system of its own; the keeper counts the files in
    them."""
    one_process: bool = False
    """Whether the filter lets it have no second one."""
    stopper: bool = False
    """Whether its processes are stopped together, by one of ours among them."""
    group: str = ""
    """The control group to make for it; empty for none."""
    group_limits: dict[str, int] = {}
    """By the name of the file."""

    @property
    def stops_whole(self) -> bool:
        """Whether all its processes can be stopped together."""
        return self.one_process or self.stopper or bool(self.group)


def guard(
    command: Sequence[str],
    env: Mapping[str, str],
    view: View,
    confinement: Confinement,
    *,
    one_process: bool = True,
    build: bool = False,
) -> Guard:
    """What confines this command; `env` is what its manifest sets. Raises NotConfined.

    `build` is for tools that build a bot: they may open more files than a bot, and lock them.
    """
    limits = confinement.limits
    full = confinement.level is Level.FULL
    one_process = one_process and not full
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise NotConfined(f"level {confinement.level} needs bubblewrap, and there is no bwrap here")
    try:
        filter = seccomp_filter(one_process=one_process, count_memory=not full, build=build)
        group = str(bot_group()) if full else ""
    except UnknownMachine as machine:
        raise NotConfined(f"level {confinement.level} has no filter for {machine}") from None
    except NoCgroups as reason:
        raise NotConfined(f"level {confinement.level} is not to be had: {reason}") from None
    inner = _environment(env, limits, confinement.expose)
    processes = min(limits.processes + INSIDE, _own_limit("NPROC"))
    inside = replace(limits, processes=processes)
    return Guard(
        command=tuple(walled(bwrap, command, inner, view, inside, confinement.expose)),
        filter=filter,
        user=servant(),
        limits=_resources(limits, BUILD_FILES if build else OPEN_FILES, full=full),
        cpu_s=limits.cpu,
        threads=processes,
        watched_memory=0 if full else limits.memory,
        writable=writable(view),
        one_process=one_process,
        stopper=confinement.freeze and not one_process and not full,
        group=group,
        group_limits=_group_limits(limits) if full else {},
    )


def _environment(
    given: Mapping[str, str], limits: Limits, expose: Sequence[str] = ()
) -> dict[str, str]:
    """What a confined bot finds in its environment: nothing of the referee's own."""
    return {
        "PATH": search_path(expose),
        "HOME": HOME,
        "LANG": "C.UTF-8",
        # Java takes its heap from the size of the machine, unless told of another size.
        "JDK_JAVA_OPTIONS": f"-XX:MaxRAM={limits.memory}",
        **given,
    }


def _resources(limits: Limits, files: int, *, full: bool) -> dict[str, int]:
    wanted = {
        "DATA": limits.memory,
        # A process that is kept from pairing to pairing has used up to a tenth before.
        "CPU": limits.cpu - (-limits.cpu // SMALL_SHARE),
        "FSIZE": limits.file_size,
        "NOFILE": files,
        "SIGPENDING": SIGNALS,
        "STACK": STACK,
        "CORE": 0,
        # No user's limits let a bot go before others.
        "RTPRIO": 0,
        "NICE": 0,
    }
    if not full:
        wanted["AS"] = limits.memory + ADDRESSES
    return {name: min(value, _own_limit(name)) for name, value in wanted.items()}


def _own_limit(name: str) -> int:
    """What the referee itself may have at most, and so a bot."""
    most = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1]
    return most if most != resource.RLIM_INFINITY else 1 << 62


def _group_limits(limits: Limits) -> dict[str, int]:
    # Bubblewrap's process outside counts as well.
    return {
        "memory.max": limits.memory,
        "memory.swap.max": 0,
        "memory.oom.group": 1,
        "pids.max": limits.processes + INSIDE + 1,
    }
