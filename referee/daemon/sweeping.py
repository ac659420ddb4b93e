"""Takes away what was unpacked and built of versions that cannot play any more.

A version that is rejected leaves nothing behind (examining.py). What is left for this are versions
whose archive was let go, and what killed processes left. A thread of its own looks now and then.
Nothing goes that somebody may still be playing with: not while a tournament is played, and not in
the first half hour.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

from referee.bots.cache import SHOWN_NAME, forget_content, readable_cache
from referee.bots.confinement import Confinement
from referee.bots.confinement.identity import servant
from referee.bots.confinement.levels import Level
from referee.bots.contents import DIGITS, remove
from referee.daemon.definition import CACHE, FOLDER, bot_of
from referee.daemon.journal import Journal
from referee.store.house.books import stamp
from referee.store.house.house import House
from referee.store.house.rows import VersionRow

LOOK_S = 600.0
REST = timedelta(minutes=30)
"""Longer than any build and check."""
_BUILT = re.compile(rf"(.+?)-([0-9a-f]{{{DIGITS}}})-.*")
Content = tuple[str, str]
"""The beginning of a bot's name and the hash of its folder: so builds are called."""


class Sweeping:
    """Looks for it beside whatever else is done."""

    def __init__(self, house: House, journal: Journal) -> None:
        self._house = house
        self._journal = journal
        self._thread = ThreadPoolExecutor(1, "sweeping")
        self._search: Future[int] | None = None
        self._look_at = 0.0

    def look(self, confinement: Confinement, now: float) -> None:
        """Begin where it is time; tell how many versions there was something of."""
        if self._search is not None:
            if not self._search.done():
                return
            search, self._search = self._search, None
            if trouble := search.exception():
                self._journal.warning("old builds were not taken away", why=trouble)
            elif found := search.result():
                self._journal.info("old builds were taken away", versions=found)
        elif now >= self._look_at:
            self._look_at = now + LOOK_S
            self._search = self._thread.submit(sweep, self._house, confinement)

    def close(self) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)


def sweep(house: House, confinement: Confinement, rest: timedelta = REST) -> int:
    """Take away what nobody needs; of how many versions there was something."""
    if any(row.state == "playing" for row in house.tournaments.all()):
        return 0
    since = datetime.now(UTC) - rest
    versions = house.versions.all()
    needed = [version for version in versions if _is_needed(version, stamp(since))]
    going = list(_unpacked(house.data, {version.id for version in needed}, since))
    for folder in going:
        remove(folder)
    kept = {_content(version, house.data) for version in needed if version.definition}
    cache = (house.data / CACHE).resolve()
    # Others may keep builds in the cache of the machine: of that, only what is known goes.
    known = {_content(version, house.data) for version in versions if version.definition}
    reader = servant() if confinement.level is not Level.NONE else None
    shared = readable_cache(cache, reader)
    built = _built(cache, since) - kept
    for name, content in built:
        forget_content(cache, name, content)
    if shared != cache:
        for name, content in known - kept:
            forget_content(shared, name, content)
    return max(len(going), len(built))


def _is_needed(version: VersionRow, since: str) -> bool:
    if version.state == "rejected":
        return False
    return version.kept or version.changed > since


def _content(version: VersionRow, data: Path) -> Content:
    bot = bot_of(version.definition, data)
    return bot.name[:SHOWN_NAME], bot.hash


def _unpacked(data: Path, needed: set[int], since: datetime) -> Iterator[Path]:
    folder = data.resolve() / FOLDER
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name.isdecimal() and int(path.name) not in needed and _is_old(path, since):
            yield path


def _built(cache: Path, since: datetime) -> set[Content]:
    """All of which something was built, with nothing of it made or used since then."""
    old: dict[Content, bool] = {}
    for path in cache.iterdir() if cache.is_dir() else ():
        found = _BUILT.fullmatch(path.name)
        if found is not None:
            content = found[1], found[2]
            old[content] = old.get(content, True) and _is_old(path, since)
    return {content for content, is_old in old.items() if is_old}


def _is_old(path: Path, since: datetime) -> bool:
    try:
        return path.stat().st_mtime < since.timestamp()
    except OSError:
        return False
