"""From a keeper to a bot: a fork, the walls, and another user."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import select
import signal
import sys

from .group import Group
from .kin import children
from .orders import Orders

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
SA_NOCLDSTOP = 1
SIGNAL_SET_BYTES, ACTION_BYTES = 128, 256
SAME_LAYOUT = ("x86_64", "aarch64", "riscv64", "ppc64le", "armv7l")
"""Machines on which the C library has the parts of a `sigaction` in this order."""

LIBC = ctypes.CDLL(None, use_errno=True)


def prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        LIBC.prctl(option, value, 0, 0, 0)


def sleep_through_stops() -> None:
    """Hear of children that have ended, and not of those that were stopped or go on.

    The flag that says so is behind the address of the handler and the set of signals. Elsewhere the
    process is woken and finds that nobody has ended.
    """
    if sys.platform == "linux" and os.uname().machine in SAME_LAYOUT:
        action = ctypes.create_string_buffer(ACTION_BYTES)
        flags = ctypes.c_int.from_buffer(action, ctypes.sizeof(ctypes.c_void_p) + SIGNAL_SET_BYTES)
        LIBC.sigaction(int(signal.SIGCHLD), None, action)
        flags.value |= SA_NOCLDSTOP
        LIBC.sigaction(int(signal.SIGCHLD), action, None)


def start(orders: Orders, group: Group, stderr: int, up: int, filter: int, gate: int) -> int:
    """The process id of what was started. Raises OSError where it cannot be."""
    os.chdir(orders.cwd)
    trouble, tell = os.pipe()
    keeper = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            group.join()
            os.dup2(stderr, 2)
            if orders.stdout_is_log:
                os.dup2(stderr, 1)
            for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            if filter >= 0:
                tell = hand_over((0, 1, up, filter, gate), tell)
            limit(orders.limits)
            if orders.user is not None:
                become(orders.user)
            # Last: another user is another life, which would not end with ours.
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != keeper:
                os._exit(127)
            os.execvpe(orders.command[0], orders.command, orders.env)
        except OSError as error:
            os.write(tell, str(error.errno).encode())
        finally:
            os._exit(127)
    os.close(tell)
    failed = os.read(trouble, 16)
    os.close(trouble)
    if failed:
        os.waitpid(pid, 0)
        raise OSError(int(failed), os.strerror(int(failed)), orders.command[0])
    return pid


def hand_over(fds: tuple[int, ...], tell: int) -> int:
    """Put the descriptors where walls.py says that they are, and give `tell` in its new place.

    Bubblewrap gets no end of the game's pipes as its own input and output.
    """
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in fds]
    tell = fcntl.fcntl(tell, fcntl.F_DUPFD_CLOEXEC, 20)
    for number, fd in enumerate(high, 3):
        os.dup2(fd, number)
        os.close(fd)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    return tell


def limit(limits: dict[str, int]) -> None:
    """Of its resources; and where memory runs out all the same, it goes first."""
    if limits:
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
        for name, value in limits.items():
            number, most = getattr(resource, f"RLIMIT_{name}"), value
            if name == "CPU" and resource.getrlimit(number)[1] != value:
                # Out of its seconds, a bot is told so by a signal of its own; one that does not
                # heed it is ended a second later.
                most = value + 1
            resource.setrlimit(number, (value, most))


def become(user: int) -> None:
    """Another user, for good."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def await_walls(up: int, control: int) -> bool:
    """Whether the walls stand and the bot's own command is run next."""
    poll = select.poll()
    poll.register(up, select.POLLIN)
    poll.register(control, select.POLLIN)
    ready = [fd for fd, _ in poll.poll()]
    return up in ready and bool(os.read(up, 1))


def inner(pid: int) -> int:
    """The bot behind the walls: bubblewrap's child's child, as the machine numbers it.

    Bubblewrap itself where that has ended already. Raises OSError where nobody can tell: what
    stops, counts and watches a bot would else be for bubblewrap, and the bot go free.
    """
    bot = pid
    for _ in range(2):
        below = children(bot)
        if not below:
            return pid
        bot = below[0]
    return bot


def let_go(*fds: int) -> None:
    """What is the bot's alone: as long as the keeper held it, no end of file would show."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    for fd in fds:
        if fd >= 0:
            os.close(fd)


def first_words(stderr: int) -> str:
    """What bubblewrap had to say, in one line."""
    os.set_blocking(stderr, False)
    try:
        said = os.read(stderr, 4096).decode(errors="replace")
    except OSError:
        said = ""
    return " ".join(said.split()) or "bubblewrap ended without a word"
