"""The line to a scheduler, kept up by a thread of its own: who works there, and whether it answers.

A scheduler that is started anew has forgotten everything, and a network may fail for a while. The
liaison connects again and again, and tells what it finds as news.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
import warnings
from collections.abc import Mapping
from queue import SimpleQueue
from typing import Any, NamedTuple

from distributed import Client, Future
from distributed.comm.core import connect
from distributed.security import Security

from referee.cluster.address import Url, url_of

ROLL_S = 0.5
CROWD = 100
"""With more workers than this the roll is called less often, in proportion."""
CONNECT_S = 3.0
MUTE_S = 15.0
"""A scheduler that has a line open and much to do may take its time to answer."""


class Connected(NamedTuple):
    """There is a line, with nothing of what was asked for over the one before."""

    client: Client


class Silent(NamedTuple):
    """There is none."""

    why: str


class Present(NamedTuple):
    """A worker, as the scheduler knows it."""

    threads: int
    last_seen: float
    """By the scheduler's clock."""


class Roll(NamedTuple):
    """Who works there, by address."""

    workers: Mapping[str, Present]


class Answer(NamedTuple):
    """Something that was asked for is done, or failed."""

    about: Any
    future: Future[Any]
    value: Any = None
    problem: BaseException | None = None
    """Why there is no value."""


News = Connected | Silent | Roll | Answer


class NotThere(Exception):
    """Nobody who speaks dask answers; the message says how that shows."""


class Liaison:
    """Keeps the line up."""

    def __init__(self, where: str, news: SimpleQueue[News]) -> None:
        """`where` is a URL, or the path of a scheduler file."""
        self._where = where
        self._news = news
        self._over = threading.Event()
        _hush()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._thread.join(2 * CONNECT_S)

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                client = self._connect()
            except Exception as problem:  # dask has many words for a line that cannot be had
                self._news.put(Silent(first_line(problem)))
                self._over.wait(ROLL_S)
                continue
            self._news.put(Connected(client))
            self._call_roll(client)
            with contextlib.suppress(Exception):  # whatever is left of a broken line
                client.close(timeout=1)
            self._over.wait(ROLL_S)

    def _connect(self) -> Client:
        url = url_of(self._where)
        # Dask's client tries for long, and complains to the terminal once it is given up.
        _must_listen(url)
        asyncio.run(_must_speak(url))
        return Client(address=str(url), timeout=CONNECT_S, set_as_default=False)

    def _call_roll(self, client: Client) -> None:
        scheduler = ""
        line = client.scheduler
        assert line is not None
        while not self._over.is_set():
            try:
                found = client.sync(line.identity, callback_timeout=MUTE_S)
            except Exception as problem:  # dask has many words for a line that broke
                self._news.put(Silent(first_line(problem)))
                return
            if scheduler not in ("", found["id"]):
                # The client has connected again by itself, to one that knows nothing of us.
                self._news.put(Silent("the scheduler was started anew"))
                return
            scheduler = found["id"]
            workers = {
                address: Present(each["nthreads"], each["last_seen"])
                for address, each in found["workers"].items()
            }
            self._news.put(Roll(workers))
            self._over.wait(ROLL_S * max(1.0, len(workers) / CROWD))


def _hush() -> None:
    """What dask has to say of lines that break, and of packages that differ from those of workers
    where it does not matter, is told here in other words, or not at all."""
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.startswith("distributed"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", module="distributed")


def _must_listen(url: Url) -> None:
    """Raises NotThere."""
    try:
        socket.create_connection((url.host, url.port), CONNECT_S).close()
    except TimeoutError:
        raise NotThere(f"nobody answered for {CONNECT_S:.0f} s") from None
    except OSError as problem:
        raise NotThere(problem.strerror or str(problem)) from None


async def _must_speak(url: Url) -> None:
    """Raises NotThere."""
    terms = Security().get_connection_args("client")
    try:
        async with asyncio.timeout(CONNECT_S):
            comm = await connect(str(url), timeout=CONNECT_S, **terms)
    except TimeoutError:
        raise NotThere(f"what listens there said nothing for {CONNECT_S:.0f} s") from None
    except Exception as problem:  # whatever dask makes of what is no dask
        why = first_line(problem.__cause__ or problem)
        raise NotThere(f"what listens there does not answer as dask does ({why})") from None
    comm.abort()


def first_line(problem: BaseException | None) -> str:
    lines = str(problem).strip().splitlines()
    return lines[0] if lines else type(problem).__name__
