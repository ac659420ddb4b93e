"""Old records go where organisers have set a limit; the results of their games stay.

Which ones is found out in a thread of its own, from a reader of the store; they are deleted a few
at a time between other things, and it is said in the log, in the journal of the house and below the
tables how many went. What is freed is used for new games: the file grows no more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

from referee.daemon.journal import Journal
from referee.daemon.opening import OpenSeason
from referee.mistake import Mistake
from referee.store.database import Store
from referee.store.house.books import stamp
from referee.store.house.house import House
from referee.store.house.rows import Keep
from referee.store.oldest import oldest_records, used_bytes
from referee.store.trouble import BadStore

LOOK_S = 600.0
SLICE = 500
"""Deleted at once: some milliseconds."""
MOST = 200_000
"""Found at once; the rest another time."""
DOWN_TO = 0.95
"""Of the size that is allowed, so that not every look finds a little."""

Found = list[tuple[int, str]]
"""Keys of records, and when the games were played."""


class Dropping:
    """What is too old in the season that is played."""

    def __init__(
        self,
        house: House,
        journal: Journal,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._house = house
        self._journal = journal
        self._clock = clock
        self._thread = ThreadPoolExecutor(1, "dropping")
        self._search: Future[Found] | None = None
        self._season: OpenSeason | None = None
        self._keep = Keep()
        self._left: deque[tuple[int, str]] = deque()
        self._dropped = 0
        self._last = ""
        self._look_at = 0.0

    def look(self, season: OpenSeason | None, now: float, *, changed: bool = False) -> None:
        """Go on with it; `changed` where organisers may have set another limit."""
        if changed and (keep := self._wanted()) != self._keep:
            self._start_over(self._season)
            self._keep = keep
        if season is not self._season:
            self._start_over(season)
        if season is None:
            return
        if self._search is not None:
            self._hear(self._search)
        elif self._left:
            self._drop(season)
        elif now >= self._look_at and self._keep != Keep():
            self._look_at = now + LOOK_S
            folder, keep, at = season.store.folder, self._keep, self._clock()
            self._search = self._thread.submit(too_old, folder, keep, at)

    def close(self) -> None:
        self._start_over(None)
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _wanted(self) -> Keep:
        try:
            return self._house.settings.keep()
        except Mistake as problem:
            self._journal.warning("no record is dropped", why=problem)
            return Keep()

    def _hear(self, search: Future[Found]) -> None:
        if not search.done():
            return
        self._search = None
        try:
            self._left.extend(search.result())
        except BadStore as problem:
            self._journal.warning("no record is dropped", why=problem)

    def _drop(self, season: OpenSeason) -> None:
        some = [self._left.popleft() for _ in range(min(SLICE, len(self._left)))]
        season.drop_records(some)
        self._dropped += len(some)
        self._last = max(self._last, some[-1][1])
        if not self._left:
            self._tell(season)

    def _start_over(self, season: OpenSeason | None) -> None:
        if self._season is not None:
            self._tell(self._season)
        self._season, self._search, self._look_at = season, None, 0.0
        self._left.clear()

    def _tell(self, season: OpenSeason) -> None:
        if not self._dropped:
            return
        name, games = season.row.name, self._dropped
        what = f"dropped the records of {games} games of the season {name}, up to {self._last}"
        self._house.journal.add("the daemon", what)
        self._journal.info("records dropped", season=name, games=games, last=self._last)
        self._dropped = 0


def too_old(folder: Path, keep: Keep, at: datetime) -> Found:
    """The records that are not to be kept any longer, the oldest first. Raises BadStore."""
    before = "" if keep.days is None else stamp(at - timedelta(days=keep.days))
    found: Found = []
    with Store.read(folder) as store:
        used = used_bytes(store)
        excess = 0
        if keep.bytes is not None and used > keep.bytes:
            excess = used - int(keep.bytes * DOWN_TO)
        for started, key, size in oldest_records(store):
            if (started >= before and excess <= 0) or len(found) >= MOST:
                break
            excess -= size
            found.append((key, started))
    return found
