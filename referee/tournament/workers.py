"""The worker processes, seen from the coordinator: give an order, hear reports.

A worker that dies takes nothing with it but the games that it had not sent: it is replaced, and
what was given to it is said to be lost, so that it can be given out again.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import selectors
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from referee.tournament.chunk import (
    Called,
    Done,
    Frames,
    Order,
    Report,
    frame,
    read_report,
)
from referee.tournament.crew import LostWorker, Place

READ_BYTES = 1 << 20
PIPE_BYTES = 1 << 20
"""Room for the reports of a worker while the coordinator commits, where the system has it."""
LEAVE_S = 5.0
PACKAGES = Path(__file__).resolve().parents[2]
PROGRAM = """
import gc, sys
gc.disable()
workers = int(sys.argv.pop())
sys.path.insert(0, sys.argv.pop())
from referee.tournament.worker import main
gc.freeze()
gc.enable()
main(workers)
"""
"""What is imported is no garbage, and is never looked through."""


class Worker:
    """One worker process."""

    def __init__(self, workers: int, stderr: int | None = None) -> None:
        """`workers` is how many there are, which share the memory. `stderr` is a descriptor for
        what it has to say to people; None is our own."""
        self.process = subprocess.Popen(
            # The folder in which somebody runs a tournament is no place to import from: -P.
            [sys.executable, "-P", "-c", PROGRAM, str(PACKAGES), str(workers)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
            # Ctrl-C is for the coordinator, which ends its workers in good order.
            start_new_session=True,
        )
        assert self.process.stdout is not None
        self.fd = self.process.stdout.fileno()
        os.set_blocking(self.fd, False)
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            with contextlib.suppress(OSError):
                fcntl.fcntl(self.fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self.frames = Frames()
        self.order: Order | None = None
        """What it is at work on."""
        self.at_hand: frozenset[int] = frozenset()
        """Bots whose processes it keeps."""

    def give(self, order: Order) -> bool:
        """Where nobody is there to take it, `hear` tells so in a moment."""
        assert self.process.stdin is not None
        self.order = order
        with contextlib.suppress(OSError):
            self.process.stdin.write(frame(order))
        return True

    def hear(self) -> list[Report]:
        """What it has said. Raises LostWorker."""
        try:
            data = os.read(self.fd, READ_BYTES)
        except BlockingIOError:
            return []
        if not data:
            raise LostWorker(self.how_it_ended())
        reports = [read_report(body) for body in self.frames.feed(data)]
        for report in reports:
            self.note_kept(report)
        return reports

    def note_kept(self, report: Report) -> None:
        """What it says of the processes that it keeps."""
        if isinstance(report, Done | Called):
            self.at_hand = frozenset(report.kept)

    def how_it_ended(self) -> str:
        self.close()
        status = self.process.returncode
        if status is None:
            return "a worker closed its output"
        how = f"by signal {-status}" if status < 0 else f"with status {status}"
        return f"a worker process ended {how}"

    def close(self) -> None:
        """End it: at the end of its input it exits, and the bots with it."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self.process.wait(LEAVE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Workers:
    """All of them."""

    place: Place = "workers"

    def __init__(self, count: int) -> None:
        self._selector = selectors.DefaultSelector()
        self._workers: list[Worker] = []
        self._count = count
        for _ in range(count):
            self._add()

    def __len__(self) -> int:
        return len(self._workers)

    def idle(self) -> list[Worker]:
        return [worker for worker in self._workers if worker.order is None]

    def absent(self) -> tuple[int, ...]:
        """Whoever can be started can play."""
        return ()

    def busy(self) -> bool:
        return any(worker.order is not None for worker in self._workers)

    def hear(self, timeout_s: float) -> Iterator[tuple[Worker, list[Report] | LostWorker]]:
        """Who has said what, or was lost. A lost worker is replaced at once."""
        for key, _ in self._selector.select(timeout_s):
            worker: Worker = key.data
            try:
                yield worker, worker.hear()
            except LostWorker as lost:
                self._remove(worker)
                self._add()
                yield worker, lost

    def muster(self) -> None:
        return None

    def levels(self) -> tuple[str, ...]:
        return ()

    def close(self) -> None:
        for worker in self._workers:
            # First the ends of all inputs, then the waiting: they leave side by side.
            if worker.process.stdin is not None:
                with contextlib.suppress(OSError):
                    worker.process.stdin.close()
        while self._workers:
            worker = self._workers.pop()
            self._selector.unregister(worker.fd)
            worker.close()
        self._selector.close()

    def _add(self) -> None:
        worker = self._hired()
        self._workers.append(worker)
        self._selector.register(worker.fd, selectors.EVENT_READ, worker)

    def _hired(self) -> Worker:
        return Worker(self._count)

    def _remove(self, worker: Worker) -> None:
        self._workers.remove(worker)
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(worker.fd)
