"""The keeper of one bot: a small process between the referee and the bot's process tree.

    python -I -S keeper.py CONTROL_FD CORES LOG COMMAND …

The bot inherits the keeper's standard input and output, which the keeper then lets go, so that the
game itself passes through no third hand. What the keeper does:

- starts the bot in a session of its own and tells the referee its process id, or why it failed;
- reads the bot's stderr all the time, so that no bot blocks on it, and keeps its head and tail;
- tells how the bot ended;
- leaves nothing behind. When the referee closes the control socket, or dies however suddenly, the
  socket ends, and every process that descends from the bot is killed. On Linux the keeper is a
  child subreaper, so that a daemon that forked twice is still found; elsewhere the process group
  has to do.

It runs as a script of its own, with the standard library alone, because it must not share a fate
with the referee. Control lines, keeper to referee: `started PID`, `failed REASON`, `exit STATUS`,
`signal NUMBER`.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time

HEAD_BYTES = 32 * 1024
TAIL_BYTES = 32 * 1024
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CLEANING_S = 5.0


class Log:
    """A file with the head and the tail of a stream, and a line on what was left out between."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = -1
        self._head_left = HEAD_BYTES
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
            self._skipped += max(0, len(tail) - TAIL_BYTES)
            self._tail = tail[-TAIL_BYTES:]

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


def prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def start(command: list[str], stderr: int) -> int:
    """The bot's process id. Raises OSError where it cannot be started."""
    trouble, tell = os.pipe()
    keeper = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != keeper:
                os._exit(127)
            os.dup2(stderr, 2)
            for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            os.execvp(command[0], command)
        except OSError as error:
            os.write(tell, str(error.errno).encode())
        finally:
            os._exit(127)
    os.close(tell)
    failed = os.read(trouble, 16)
    os.close(trouble)
    if failed:
        os.waitpid(pid, 0)
        raise OSError(int(failed), os.strerror(int(failed)), command[0])
    return pid


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


def watch(control: int, stderr: int, wakeup: int, bot: int, log: Log) -> str:
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
                            code = os.waitstatus_to_exitcode(status)
                            return f"exit {code}" if code >= 0 else f"signal {-code}"
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
    control, cores, path, command = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
    os.set_inheritable(control, False)
    wakeup, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    stderr, bot_stderr = os.pipe()
    try:
        bot = start(command, bot_stderr)
    except OSError as error:
        reason = f"failed {error.strerror}: {error.filename}\n"
        os.write(control, reason.encode(errors="backslashreplace"))
        return
    # What is the bot's alone: as long as the keeper held it, no end of file would show.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    os.close(bot_stderr)
    if cores != "-":
        # The bot has the slot's core; its keeper gets out of the way.
        os.sched_setaffinity(0, [int(core) for core in cores.split(",")])
    log = Log(path)
    ended = ""
    with contextlib.suppress(OSError):
        os.write(control, f"started {bot}\n".encode())
        ended = watch(control, stderr, wakeup, bot, log)
    leave_nothing(bot)
    drain(stderr, log)
    log.close()
    if ended:
        with contextlib.suppress(OSError):
            os.write(control, f"{ended}\n".encode())


if __name__ == "__main__":
    main()
