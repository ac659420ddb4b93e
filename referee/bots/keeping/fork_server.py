"""The process that forks keepers: one for every process of the referee that starts bots.

A Python that starts anew for every bot costs more than most bots. This one has started and has
imported all that a keeper needs; a fork of it takes about a millisecond. It ends when nobody can
ask it any more. Its keepers do not end with it: each has a control socket of its own.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket

from .main import keep, tell
from .orders import Handed, Orders, receive


def serve(fd: int) -> None:
    """Fork a keeper for each request that comes, until the line ends."""
    line = socket.socket(fileno=fd)
    os.set_inheritable(fd, False)
    # The kernel reaps the keepers: nobody asks here how they ended.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.disable()
    gc.freeze()
    while (request := receive(line)) is not None:
        orders, handed = request
        try:
            pid = os.fork()
        except OSError as error:
            tell(handed.control, f"unforked {error.strerror}")
        else:
            if pid == 0:
                line.close()
                become_keeper(orders, handed)
        handed.close()


def become_keeper(orders: Orders, handed: Handed) -> None:
    """Never returns."""
    try:
        tell(handed.control, f"keeper {os.getpid()}")
        os.setsid()
        for number, fd in enumerate((handed.stdin, handed.stdout, handed.stderr)):
            if fd >= 0:
                os.dup2(fd, number)
                os.close(fd)
        if orders.bot_cores:
            os.sched_setaffinity(0, orders.bot_cores)
        with contextlib.suppress(OSError):  # Only root may have more of the processor again.
            os.setpriority(os.PRIO_PROCESS, 0, orders.nice)
        keep(orders, handed)
    finally:
        os._exit(0)
