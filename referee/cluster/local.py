"""A cluster of worker processes on this machine, for as long as a command runs.

Ctrl-C in a terminal goes to every process of the command. Here it is for the command alone, which
closes the cluster in good order; a worker of dask that gets one as well shows where it was
interrupted, at length. So the workers begin with such signals blocked, which a process has from the
thread that starts it, and leave the terminal as soon as they run (`dask_setup`).
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType
from typing import Any

from distributed import LocalCluster

HERE = "127.0.0.1"
SILENT = logging.CRITICAL + 1
OF_THE_TERMINAL = (signal.SIGINT, signal.SIGHUP)
"""What a terminal sends to every process of a command."""
HELD = (*OF_THE_TERMINAL, signal.SIGTERM)


@contextmanager
def local_cluster(jobs: int) -> Iterator[str]:
    """The address of its scheduler; it has so many workers, of one thread each."""
    local: LocalCluster | None = None
    try:
        with _undisturbed():
            # By itself it begins later, in a thread in which it then lets SIGINT through.
            resource_tracker.ensure_running()
        with _undisturbed():
            local = LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                processes=True,
                host=HERE,
                silence_logs=SILENT,
                # Dask serves pages even where it has none to show, on a port that others may have.
                scheduler_kwargs={"dashboard": False, "dashboard_address": f"{HERE}:0"},
                worker_dashboard_address=f"{HERE}:0",
                preload=[__name__],
            )
        yield str(local.scheduler_address)
    finally:
        if local is not None:
            with _undisturbed():
                local.close()


async def dask_setup(_worker: object) -> None:
    """Dask calls this in a worker, once it runs: bots begin with every signal let through."""
    with contextlib.suppress(OSError):  # it has a session of its own already
        os.setsid()
    for number in OF_THE_TERMINAL:
        before = signal.getsignal(number)
        # What came meanwhile was not for us: to ignore a signal is to forget those that wait.
        signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
        signal.signal(number, before)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals wait until this is over, all but the first for ever; what is begun meanwhile gets
    none of the terminal's."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, OF_THE_TERMINAL)
    try:
        for number in HELD:
            handler = signal.getsignal(number)
            if callable(handler):
                handlers[number] = handler
                # A thread that was there before may be handed a signal that is blocked in this one.
                signal.signal(number, lambda number, _: came.append(number))
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for held, handler in handlers.items():
            signal.signal(held, handler)
    if came:
        handlers[came[0]](came[0], None)
