"""A disk that takes no more: the pages stay up, the rest begins again when there is room.

What a coordinator could not write exists in its memory alone. It is given up, as after a kill, and
the next coordinator goes on from what was committed.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from pathlib import Path

from referee.daemon.journal import Journal
from referee.daemon.live import Live
from referee.daemon.pace import free_bytes
from referee.daemon.pages import Pages
from referee.daemon.readiness import Readiness
from referee.store.house.mistakes import HouseFull
from referee.store.trouble import StoreFull, is_no_room

TICK_S = 0.1
TELL_S = 1.0
SHORTEST_S = 5.0
"""Before the next try, also where there seems to be room: a disk may refuse for other reasons."""


def takes_no_more(error: Exception) -> bool:
    """Whether this says that the disk takes no more."""
    return isinstance(error, StoreFull | HouseFull) or is_no_room(error)


class FullDisk:
    """The wait for room."""

    def __init__(
        self, data: Path, pages: Pages | None, live: Live, journal: Journal, readiness: Readiness
    ) -> None:
        self._data = data
        self._pages = pages
        self._live = live
        self._journal = journal
        self._readiness = readiness

    def outlast(
        self, play: Callable[[], None], room_bytes: Callable[[], int], is_over: Callable[[], bool]
    ) -> None:
        """Run `play` to its end, and anew whenever the disk took no more and has room again."""
        while True:
            try:
                play()
                return
            except Exception as error:
                if not takes_no_more(error):
                    raise
                self._wait(error, room_bytes(), is_over)
            if is_over():
                return

    def _wait(self, error: Exception, room_bytes: int, is_over: Callable[[], bool]) -> None:
        """Until so many bytes are free, or it is over. Followers of live events hear of it."""
        self._journal.error("the disk takes no more: games wait for room", why=error)
        earliest, tell_at = time.monotonic() + SHORTEST_S, 0.0
        while not is_over():
            now = time.monotonic()
            if now >= earliest and free_bytes(self._data) >= room_bytes:
                self._journal.info("there is room again", folder=self._data)
                return
            if now >= tell_at:
                tell_at = now + TELL_S
                self._live.tell("counters", values={"room_on_disk": 0})
            if self._pages is not None:
                self._pages.look(now)
            self._readiness.alive(now)
            self._wait_a_moment()

    def _wait_a_moment(self) -> None:
        poll = select.poll()
        if self._pages is not None and self._pages.fd is not None:
            poll.register(self._pages.fd, select.POLLIN)
        poll.poll(TICK_S * 1000)
