"""The keeper of one bot: a small process between the referee and the bot's process tree.

    python -I -S keeper.py control=FD [log=FILE] [cores=0,1] [more, see Orders] -- COMMAND …

The bot inherits the keeper's standard input and output, which the keeper then lets go, so that the
game itself passes through no third hand. What the keeper does:

- starts the bot in a session of its own, behind the walls that it is told of, and tells the
  referee its process id, or why it failed;
- reads the bot's stderr all the time, so that no bot blocks on it, and keeps its head and tail;
- tells how the bot ended;
- leaves nothing behind. When the referee closes the control socket, or dies however suddenly, the
  socket ends, and every process that descends from the bot is killed. On Linux the keeper is a
  child subreaper, so that a daemon that forked twice is still found; elsewhere the process group
  has to do.

It runs as a script of its own, with the standard library alone, because it must not share a fate
with the referee. Control lines, keeper to referee: `started PID`, `failed REASON`, `walls REASON`
(the bot could not be confined, and was not started), `exit STATUS`, `signal NUMBER`, `memory`
(before the last two: its control group ran out of it).
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CLEANING_S = 5.0
SIGNALLED = 128
LAST_SIGNAL = 64
OWN_STDERR = "/dev/stderr"
"""As a log: everything goes on to the keeper's own stderr, as it comes. The bot gets no hold of it,
since whoever may write to a terminal can mostly read from it too."""


class Orders:
    """What the command line says."""

    def __init__(self, words: list[str]) -> None:
        end = words.index("--")
        given = dict(word.split("=", 1) for word in words[:end])
        self.command = words[end + 1 :]
        self.control = int(given["control"])
        self.log = given.get("log", os.devnull)
        self.log_bytes = int(given.get("log_bytes", "65536"))
        self.cores = [int(core) for core in given.get("cores", "").split(",") if core]
        self.filter = int(given.get("filter", "-1"))
        """Where bubblewrap's filter can be read. Without one there are no walls."""
        self.walled = self.filter >= 0
        self.user = int(given["user"]) if "user" in given else None
        self.limits = pairs(given.get("limits", ""))
        """Of the process, by the name of the resource."""
        self.group = given.get("group", "")
        """The control group to make, with what to write into its files."""
        self.group_limits = pairs(given.get("group_limits", ""))


def pairs(text: str) -> dict[str, int]:
    """`DATA:1000,CPU:5`"""
    split = (each.split(":") for each in text.split(",") if each)
    return {name: int(value) for name, value in split}


class Log:
    """A file with the head and the tail of a stream, and a line on what was left out between."""

    def __init__(self, path: str, limit: int) -> None:
        if path == OWN_STDERR:
            limit = sys.maxsize
        self._path = path
        self._fd = os.dup(2) if path == OWN_STDERR else -1
        self._head_left = limit // 2
        self._tail_bytes = limit - limit // 2
        self._tail = b""
        self._skipped = 0

    def add(self, data: bytes) -> None:
        if self._head_left:
            head = data[: self._head_left]
            self._head_left -= len(head)
            self._write(head)
            data = data[len(head) :]
        if data:
            tail = self._tail + data
            self._skipped += max(0, len(tail) - self._tail_bytes)
            self._tail = tail[-self._tail_bytes :]

    def close(self) -> None:
        if self._skipped:
            self._write(b"\n[... %d bytes left out ...]\n" % self._skipped)
        if self._tail:
            self._write(self._tail)

    def _write(self, data: bytes) -> None:
        # A log that cannot be written must not cost a game: the bot is drained all the same.
        with contextlib.suppress(OSError):
            if self._fd < 0:
                # No pathlib: it costs every start of a bot 10 ms.
                os.makedirs(os.path.dirname(self._path), exist_ok=True)  # noqa: PTH103, PTH120
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
                self._fd = os.open(self._path, flags, 0o644)
            os.write(self._fd, data)


class Group:
    """The control group of a bot."""

    def __init__(self, path: str, limits: dict[str, int]) -> None:
        self._path = path
        self._limits = limits

    def make(self) -> None:
        """Raises OSError."""
        if self._path:
            os.mkdir(self._path)  # noqa: PTH102
            for name, value in self._limits.items():
                self._write(name, str(value))

    def join(self) -> None:
        if self._path:
            self._write("cgroup.procs", "0")

    def ran_out_of_memory(self) -> bool:
        counts: dict[str, str] = {}
        if self._path:
            with contextlib.suppress(OSError), open(f"{self._path}/memory.events") as file:
                counts = dict(line.split() for line in file)
        return counts.get("oom_kill", "0") != "0"

    def remove(self) -> None:
        """With all that is left in it."""
        if not self._path:
            return
        give_up = time.monotonic() + CLEANING_S
        while time.monotonic() < give_up:
            with contextlib.suppress(OSError):
                self._write("cgroup.kill", "1")
            try:
                os.rmdir(self._path)  # noqa: PTH106
            except FileNotFoundError:
                return
            except OSError:  # its processes are still on their way out
                time.sleep(0.001)
            else:
                return

    def _write(self, name: str, value: str) -> None:
        with open(f"{self._path}/{name}", "w") as file:
            file.write(value)


def prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def start(orders: Orders, group: Group, stderr: int, up: int) -> int:
    """The process id of what was started. Raises OSError where it cannot be."""
    trouble, tell = os.pipe()
    keeper = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != keeper:
                os._exit(127)
            group.join()
            os.dup2(stderr, 2)
            for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            if orders.walled:
                tell = hand_over(orders.filter, up, tell)
            limit(orders.limits)
            if orders.user is not None:
                become(orders.user)
            os.execvp(orders.command[0], orders.command)
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


def hand_over(filter: int, up: int, tell: int) -> int:
    """Put the descriptors where walls.py says that they are, and give `tell` in its new place.

    Bubblewrap gets no end of the game's pipes as its own input and output.
    """
    import fcntl

    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (0, 1, up, filter)]
    tell = fcntl.fcntl(tell, fcntl.F_DUPFD_CLOEXEC, 20)
    for number, fd in enumerate(high, 3):
        os.dup2(fd, number)
        os.close(fd)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    return tell


def limit(limits: dict[str, int]) -> None:
    if limits:
        import resource

        for name, value in limits.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))


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

    Bubblewrap itself where that has ended already.
    """
    bot = pid
    try:
        for _ in range(2):
            with open(f"/proc/{bot}/task/{bot}/children") as file:
                bot = int(file.read().split()[0])
    except (OSError, IndexError):
        return pid
    return bot


def descendants() -> list[int]:
    """Every living process that descends from this one, by a look through /proc."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208  # pathlib costs this script 10 ms
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry))
    found: list[int] = []
    unseen = [os.getpid()]
    while unseen:
        below = children.get(unseen.pop(), [])
        found += below
        unseen += below
    return found


def leave_nothing(bot: int) -> None:
    """Kill the bot's group and all that descends from it, and wait until it is gone."""
    give_up = time.monotonic() + CLEANING_S
    while time.monotonic() < give_up:
        with contextlib.suppress(OSError):
            os.killpg(bot, signal.SIGKILL)
        if sys.platform == "linux":
            for pid in descendants():
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)


def told(code: int, *, walled: bool) -> str:
    """How it ended. Bubblewrap tells of a signal as shells do."""
    if walled and SIGNALLED < code <= SIGNALLED + LAST_SIGNAL:
        code = SIGNALLED - code
    return f"exit {code}" if code >= 0 else f"signal {-code}"


def watch(control: int, stderr: int, wakeup: int, bot: int, log: Log, *, walled: bool) -> str:
    """Drain stderr until the bot ends or the referee lets go; how the bot ended, if it did."""
    poll = select.poll()
    for fd in (control, stderr, wakeup):
        poll.register(fd, select.POLLIN)
    while True:
        for fd, _ in poll.poll():
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
                        if pid == bot:
                            return told(os.waitstatus_to_exitcode(status), walled=walled)
                        if pid == 0:
                            break
                except ChildProcessError:
                    return "exit 0"
            elif not os.read(control, 64):
                return ""


def drain(stderr: int, log: Log) -> None:
    """What is still in the pipe; a stray process may hold it open, so never wait for its end."""
    os.set_blocking(stderr, False)
    with contextlib.suppress(OSError):
        for _ in range(64):
            data = os.read(stderr, 65536)
            if not data:
                break
            log.add(data)


def main() -> None:
    orders = Orders(sys.argv[1:])
    control = orders.control
    os.set_inheritable(control, False)
    wakeup, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    stderr, bot_stderr = os.pipe()
    up, bot_up = os.pipe()
    group = Group(orders.group, orders.group_limits)
    log = Log(orders.log, orders.log_bytes)
    ended = ""
    outer = 0
    try:
        group.make()
        outer = start(orders, group, bot_stderr, bot_up)
        let_go(bot_stderr, bot_up, orders.filter)
        if orders.walled and not await_walls(up, control):
            tell(control, f"walls {first_words(stderr)}")
            return
        bot = inner(outer) if orders.walled else outer
        if orders.cores:
            # The bot has the slot's core; its keeper gets out of the way.
            os.sched_setaffinity(0, orders.cores)
        tell(control, f"started {bot}")
        with contextlib.suppress(OSError):
            ended = watch(control, stderr, wakeup, outer, log, walled=orders.walled)
    except OSError as error:
        word = "walls" if orders.walled else "failed"
        where = f": {error.filename}" if error.filename else ""
        tell(control, f"{word} {error.strerror}{where}")
    finally:
        if outer:
            leave_nothing(outer)
        if ended and group.ran_out_of_memory():
            tell(control, "memory")
        group.remove()
        drain(stderr, log)
        log.close()
        if ended:
            tell(control, ended)


def let_go(*fds: int) -> None:
    """What is the bot's alone: as long as the keeper held it, no end of file would show."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    for fd in fds:
        if fd >= 0:
            os.close(fd)


def tell(control: int, line: str) -> None:
    with contextlib.suppress(OSError):
        os.write(control, line.encode(errors="backslashreplace") + b"\n")


def first_words(stderr: int) -> str:
    """What bubblewrap had to say, in one line."""
    os.set_blocking(stderr, False)
    try:
        said = os.read(stderr, 4096).decode(errors="replace")
    except OSError:
        said = ""
    return " ".join(said.split()) or "bubblewrap ended without a word"


if __name__ == "__main__":
    main()
