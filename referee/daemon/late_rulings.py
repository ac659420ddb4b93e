"""Rulings on games of seasons that are closed: their tables are drawn again, aside."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

from referee.daemon.journal import Journal
from referee.daemon.scoreboard import redraw
from referee.store.house.house import House


class LateRulings:
    """Sees to seasons that nobody plays any more."""

    def __init__(self, house: House, journal: Journal) -> None:
        self._house = house
        self._journal = journal
        self._aside = ThreadPoolExecutor(1, "late rulings")
        """The games of a whole season are read: the loop does not wait for that."""

    def look(self) -> None:
        """Carry what was decided since into their stores."""
        for season in self._house.apply_rulings_to_closed():
            self._journal.info("rulings on a closed season", season=season.name)
            drawing = self._aside.submit(redraw, self._house.seasons.folder(season))
            drawing.add_done_callback(self._told)

    def close(self) -> None:
        self._aside.shutdown(wait=True)

    def _told(self, drawing: Future[None]) -> None:
        trouble = drawing.exception()
        if trouble is not None:
            self._journal.error("tables were not drawn again", why=trouble)
