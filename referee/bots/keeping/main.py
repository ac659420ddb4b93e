"""The life of a keeper."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal

from .ending import leave_nothing, told
from .files import Files
from .group import Group
from .log import Log
from .orders import ASIDE, LINE_END, MOST_PATH_BYTES, UP, Handed, Orders
from .starting import (
    PR_SET_CHILD_SUBREAPER,
    await_walls,
    first_words,
    inner,
    let_go,
    prctl,
    sleep_through_stops,
    start,
)
from .stopper import start_stopper
from .watch import Watch

NO_MORE = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
"""What the system says where it has no process, memory or descriptor left, for whatever bot."""


def keep(orders: Orders, handed: Handed) -> None:
    """Start the bot, and stay until it has ended and nothing of it is left."""
    control = handed.control
    walled = handed.filter >= 0
    wakeup, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    sleep_through_stops()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    up, bot_up = os.pipe()
    bot_gate, gate = os.pipe()
    group = Group(orders.group, orders.group_limits)
    log = Log(orders.log_bytes, own_stderr=handed.stderr >= 0)
    files: Files | None = None
    ended = ""
    outer = 0
    try:
        group.make()
        outer = start(orders, group, handed.bot_stderr, bot_up, handed.filter, bot_gate)
        let_go(handed.bot_stderr, bot_up, bot_gate, handed.filter)
        if walled and not await_walls(up, control):
            tell(control, f"walls {first_words(handed.words)}")
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
        looks = Watch(orders, outer, bot, files, group)
        with contextlib.suppress(OSError):
            ended = watch(handed, wakeup, (outer, stopper), log, looks)
        if looks.exceeded:
            tell(control, looks.exceeded)
        elif ended and group.ran_out_of_memory():
            tell(control, "memory")
        elif looks.ran_out_of_cpu(ended):
            tell(control, "cpu")
        if ended:
            # Before the cleaning, which may take longer than the referee waits for last words.
            tell(control, ended)
    except OSError as error:
        word = "walls" if walled else "unforked" if error.errno in NO_MORE else "failed"
        where = f": {error.filename}" if error.filename else ""
        tell(control, f"{word} {error.strerror}{where}")
    finally:
        if outer:
            leave_nothing(outer)
        if files is not None:
            files.close()
        group.remove()
        remove(orders.scratch)
        drain(handed, log)
        log.close()


def watch(handed: Handed, wakeup: int, started: tuple[int, int], log: Log, looks: Watch) -> str:
    """Drain stderr until the bot ends, or is ended, or the referee lets go; how it ended, if so."""
    control, stderr = handed.control, handed.words
    outer, stopper = started
    heard = b""
    poll = select.poll()
    for fd in (stderr, control, wakeup):
        poll.register(fd, select.POLLIN)
    while True:
        if looks.look():
            return f"signal {signal.SIGKILL}"
        ready = [fd for fd, _ in poll.poll(looks.wait_ms())]
        if control in ready:
            data = os.read(control, 4096)
            if not data:
                return ""
            *lines, heard = (heard + data).split(LINE_END)
            for line in lines:
                obey(line, handed, log, looks)
            continue  # Stderr may have been read meanwhile.
        if stderr in ready:
            begin(handed, log)
            data = os.read(stderr, 65536)
            if data:
                log.add(data)
            else:
                poll.unregister(stderr)
        if wakeup in ready:
            os.read(wakeup, 4096)
            try:
                while True:
                    pid, status = os.waitpid(-1, os.WNOHANG)
                    if pid == 0:
                        break
                    if pid == outer:
                        status = os.waitstatus_to_exitcode(status)
                        return told(status, walled=handed.filter >= 0)
                    if pid == stopper and looks.lost_its_stopper():
                        return f"signal {signal.SIGKILL}"
            except ChildProcessError:
                return "exit 0"


def obey(line: bytes, handed: Handed, log: Log, looks: Watch) -> None:
    """A control line of the referee: the bot was set aside, or is about to be taken up."""
    if line == ASIDE:
        # The bot is stopped: what it has written belongs to the pairing that has ended.
        drain(handed, log)
        log.close()
        tell(handed.control, "kept" if looks.set_aside() else "used")
    elif line == UP:
        looks.take_up()


def begin(handed: Handed, log: Log) -> None:
    """The bot has written something. The referee hears of it before that is read, and so never
    finds both nothing to read and nothing told."""
    if not log.is_begun:
        tell(handed.control, "wrote")
        path = os.pread(handed.log_path, MOST_PATH_BYTES, 0)
        log.begin(os.fsdecode(path.partition(b"\0")[0]))


def remove(folder: str) -> None:
    """With the files in it. Mostly it is gone already, unless the referee was killed."""
    if folder:
        with contextlib.suppress(OSError):
            for name in os.listdir(folder):  # noqa: PTH208  # no pathlib, as in log.py
                os.unlink(f"{folder}/{name}")  # noqa: PTH108
            os.rmdir(folder)  # noqa: PTH106


def drain(handed: Handed, log: Log) -> None:
    """What is still in the pipe; a stray process may hold it open, so never wait for its end."""
    os.set_blocking(handed.words, False)
    with contextlib.suppress(OSError):
        for _ in range(64):
            data = os.read(handed.words, 65536)
            if not data:
                break
            begin(handed, log)
            log.add(data)


def tell(control: int, line: str) -> None:
    with contextlib.suppress(OSError):
        os.write(control, line.encode(errors="backslashreplace") + b"\n")
