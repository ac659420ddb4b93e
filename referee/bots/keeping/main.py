"""The life of a keeper."""

from __future__ import annotations

import contextlib
import os
import select
import signal

from .ending import leave_nothing, told
from .files import Files
from .group import Group
from .log import Log
from .orders import Handed, Orders
from .starting import (
    PR_SET_CHILD_SUBREAPER,
    await_walls,
    first_words,
    inner,
    let_go,
    prctl,
    start,
)
from .stopper import start_stopper
from .watch import Watch


def keep(orders: Orders, handed: Handed) -> None:
    """Start the bot, and stay until it has ended and nothing of it is left."""
    control = handed.control
    walled = handed.filter >= 0
    wakeup, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    stderr, bot_stderr = os.pipe()
    up, bot_up = os.pipe()
    bot_gate, gate = os.pipe()
    group = Group(orders.group, orders.group_limits)
    log = Log(orders.log, orders.log_bytes)
    files: Files | None = None
    ended = ""
    outer = 0
    try:
        group.make()
        outer = start(orders, group, bot_stderr, bot_up, handed.filter, bot_gate)
        let_go(bot_stderr, bot_up, bot_gate, handed.filter)
        if walled and not await_walls(up, control):
            tell(control, f"walls {first_words(stderr)}")
            return
        bot = inner(outer) if walled else outer
        if orders.cores:
            # The bot has the slot's core; its keeper gets out of the way.
            os.sched_setaffinity(0, orders.cores)
        stopper = 0
        if handed.stopper >= 0:
            stopper = start_stopper(bot, handed.stopper)
            os.close(handed.stopper)
        with contextlib.suppress(OSError):
            os.write(gate, b"\n")
        tell(control, f"started {bot} {stopper}")
        files = Files(bot, orders.places) if orders.places else None
        looks = Watch(orders.memory, outer, bot, files, alone=orders.alone)
        with contextlib.suppress(OSError):
            ended = watch(control, stderr, wakeup, (outer, stopper), log, looks, walled)
        if looks.exceeded:
            tell(control, looks.exceeded)
        elif ended and group.ran_out_of_memory():
            tell(control, "memory")
        elif "CPU" in orders.limits and looks.ran_out_of_cpu(orders.limits["CPU"], ended):
            tell(control, "cpu")
        if ended:
            # Before the cleaning, which may take longer than the referee waits for last words.
            tell(control, ended)
    except OSError as error:
        word = "walls" if walled else "failed"
        where = f": {error.filename}" if error.filename else ""
        tell(control, f"{word} {error.strerror}{where}")
    finally:
        if outer:
            leave_nothing(outer)
        if files is not None:
            files.close()
        group.remove()
        remove(orders.scratch)
        drain(stderr, log)
        log.close()


def watch(
    control: int,
    stderr: int,
    wakeup: int,
    started: tuple[int, int],
    log: Log,
    looks: Watch,
    walled: bool,
) -> str:
    """Drain stderr until the bot ends, or is ended, or the referee lets go; how it ended, if so."""
    outer, stopper = started
    poll = select.poll()
    for fd in (control, stderr, wakeup):
        poll.register(fd, select.POLLIN)
    while True:
        if looks.look():
            return f"signal {signal.SIGKILL}"
        for fd, _ in poll.poll(looks.wait_ms()):
            if fd == stderr:
                data = os.read(stderr, 65536)
                if data:
                    log.add(data)
                else:
                    poll.unregister(stderr)
            elif fd == wakeup:
                os.read(wakeup, 4096)
                try:
                    while True:
                        pid, status = os.waitpid(-1, os.WNOHANG)
                        if pid == 0:
                            break
                        if pid == outer:
                            return told(os.waitstatus_to_exitcode(status), walled=walled)
                        if pid == stopper and looks.lost_its_stopper():
                            return f"signal {signal.SIGKILL}"
                except ChildProcessError:
                    return "exit 0"
            elif not os.read(control, 64):
                return ""


def remove(folder: str) -> None:
    """With the files in it. Mostly it is gone already, unless the referee was killed."""
    if folder:
        with contextlib.suppress(OSError):
            for name in os.listdir(folder):  # noqa: PTH208  # no pathlib, as in log.py
                os.unlink(f"{folder}/{name}")  # noqa: PTH108
            os.rmdir(folder)  # noqa: PTH106


def drain(stderr: int, log: Log) -> None:
    """What is still in the pipe; a stray process may hold it open, so never wait for its end."""
    os.set_blocking(stderr, False)
    with contextlib.suppress(OSError):
        for _ in range(64):
            data = os.read(stderr, 65536)
            if not data:
                break
            log.add(data)


def tell(control: int, line: str) -> None:
    with contextlib.suppress(OSError):
        os.write(control, line.encode(errors="backslashreplace") + b"\n")
