"""One running bot process: start it, hear how it ended, leave nothing of it behind.

A keeper (keeper.py) stands between the referee and the bot's process tree; this is the referee's
handle on both.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from referee.bots.confinement.cgroups import OpenGroup
from referee.bots.confinement.guard import Guard, NotConfined
from referee.bots.keeper_process import KeeperProcess, NoKeeper
from referee.bots.keeping.kin import family
from referee.bots.keeping.orders import Orders
from referee.bots.keeping.still import PATIENCE_S, ThreadsLook, comes_to_rest, stat
from referee.links.endpoint import LocalEndpoint

LOG_BYTES = 64 * 1024
STDERR_AS_LOG = Path("/dev/stderr")
"""Where what the bot writes goes to the referee's own stderr, at once and whole."""
OUTSIDE = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
"""The environment of walls: nothing of the referee's, and nothing of a bot's."""
WALLS_S = 30.0
"""What walls may take to stand; it is not charged to the bot."""
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
OUT_OF_MEMORY = "ran out of memory and was killed"
TOO_MANY_FILES = "made more files than its limit on disk allows and was killed"

RAN_ON = "went on within the kernel after it was stopped between its turns, and was killed"
NO_STOPPER = "ended the process that stops it between its turns, and was killed"
OUT_OF_CPU = "used up the seconds of processor time that its limit cpu gives and was killed"
EXCEEDED = {
    b"memory": OUT_OF_MEMORY,
    b"files": TOO_MANY_FILES,
    b"cpu": OUT_OF_CPU,
    b"stopper": NO_STOPPER,
}
"""By the keeper's word for why it ended a bot."""


class NoStart(Exception):
    """The bot's command could not be run; the message says why."""


class Share(NamedTuple):
    """What a bot gets of the processor."""

    cores: frozenset[int]
    """On which it runs; none are those of the referee."""
    nice: int


def told_status(status: int) -> str:
    """An exit status in words, a negative one as the signal that it stands for."""
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"


