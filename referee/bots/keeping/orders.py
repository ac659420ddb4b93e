"""What a keeper is asked for, and how that travels to the process that forks it.

Both ends are of one installation, so what travels is in Python's own format: to import another one
takes longer than to fork a keeper. So does `typing`.
"""

from __future__ import annotations

import array
import marshal
import os
import socket
from types import SimpleNamespace

LENGTH_BYTES = 4
MOST_FDS = 16
LINE_END = b"\0"
ASIDE, UP = b"aside", b"up"
"""Control lines, referee to keeper: `aside`, the bot is stopped for a while, has its log closed and
need not be looked at; `up`, it goes on. A bot that nobody looks at and that has written nothing is
set aside and taken up without a line, so that its keeper sleeps on."""
MOST_PATH_BYTES = 4096


class Handed(SimpleNamespace):
    """File descriptors that a keeper is given; -1 stands for none."""

    stdin: int
    """The bot's end of a pipe, like `stdout`."""
    stdout: int
    bot_stderr: int
    """The bot's end of a third pipe."""
    words: int
    """The other end, where its keeper reads what the bot writes there."""
    log_path: int
    """A file with the path of the log. The referee writes it there before the bot begins or goes
    on. The keeper reads it when the bot has written something."""
    control: int
    """The keeper's end of the socket on which it tells the referee what happens."""
    filter: int = -1
    """Where bubblewrap's filter can be read. Without one there are no walls."""
    stopper: int = -1
    """Where a stopper of the bot's processes gets its orders; without one there is none."""
    stderr: int = -1
    """The keeper's own; without one it has none."""

    def close(self) -> None:
        for fd in vars(self).values():
            if fd >= 0:
                os.close(fd)


class Orders(SimpleNamespace):
    """How to start a bot, and what to look at while it runs."""

    command: list[str]
    env: dict[str, str]
    cwd: str
    nice: int = 0
    bot_cores: tuple[int, ...] = ()
    """On which the bot runs; none are those of the process that forks keepers."""
    cores: tuple[int, ...] = ()
    """On which the keeper runs, once the bot does; none are the bot's."""
    log_bytes: int = 65536
    stdout_is_log: bool = False
    """Whether what the bot writes to its standard output goes where its stderr goes."""
    scratch: str = ""
    """A folder that is to be gone when the keeper is, whoever was to remove it."""
    user: int | None = None
    limits: dict[str, int] = {}
    """Of the process, by the name of the resource."""
    memory: int = 0
    """What all processes of the bot may fill together; 0 where that is not to be watched."""
    places: tuple[str, ...] = ()
    """Where the bot can write, as it calls it."""
    cpu_s: int = 0
    """CPU time that the bot may use in a pairing; 0 where that is not to be watched."""
    threads: int = 0
    """Processes and threads that the bot may have at a time; 0 where it is not confined."""
    alone: bool = False
    """Whether the bot cannot have a second process, so that nobody need search for one."""
    group: str = ""
    """The control group to make, with what to write into its files."""
    group_limits: dict[str, int] = {}


def send(line: socket.socket, orders: Orders, handed: Handed) -> None:
    """Raises OSError where nobody is there to take it."""
    given = {name: fd for name, fd in vars(handed).items() if fd >= 0}
    body = marshal.dumps((vars(orders), tuple(given)))
    data = len(body).to_bytes(LENGTH_BYTES, "big") + body
    fds = array.array("i", given.values())
    sent = line.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
    line.sendall(data[sent:])


def receive(line: socket.socket) -> tuple[Orders, Handed] | None:
    """None where nobody asks any more."""
    fds = array.array("i")
    flags = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
    head, handed, _, _ = line.recvmsg(
        LENGTH_BYTES, socket.CMSG_SPACE(MOST_FDS * fds.itemsize), flags
    )
    for level, kind, content in handed:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            fds.frombytes(content)
    head = head and head + _exactly(line, LENGTH_BYTES - len(head))
    body = _exactly(line, int.from_bytes(head, "big"))
    if not body:
        return None
    orders, names = marshal.loads(body)
    for fd in fds:
        os.set_inheritable(fd, False)
    return Orders(**orders), Handed(**dict(zip(names, fds, strict=True)))


def _exactly(line: socket.socket, size: int) -> bytes:
    """So many bytes; none where the line ends before."""
    data = b""
    while len(data) < size:
        more = line.recv(size - len(data))
        if not more:
            return b""
        data += more
    return data
