"""The processes of a tournament as /proc shows them.

A sample is one process at one moment. Bots and their keepers come and go, so they are only counted;
the coordinator and its workers are to stay as they are, whatever bots do.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct

PROC = Path("/proc")
WORKER, KEEPER = b"referee.tournament.worker", b"keeper.py"
"""Words of the command lines by which the referee's own processes are told."""
EVERY_S = 0.5
ZOMBIE = b"Z"

Role = Literal["coordinator", "worker", "keeper"]


class Process(NamedTuple):
    parent: int
    state: bytes
    born: int
    """When, as the kernel counts: together with its number it is this process and no other."""
    words: bytes


class Sample(Struct, frozen=True, kw_only=True):
    """One of the referee's own processes at one moment."""

    at_s: float
    role: Role
    pid: int
    playing: bool
    """Whether the tournament was under way: it had told of a game, and nobody had ended it."""
    fds: int
    threads: int
    rss_kb: int
    peak_kb: int
    unreaped: int
    """Children that have ended and that it has not taken notice of."""


def processes() -> dict[int, Process]:
    """All that there are."""
    found: dict[int, Process] = {}
    for folder in PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            words = (folder / "cmdline").read_bytes()
            found[int(folder.name)] = Process(int(fields[1]), fields[0], int(fields[19]), words)
    return found


def below(pid: int, known: dict[int, Process]) -> list[int]:
    """All processes that descend from this one."""
    children: dict[int, list[int]] = {}
    for each, process in known.items():
        children.setdefault(process.parent, []).append(each)
    found: list[int] = []
    unseen = [pid]
    while unseen:
        new = children.get(unseen.pop(), [])
        found += new
        unseen += new
    return found


def family(pid: int) -> dict[int, Process]:
    """This process and all that descend from it."""
    known = processes()
    return {each: known[each] for each in (pid, *below(pid, known)) if each in known}


def left_of(before: Mapping[int, Process], mark: str) -> dict[int, str]:
    """Those of these processes that live, and all that carry the mark.

    The mark is in the environment or the command line.
    """
    found: dict[int, str] = {}
    for pid, process in processes().items():
        alive = pid in before and before[pid].born == process.born and process.state != ZOMBIE
        if pid != os.getpid() and (alive or _carries(pid, process, mark.encode())):
            found[pid] = os.fsdecode(process.words.replace(b"\0", b" ")).strip()
    return found


def _carries(pid: int, process: Process, mark: bytes) -> bool:
    if mark in process.words:
        return True
    try:
        return mark in (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False


def is_there() -> bool:
    """Whether this system has a /proc that can be looked through."""
    return (PROC / "self" / "fd").is_dir() and (PROC / "self" / "environ").exists()


def _role(pid: int, coordinator: int, process: Process) -> Role | None:
    if pid == coordinator:
        return "coordinator"
    if process.parent == coordinator and WORKER in process.words:
        return "worker"
    return "keeper" if KEEPER in process.words else None


def _sample(
    pid: int, role: Role, known: dict[int, Process], at_s: float, *, playing: bool
) -> Sample:
    """Raises OSError where it has just ended."""
    folder = PROC / str(pid)
    lines = (folder / "status").read_text().splitlines()
    status = dict(line.split(":", 1) for line in lines if ":" in line)
    return Sample(
        at_s=at_s,
        role=role,
        pid=pid,
        playing=playing,
        fds=sum(1 for _ in (folder / "fd").iterdir()),
        threads=int(status["Threads"]),
        rss_kb=int(status["VmRSS"].split()[0]),
        peak_kb=int(status["VmHWM"].split()[0]),
        unreaped=sum(each.parent == pid and each.state == ZOMBIE for each in known.values()),
    )


class Watch:
    """Looks at a coordinator and what is below it, twice a second, in a thread of its own."""

    def __init__(self, began_s: float) -> None:
        self._began_s = began_s
        self.samples: list[Sample] = []
        self.most_processes = 0

    @contextlib.contextmanager
    def over(self, coordinator: int, is_playing: Callable[[], bool]) -> Iterator[None]:
        """Watch this one for as long as the block lasts."""
        enough = threading.Event()
        thread = threading.Thread(target=self._watch, args=(coordinator, is_playing, enough))
        thread.start()
        try:
            yield
        finally:
            enough.set()
            thread.join()

    def _watch(
        self, coordinator: int, is_playing: Callable[[], bool], enough: threading.Event
    ) -> None:
        while not enough.wait(EVERY_S):
            self.look(coordinator, playing=is_playing())

    def look(self, coordinator: int, *, playing: bool) -> None:
        at_s = time.monotonic() - self._began_s
        known = family(coordinator)
        self.most_processes = max(self.most_processes, len(known) - 1)
        for pid, process in known.items():
            role = _role(pid, coordinator, process)
            # What has ended since has no status any more, or one without its memory.
            with contextlib.suppress(OSError, KeyError):
                if role is not None:
                    self.samples.append(_sample(pid, role, known, at_s, playing=playing))
