"""Following the season that the house wants: opened, played by its spec, drawn, closed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from referee.daemon.closed import ClosedSeasons
from referee.daemon.journal import Journal
from referee.daemon.opening import OpenSeason
from referee.daemon.scoreboard import ratings_of
from referee.ladder.teams import ONE_TEAM
from referee.reports.standings import Standings
from referee.store.house.house import House
from referee.store.house.rows import SeasonRow
from referee.tournament.dispatcher import Dispatcher
from referee.tournament.spec import Spec

RATINGS_S = 60.0


class Seasons:
    """The one that is played, and those that were."""

    def __init__(
        self,
        house: House,
        dispatcher: Dispatcher,
        journal: Journal,
        *,
        ids: Iterator[int],
        now: Callable[[], float] = time.monotonic,
        hidden_names: Callable[[int], tuple[str, str]] | None,
        on_open: Callable[[Spec], None],
    ) -> None:
        """`on_open` hears of the spec to play by."""
        self.open: OpenSeason | None = None
        self._house = house
        self._dispatcher = dispatcher
        self._journal = journal
        self._ids = ids
        self._now = now
        self._hidden_names = hidden_names
        self._on_open = on_open
        self._closed = ClosedSeasons(house, journal)
        self._note_at = 0.0
        self._one_team = False

    def follow(self) -> bool:
        """As the house wants it now; False where it has to be seen to again soon, since the last
        games of a season that was closed are still being played."""
        settled = self._follow_current(self._house.seasons.current())
        self._closed.look(None if self.open is None else self.open.row)
        if self.open is not None and (applied := self.open.apply_rulings()):
            self._journal.info("rulings", applied=applied)
        if self.open is not None:
            self.open.note_disqualified()
        return settled

    def note_teams(self) -> None:
        """Tell once why nothing is played, where all who play are of one team."""
        one_team = self.open is not None and self.open.season.is_of_one_team()
        if one_team and not self._one_team:
            self._journal.warning("nobody to meet", why=ONE_TEAM)
        self._one_team = one_team

    def draw(self) -> OpenSeason | None:
        """Keep the tables up to date; the season, where they were just drawn."""
        opened = self.open
        now = self._now()
        found = None if opened is None else opened.board.look(now)
        if opened is None or found is None:
            return None
        if found.played and now >= self._note_at:
            self._note_at = now + RATINGS_S
            self._note_ratings(opened, found)
        return opened

    def close(self) -> None:
        """Let go of all: what is played is gone on with at the next start."""
        opened, self.open = self.open, None
        self._closed.close()
        if opened is not None:
            self._note_ratings(opened, opened.close(finished=False))

    def _follow_current(self, wanted: SeasonRow | None) -> bool:
        opened = self.open
        if opened is not None and (wanted is None or wanted.id != opened.row.id):
            opened.ending = True
            if self._dispatcher.busy_for(opened):
                return False
            self._dispatcher.sources.remove(opened)
            self._note_ratings(opened, opened.close(finished=True))
            self._journal.info("season closed", season=opened.row.name)
            self.open = None
        if wanted is not None and self.open is None:
            self._open(wanted)
        elif wanted is not None and opened is not None:
            opened.row = wanted
        return True

    def _open(self, row: SeasonRow) -> None:
        self.open = opened = OpenSeason(
            self._house,
            row,
            self._ids,
            now=self._now,
            hidden_names=self._hidden_names,
        )
        self._on_open(opened.season.spec)
        self._dispatcher.sources.append(opened)
        self._journal.info(
            "season", name=row.name, games=opened.season.played, sandbox=opened.level
        )

    def _note_ratings(self, opened: OpenSeason, found: Standings) -> None:
        """Keep the curves, a point a minute."""
        versions = {row.name: row.id for row in opened.season.bots.values()}
        self._house.ratings.note(opened.row, ratings_of(found, versions))
