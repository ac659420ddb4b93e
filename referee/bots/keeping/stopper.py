"""A process that stops all processes of a bot at once, from inside their PID namespace.

A signal to one process does not reach its children, and to walk through a family and stop one after
the other is too slow for children that fork. `kill(-1)` reaches every process of a namespace in one
call of the kernel, forks that are under way included, but only from inside. The stopper is a
process of ours in the bot's namespace; it keeps our file system and our rights. The bot can see it.
Where both have one user, the bot can kill it, and then loses by it.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal

from .kin import family
from .starting import LIBC, prctl
from .still import RUNS_ON, STOP, ThreadsLook, comes_to_rest, stat

CLONE_NEWPID, CLONE_NEWUSER = 0x20000000, 0x10000000
NS_GET_USERNS = 0xB701
PR_SET_DUMPABLE = 4
ARGUMENTS = slice(45, 47)
"""Where a process's command line is in its memory, as the kernel tells after its name."""


def start_stopper(bot: int, orders: int) -> int:
    """Its process id. It reads its orders from this descriptor. Raises OSError."""
    told, tell = os.pipe()
    between = os.fork()
    if between == 0:
        try:
            # Else a bot of the same user could go by way of /proc/PID/root into our file system.
            prctl(PR_SET_DUMPABLE, 0)
            hide_command_line()
            enter(bot)
            pid = os.fork()
            if pid == 0:
                try:
                    serve(bot, orders)
                finally:
                    os._exit(1)
            os.write(tell, str(pid).encode())
        except OSError as error:
            os.write(tell, str(-(error.errno or 1)).encode())
        finally:
            os._exit(0)
    os.close(tell)
    said = int(os.read(told, 16) or b"-1")
    os.close(told)
    os.waitpid(between, 0)
    if said < 0:
        raise OSError(-said, os.strerror(-said), "the bot's PID namespace")
    return said


def hide_command_line() -> None:
    """It tells where things are on this machine, and everybody may read it."""
    start, end = map(int, stat("self")[ARGUMENTS])
    ctypes.memset(start, 0, end - start)


def enter(bot: int) -> None:
    """The next child of this process is in the PID namespace of the bot. Raises OSError."""
    space = os.open(namespace(bot), os.O_RDONLY | os.O_CLOEXEC)
    try:
        join(space, CLONE_NEWPID)
    except PermissionError:
        # Not root: the owner of the user namespace has every right inside it.
        join(fcntl.ioctl(space, NS_GET_USERNS), CLONE_NEWUSER)
        join(space, CLONE_NEWPID)


def join(space: int, kind: int) -> None:
    if LIBC.setns(space, kind):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def serve(bot: int, orders: int) -> None:
    """Stop and let go on as ordered, until nobody orders any more. A stop is answered once nothing
    runs, or with RUNS_ON."""
    # kill(-1) in the wrong namespace would reach the whole machine.
    if identity("self") != identity(bot) or os.getpid() == 1 or os.getppid() != 0:
        os._exit(1)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.closerange(0, orders)
    os.closerange(orders + 1, 1024)
    first = int(stat(str(bot))[1])

    def stop() -> list[int]:
        signal_all(signal.SIGSTOP)
        return family(first)[1:]

    while word := os.read(orders, 1):
        if word == STOP:
            os.write(orders, STOP if comes_to_rest(ThreadsLook(stop)) else RUNS_ON)
        else:
            signal_all(signal.SIGCONT)


def signal_all(number: signal.Signals) -> None:
    """But for this process and the first of the namespace, which is bubblewrap's."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, number)


def identity(pid: int | str) -> int:
    return os.stat(namespace(pid)).st_ino  # noqa: PTH116  # no pathlib, as in kin.py


def namespace(pid: int | str) -> str:
    return f"/proc/{pid}/ns/pid"