class BotProcess:
    """A bot, started. `stdin` and `stdout` are non-blocking file descriptors of the pipes."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        log: Path | None = None,
        log_bytes: int = LOG_BYTES,
        keeper_cores: frozenset[int] | None = None,
        guard: Guard | None = None,
        endpoint: LocalEndpoint | None = None,
        share: Share | None = None,
    ) -> None:
        """`endpoint` is where a bot that speaks ZeroMQ connects; it is closed with the process.
        Without a `share` the bot has that of the thread that starts it.

        Raises NoStart, or NoKeeper where that is not the bot's doing.
        """
        self.endpoint = endpoint
        share = share or _own_share()
        orders = Orders(
            command=list(command),
            env=dict(os.environ if env is None else env),
            cwd="/" if guard is not None else _folder(cwd),
            nice=share.nice,
            log_bytes=log_bytes,
            bot_cores=tuple(share.cores),
            cores=tuple(sorted(keeper_cores or ())),
        )
        if endpoint is not None:
            orders.stdout_is_log = True
            orders.scratch = str(endpoint.folder)
        if guard is not None:
            _add_guard(orders, guard)
        try:
            self._keeper = KeeperProcess(
                orders,
                filter=guard.filter if guard is not None else b"",
                stopped=guard is not None and guard.stopper,
                log=_log_of(log),
                own_stderr=log == STDERR_AS_LOG,
            )
        except NoKeeper:
            if endpoint is not None:
                endpoint.close()
            raise
        self.stdin, self.stdout = self._keeper.stdin, self._keeper.stdout
        os.set_blocking(self.stdin, False)
        os.set_blocking(self.stdout, False)
        self.stopper = self._keeper.stopper
        self._closed = False
        self._walled = guard is not None
        self._alone = guard is None or guard.one_process
        self.stops_whole = guard is None or guard.stops_whole
        """Whether all its processes can be stopped together."""
        self._group_path = guard.group if guard is not None else ""
        self._group: OpenGroup | None = None
        self._held = False
        self._ran_on = False
        self.pid: int | None = None
        self.cpu_clock: Callable[[], int] = no_cpu_time
        """CPU time of the bot so far, in nanoseconds: of all its processes where it has a control
        group, else of the first; 0 where the system does not tell. Raises OSError or IndexError
        when the bot has ended. Found once: it is read with every answer."""

    def await_start(self, within_s: float) -> None:
        """Wait until the command runs. Raises NoStart, or NotConfined or NoKeeper if that is the
        reason."""
        words = (b"started", b"failed", b"unforked", b"walls")
        if not self._keeper.hear(max(within_s, WALLS_S) if self._walled else within_s, *words):
            if self._walled:
                raise NotConfined(f"no confinement: the walls did not stand within {WALLS_S:g} s")
            raise NoStart(f"the command did not run within {within_s:g} s")
        word, _, rest = self._keeper.line_of(*words).partition(b" ")
        if word != b"started":
            why = rest.decode("utf-8", "replace")
            if word == b"unforked":
                raise NoKeeper(f"bots cannot be started here: {why}")
            raise NoStart(why) if word == b"failed" else NotConfined(f"no confinement: {why}")
        self.pid, stopper = map(int, rest.split())
        if self.stopper is not None:
            self.stopper.pid = stopper
        if sys.platform == "linux":
            # The id of another process's CPU clock, as clock_getcpuclockid makes it.
            self.cpu_clock = partial(time.clock_gettime_ns, (~self.pid << 3) | 2)
        if self._group_path:
            # A bot that has ended already has none any more.
            with contextlib.suppress(OSError):
                self._group = OpenGroup(self._group_path)
                self.cpu_clock = self._group.cpu_ns

    def exit_status(self, within_s: float = 0.0) -> int | None:
        """With which it ended, negative for a signal; None if it is still running."""
        if not self._keeper.hear(within_s, b"exit", b"signal"):
            return None
        word, _, rest = self._keeper.line_of(b"exit", b"signal").partition(b" ")
        return int(rest) if word == b"exit" else -int(rest)

    def how_it_ended(self, within_s: float = 0.0) -> str | None:
        """`exited with status 3`, `was killed by SIGSEGV`; None if it is still running."""
        status = self.exit_status(within_s)
        if status is None:
            return None
        if self._ran_on:
            return RAN_ON
        for word, told in EXCEEDED.items():
            if self._keeper.line_of(word):
                return told
        return told_status(status)

    def cpu_ns(self) -> int:
        """CPU time of the bot so far, 0 where the system does not tell or it has ended."""
        try:
            return self.cpu_clock()
        except (OSError, IndexError):
            return 0

    @property
    def is_held(self) -> bool:
        """Whether it was stopped and has not been let go on."""
        return self._held

    def hold(self) -> None:
        """Let it stand still; what is sent to it waits. For a bot that is one process, or that has
        a control group or a stopper."""
        if self.pid is not None:
            self._held = True
            # A bot that has ended needs no stopping, and how it ended is found out elsewhere.
            with contextlib.suppress(OSError):
                if not self._stop():
                    self._ran_on = True
                    os.kill(self.pid, signal.SIGKILL)
                    self.exit_status(PATIENCE_S)

    def release(self) -> None:
        """Let it go on."""
        if self._held:
            self._held = False
            with contextlib.suppress(OSError):
                if self._group is not None:
                    self._group.thaw()
                elif self.stopper is not None:
                    self.stopper.let_go_on()
                elif self.pid is not None:
                    self._signal(self.pid, signal.SIGCONT)

    def set_aside(self) -> bool:
        """Stop it until it is released, and have its log closed. Whether it can be stopped."""
        if not self.stops_whole or self.pid is None:
            return False
        self.hold()
        self._keeper.set_aside(is_watched=self._walled)
        return not self._ran_on

    def has_written(self) -> bool:
        """Whether anything was written to its stderr since it was set aside or taken up."""
        return self._keeper.has_written()

    @property
    def has_open_log(self) -> bool:
        """Whether the log of a bot that was set aside is being closed."""
        return self._keeper.has_open_log

    def may_be_taken_up(self) -> bool:
        """Wait until the log of a bot that was set aside is closed. Whether the bot had used little
        of what its limits give to the life of a process."""
        return self._keeper.may_be_taken_up()

    def forget_log(self) -> None:
        """The folder of its log goes: what it writes from now on is not kept."""
        self._keeper.begin_log(os.devnull)

    def take_up(self, log: Path | None) -> None:
        """Give a bot that was set aside this log; it goes on when it is released. What it may use
        in a pairing counts from now on."""
        self._keeper.take_up(_log_of(log), is_watched=self._walled)

    def waits(self) -> bool:
        """Whether its first process has nothing to do at this moment, as far as is known."""
        return stat(str(self.pid))[:1] != [b"R"]

    def memory_bytes(self) -> int:
        """What its processes have in memory; 0 where the system does not tell. Without walls only
        the first one counts: to search for others takes longer than many a game."""
        if self._alone and self.pid is not None:
            return _resident_bytes(self.pid)
        # Orphans become children of the first process behind the walls, or of the keeper.
        with contextlib.suppress(OSError):
            return sum(map(_resident_bytes, family(self._keeper.pid)[1:]))
        return 0

    def _stop(self) -> bool:
        """Whether it came to rest."""
        if self._group is not None:
            return self._group.freeze()
        if self.stopper is not None:
            return self.stopper.stop()
        return comes_to_rest(ThreadsLook(self._stop_the_one))

    def _stop_the_one(self) -> list[int]:
        assert self.pid is not None
        self._signal(self.pid, signal.SIGSTOP)
        return [self.pid]

    def _signal(self, pid: int, number: signal.Signals) -> None:
        """To the one process, or without walls to its group, in which others may be."""
        if self._walled:
            os.kill(pid, number)
        else:
            os.killpg(pid, number)

    def end(self) -> None:
        """Have the bot ended, if it has not ended, and its keeper; `close` waits for that."""
        if self.pid is not None and self.how_it_ended() is None:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
        self._keeper.end()

    def close(self) -> None:
        """End the bot, if it has not ended, with its whole process tree, and its keeper."""
        if self._closed:
            return
        self.end()
        self._closed = True
        self._keeper.await_end()
        if self._group is not None:
            self._group.close()
            self._group = None
        if self.endpoint is not None:
            self.endpoint.close()

    def leave(self, within_s: float) -> None:
        """Give the bot a moment to exit by itself, then close."""
        if not self._closed:
            # The end of its input tells even a bot that does not know `bye`.
            self.release()
            self.end_input()
            self.how_it_ended(within_s)
            self.close()

    def end_input(self) -> None:
        """Say no more: the process reads the end of its input."""
        self._keeper.end_input()


def _resident_bytes(pid: int) -> int:
    """What one process has in memory; 0 where it has ended or the system does not tell."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:  # with every pairing
            return int(file.read().split()[1]) * PAGE_BYTES
    except (OSError, IndexError):
        return 0


def _own_share() -> Share:
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
    return Share(frozenset(cores), os.getpriority(os.PRIO_PROCESS, 0))


def _log_of(path: Path | None) -> str:
    """As a keeper is told of it, which has a folder of its own."""
    return str(path.absolute()) if path is not None else os.devnull


def _folder(cwd: Path | None) -> str:
    try:
        return str(cwd or Path.cwd())
    except FileNotFoundError:
        raise NoStart("the current folder is not there any more") from None


def _add_guard(orders: Orders, guard: Guard) -> None:
    """How the bot is confined, instead of what is seen outside of its walls."""
    orders.command = list(guard.command)
    orders.env = OUTSIDE
    orders.user = guard.user
    orders.limits = guard.limits
    orders.memory = guard.watched_memory
    orders.cpu_s = guard.cpu_s
    orders.threads = guard.threads
    orders.places = guard.writable
    orders.alone = guard.one_process
    orders.group = guard.group
    orders.group_limits = guard.group_limits


def no_cpu_time() -> int:
    """Of a bot that does not run, or where the system does not tell."""
    return 0
