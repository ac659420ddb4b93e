"""Control groups: what all processes of a bot may use together, and one switch that stops them all.

Version 2 alone, and nothing outside the part of the tree that was handed to the referee: a unit of
systemd with `Delegate=yes`. That somebody may write to a group does not say that it was handed
over: a user may write to all groups below his own manager, his terminal's and his desktop's too,
and these are systemd's. To move his shell out of its scope would break what systemd counts, limits
and ends by it. The referee moves what runs in its unit into one group, since a group
that holds processes can have none below it that is limited, and makes a group for every bot beside:

    unit (delegated)
      referee-main      the referee, its workers, the keepers
      referee-bot-…     one bot, made and removed by its keeper
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from itertools import count
from pathlib import Path

from referee.bots.keeping.still import comes_to_rest

MAIN = "referee-main"
BOT = "referee-bot-"
CONTROLLERS = ("memory", "pids")
DELEGATED = ("user.delegate", "trusted.delegate")
"""How systemd marks what it hands over."""
BOOT = "boot with systemd.unified_cgroup_hierarchy=1"
DELEGATE = "systemd-run {}--scope -p Delegate=yes referee …"
_numbers = count(1)


class NoCgroups(Exception):
    """There is no group of which the referee is master; the message says why."""

    def __init__(self, why: str, remedy: str = "") -> None:
        super().__init__(why)
        self.remedy = remedy
        """What would give it one."""


def unit() -> Path:
    """The group that was handed to the referee. Raises NoCgroups."""
    group = _own_group()
    if group.name == MAIN:
        return group.parent
    root = os.geteuid() == 0
    ours = os.access(group / "cgroup.procs", os.W_OK) and os.access(group, os.W_OK)
    lacking = [name for name in CONTROLLERS if name not in _words(_top() / "cgroup.controllers")]
    if lacking:
        raise NoCgroups(f"control groups of version 2 have no {lacking[0]} controller here", BOOT)
    if not ours or not (_is_marked(group) or (not root and _says_systemd(group))):
        why = f"the control group {group} was not handed over to the referee"
        raise NoCgroups(why, DELEGATE.format("" if root else "--user "))
    lacking = [name for name in CONTROLLERS if name not in _words(group / "cgroup.controllers")]
    if lacking:
        raise NoCgroups(f"the control group {group} has no {' and no '.join(lacking)} controller")
    return group


def take_unit() -> Path:
    """The same, ready to have groups of bots. Raises NoCgroups."""
    group = unit()
    if _own_group().name == MAIN:
        return group
    try:
        main = group / MAIN
        main.mkdir(exist_ok=True)
        for pid in _words(group / "cgroup.procs"):
            with contextlib.suppress(ProcessLookupError):
                (main / "cgroup.procs").write_text(pid)
        (group / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in CONTROLLERS))
        _sweep(group)
    except OSError as error:
        raise NoCgroups(f"the control group {group} cannot be used: {error.strerror}") from None
    return group


def _sweep(group: Path) -> None:
    """Remove what a referee and its keepers left that were all killed at once."""
    for stale in group.glob(f"{BOT}*"):
        pid = stale.name.removeprefix(BOT).partition("-")[0]
        if not Path("/proc", pid).exists():
            with contextlib.suppress(OSError):
                (stale / "cgroup.kill").write_text("1")
                stale.rmdir()


def bot_group() -> Path:
    """A name for the group of one bot; its keeper makes it. Raises NoCgroups."""
    return take_unit() / f"{BOT}{os.getpid()}-{next(_numbers)}"


class OpenGroup:
    """The group of a running bot, asked and switched at every move.

    Its files stay open: to open one takes longer than the answer of a quick bot.
    """

    def __init__(self, path: str) -> None:
        """Raises OSError where it is gone."""
        with contextlib.ExitStack() as opened:
            self._cpu = _opened(opened, f"{path}/cpu.stat", os.O_RDONLY)
            self._events = _opened(opened, f"{path}/cgroup.events", os.O_RDONLY)
            self._freeze = _opened(opened, f"{path}/cgroup.freeze", os.O_WRONLY)
            self.close = opened.pop_all().close

    def cpu_ns(self) -> int:
        """What all its processes have used. Raises OSError once it is gone."""
        # usage_usec 1234, and lines that are not asked for
        return int(os.pread(self._cpu, 64, 0).split(maxsplit=2)[1]) * 1000

    def freeze(self) -> bool:
        """Wait until nothing runs; False where the bot goes on for too long. Raises OSError once it
        is gone."""
        os.pwrite(self._freeze, b"1", 0)
        return comes_to_rest(self._look)

    def _look(self) -> tuple[bool, int]:
        # populated 1, frozen 1
        return b"frozen 1" in os.pread(self._events, 64, 0), self.cpu_ns()

    def thaw(self) -> None:
        """Raises OSError once it is gone."""
        os.pwrite(self._freeze, b"0", 0)


def _opened(stack: contextlib.ExitStack, path: str, flags: int) -> int:
    fd = os.open(path, flags | os.O_CLOEXEC)
    stack.callback(os.close, fd)
    return fd


def _top() -> Path:
    """Where the tree of groups begins. Raises NoCgroups."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        raise NoCgroups("this system has no control groups") from None
    for line in mounts:
        words = line.split()
        if "cgroup2" in words:
            return Path(words[4])
    raise NoCgroups("this system has no control groups of version 2", BOOT)


def _own_group() -> Path:
    """The group that this process is in. Raises NoCgroups."""
    top = _top()
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    for line in lines:
        if line.startswith("0::"):
            return top / line[3:].lstrip("/")
    raise NoCgroups("this system has no control groups of version 2", BOOT)


def _is_marked(group: Path) -> bool:
    """Whether systemd has marked it as handed over. Up to version 250 root alone could see that."""
    for name in DELEGATED:
        with contextlib.suppress(OSError):
            if os.getxattr(group, name) == b"1":
                return True
    return False


def _says_systemd(group: Path) -> bool:
    """Whether the user's own manager has a unit in this very group that it has handed over."""
    command = ["systemctl", "--user", "show", "--property=Delegate,ControlGroup", "--", group.name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    told = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    where = told.get("ControlGroup", "")
    return told.get("Delegate") == "yes" and bool(where) and _top() / where.lstrip("/") == group


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []
