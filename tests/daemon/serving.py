"""A real daemon for tests: killed as people would not."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

from referee.store.connect import FILE
from referee.store.database import Store
from referee.store.house import House
from tests.arena.playing import words_of
from tests.forking import COMMAND, MAIN, Forked
from tests.loopback import own_address
from tests.waiting import PATIENCE_S, wait_for

HALL_ENDED = "the hall has ended"
WEB = ("--web", "{here}:0")
BOTS = ("--bots", "tcp://{here}:0")
"""Options of `serving`: pages, and bots that connect, at an address of this daemon alone."""


class Daemon:
    """`referee serve` on a data folder."""

    def __init__(self, data: Path, *options: str, before: str = "") -> None:
        """`before` is Python that it runs first, to make something smaller or quicker in it."""
        self.data = data
        here = own_address()
        self._log = data.with_name(f"{data.name}.log")
        self._log_from = self._log.stat().st_size if self._log.exists() else 0
        with self._log.open("ab") as log:
            self.process = Forked(
                *(COMMAND, f"{before}\n{MAIN}", "serve", "--data", data, "--jobs", "1"),
                *("--sandbox", "none"),
                *(option.replace("{here}", here) for option in options),
                stdout=log,
                stderr=log,
            )

    @property
    def said(self) -> str:
        """All that it has written."""
        return self._log.read_bytes()[self._log_from :].decode()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ask it to end; with what status it does."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_S)

    def house(self) -> House:
        return House.open(self.data, create=False)

    @property
    def season(self) -> Path:
        return self.data / "seasons" / "1"

    def games(self) -> dict[tuple[int, int], bytes]:
        """The records that are committed, by pairing and number."""
        if not (self.season / FILE).exists():
            return {}
        with Store.read(self.season) as store:
            return {(pairing, number): body for pairing, number, body in store.records()}

    def wait_for_games(self, more_than: int = 0) -> dict[tuple[int, int], bytes]:
        def look() -> dict[tuple[int, int], bytes] | None:
            assert self.process.poll() is None, self.said
            found = self.games()
            return found if len(found) > more_than else None

        return wait_for(look, f"more than {more_than} games; the daemon said: {self.said}")


@contextlib.contextmanager
def serving(data: Path, *options: str, before: str = "") -> Iterator[Daemon]:
    """A daemon that is gone afterwards, whatever happens."""
    daemon = Daemon(data, *options, before=before)
    try:
        yield daemon
    finally:
        if daemon.process.poll() is None:
            daemon.kill()


def processes_of(pid: int, words: bytes = b"") -> list[int]:
    """A process's children and theirs, and so on; those that were started with these words."""
    if words:
        return [each for each in processes_of(pid) if words in words_of(each)]
    found: list[int] = []
    tasks = Path(f"/proc/{pid}/task")
    with contextlib.suppress(OSError):
        for task in tasks.iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *processes_of(int(child))]
    return found


def is_alive(pid: int) -> bool:
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return status != "Z"
    return False


def nothing_left(pids: list[int]) -> bool:
    return not any(is_alive(pid) for pid in pids)


def quiet(daemon: Daemon) -> None:
    """Ends it where it still runs."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(daemon.process.pid, signal.SIGTERM)
