"""The line to a scheduler, kept up by a thread of its own: who works there, and whether it answers.

A scheduler that is started anew has forgotten everything, and a network may fail for a while. The
liaison connects again and again, and tells what it finds as news.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from distributed import Client, Future

ROLL_S = 0.5
CONNECT_S = 5.0
LOCAL = "local"


class Connected(NamedTuple):
    """There is a line, with nothing of what was asked for over the one before."""

    client: Client


class Silent(NamedTuple):
    """There is none."""

    why: str


class Roll(NamedTuple):
    """Who works there, and in how many threads."""

    threads: Mapping[str, int]


class Answer(NamedTuple):
    """Something that was asked for is done, or failed."""

    about: Any
    future: Future[Any]


News = Connected | Silent | Roll | Answer


class Liaison:
    """Keeps the line up."""

    def __init__(self, address: str, news: SimpleQueue[News]) -> None:
        """`address` is a URL, or the path of a scheduler file."""
        self._address = address
        self._news = news
        self._over = threading.Event()
        # What dask has to say of lines that break is told here in other words.
        for name in ("distributed", *logging.root.manager.loggerDict):
            if name.startswith("distributed"):
                logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._thread.join(2 * CONNECT_S)

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                client = self._connect()
            except (OSError, ValueError) as problem:
                self._news.put(Silent(str(problem) or type(problem).__name__))
                self._over.wait(ROLL_S)
                continue
            self._news.put(Connected(client))
            self._call_roll(client)
            with contextlib.suppress(Exception):  # whatever is left of a broken line
                client.close(timeout=1)

    def _call_roll(self, client: Client) -> None:
        scheduler = ""
        line = client.scheduler
        assert line is not None
        while not self._over.is_set():
            try:
                found = client.sync(line.identity, callback_timeout=CONNECT_S)
            except Exception as problem:  # dask has many words for a line that broke
                self._news.put(Silent(str(problem) or type(problem).__name__))
                return
            if scheduler not in ("", found["id"]):
                # The client has connected again by itself, to one that knows nothing of us.
                self._news.put(Silent("the scheduler was started anew"))
                return
            scheduler = found["id"]
            workers = found["workers"].items()
            self._news.put(Roll({address: each["nthreads"] for address, each in workers}))
            self._over.wait(ROLL_S)

    def _connect(self) -> Client:
        file = self._address if is_file(self._address) else None
        address = None if file else self._address
        return Client(address=address, scheduler_file=file, timeout=CONNECT_S, set_as_default=False)


def is_file(address: str) -> bool:
    return "://" not in address and Path(address).is_file()
