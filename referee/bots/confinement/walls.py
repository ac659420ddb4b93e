"""What a confined bot sees of the machine: the command line for bubblewrap.

The system's programs and libraries, read-only; its own folder, read-only; a /tmp and a /dev/shm of
limited size that nobody else sees and that end with it; no network, no other process, no name of
this machine, no /sys and nothing of /etc that is not needed to run a program.

Bubblewrap itself keeps standard input and output open for as long as it runs, so a bot that closes
its output would seem to think. The pipes of the game therefore come in under other numbers, and the
last step inside puts them in their places.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from referee.bots.confinement.limits import MIB, Limits

HOME = "/tmp"
BOT_FOLDER = "/bot"
LINK_FOLDER = "/link"
"""Where a bot that speaks ZeroMQ finds the referee's socket."""
BIN_FOLDERS = ("/usr/local/bin", "/usr/bin", "/bin")
SHELL = "/bin/sh"
GAME_IN, GAME_OUT, UP, FILTER, GATE = 3, 4, 5, 6, 7
"""Where the game's pipes arrive, where the last step says that the walls stand, where bubblewrap
finds the filter of system calls, and where the last step waits for a word to go on. A shell knows
numbers of one digit alone."""
LAST_STEP = (
    'ulimit -p "$1" 2>&- || ulimit -u "$1" || exit 1; shift; '
    f"echo >&{UP}; read -r REPLY <&{GATE} || exit 1; "
    'while [ "$1" != -- ]; do export "$1"; shift; done; shift; '
    f'exec "$@" <&{GAME_IN} >&{GAME_OUT} {GAME_IN}<&- {GAME_OUT}>&- {UP}>&- {GATE}<&-'
)
"""A limit on processes counts those of the sandbox alone if it is set inside. Shells differ in what
they call it. The keeper lets it go on once it has all that it needs of a bot that lives. The bot's
variables come last of all: with them in its environment, any program on the way here would do what
a stranger tells the loader to do, and outside the walls."""
MERGED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Folders that are links into /usr on most systems."""
ETC = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d")
ETC_LIKE = ("java-*", "perl", "ruby*", "tcl*")
"""What runtimes keep there."""
DEVICES = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")
"""Not /dev/zero: mapped as shared, it is memory that no limit of a process counts."""
SHARED, SHARED_MEMORY = "/dev/shm", MIB


class View(Struct, frozen=True):
    """What of its own a bot sees, and where it stands."""

    files: tuple[tuple[str, str], ...]
    """Where something is on this machine, and where it is for the bot."""
    folder: str
    """The current folder, as the bot calls it."""
    scratch: bool = False
    """Whether that folder is empty and can be written to, as much as to /tmp."""
    maybe: tuple[tuple[str, str], ...] = ()
    """Files as above, each seen only if it is still there."""


def walled(
    bwrap: str,
    command: Sequence[str],
    env: Mapping[str, str],
    view: View,
    limits: Limits,
    expose: Sequence[str] = (),
) -> list[str]:
    """The command inside its walls. The keeper brings the descriptors."""
    words = [bwrap, *_apart(), *_system(), *_devices()]
    words += ["--size", str(limits.disk), "--tmpfs", HOME]
    for path in expose:
        words += ["--ro-bind", path, path]
    if view.scratch:
        words += ["--size", str(limits.disk), "--tmpfs", view.folder]
    for source, inside in view.files:
        words += ["--ro-bind", source, inside]
    for source, inside in view.maybe:
        words += ["--ro-bind-try", source, inside]
    if not view.scratch:
        words += ["--dir", view.folder]
    words += ["--chdir", view.folder, "--remount-ro", "/dev", "--remount-ro", "/"]
    words += ["--seccomp", str(FILTER), "--"]
    variables = [f"{name}={value}" for name, value in env.items()]
    last = [SHELL, "-c", LAST_STEP, "sh", str(limits.processes), *variables, "--", *command]
    return [*words, *last]


def writable(view: View) -> tuple[str, ...]:
    """Where it can write."""
    return (HOME, SHARED, view.folder) if view.scratch else (HOME, SHARED)


def system_program(name: str) -> str:
    """The full path of a program of the system, on both sides of the walls. What the referee itself
    runs inside is never searched for there: a bot may set its own PATH."""
    return shutil.which(name, path=os.pathsep.join(BIN_FOLDERS)) or f"/usr/bin/{name}"


def search_path(expose: Sequence[str] = ()) -> str:
    """Where a confined bot finds programs."""
    exposed = [each for path in expose for each in (f"{path}/bin", path) if Path(each).is_dir()]
    return os.pathsep.join([*BIN_FOLDERS, *exposed])


def _apart() -> list[str]:
    spaces = ["user", "pid", "net", "ipc", "uts", "cgroup-try"]
    return [
        *(f"--unshare-{space}" for space in spaces),
        *("--uid", "1000", "--gid", "1000", "--cap-drop", "ALL"),
        *("--hostname", "bot", "--new-session", "--die-with-parent"),
    ]


def _system() -> list[str]:
    words = ["--ro-bind", "/usr", "/usr"]
    for name in MERGED:
        path = Path(name)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            words += ["--ro-bind", name, name]
    runtimes = [str(path) for like in ETC_LIKE for path in sorted(Path("/etc").glob(like))]
    for name in (*ETC, *runtimes):
        words += ["--ro-bind-try", name, name]
    # Process 1 is bubblewrap's own, of the bot's user: its memory would be a second process's.
    hidden = ["--size", "4096", "--tmpfs", "/proc/1", "--remount-ro", "/proc/1"]
    return [*words, "--proc", "/proc", *hidden]


def _devices() -> list[str]:
    words = ["--size", str(SHARED_MEMORY), "--tmpfs", "/dev"]
    for name in DEVICES:
        words += ["--dev-bind", name, name]
    words += ["--symlink", "/proc/self/fd", "/dev/fd"]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        words += ["--symlink", f"/proc/self/fd/{number}", f"/dev/{name}"]
    return [*words, "--size", str(SHARED_MEMORY), "--tmpfs", SHARED]
