"""Seasons that nobody plays any more: what is kept of them follows the last word on them.

A season is closed by a word in the house, and so is a game ruled on; the tables follow a moment
later, aside. Whoever is killed in between finds at the next start what is left to do: tables that
do not say that they are the last ones, and rulings that do not count as applied yet.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from referee.daemon.journal import Journal, stamp
from referee.daemon.opening import disqualified_noted
from referee.daemon.scoreboard import LastWord, last_word, ratings_of, redraw
from referee.reports.standings import Standings, setting_of
from referee.store.connect import FILE
from referee.store.database import Store
from referee.store.house.house import House
from referee.store.house.missing import has_lost_its_games
from referee.store.house.rows import SeasonRow


class ClosedSeasons:
    """Sees to them beside whatever else is done: the games of a whole season are read."""

    def __init__(self, house: House, journal: Journal) -> None:
        self._house = house
        self._journal = journal
        self._aside = ThreadPoolExecutor(1, "closed seasons")
        self._settled: set[int] = set()
        """Those whose tables are the last ones, but for rulings that come yet."""
        self._excluded: dict[int, str | None] = {}
        """The reasons for which bots were disqualified, when it was last seen to."""
        self._told: dict[int, str] = {}
        """What was last told to be wrong with one."""

    def look(self, playing: SeasonRow | None) -> None:
        """Do what is left to do, but for the one whose last games are still being played."""
        ruled = {ruling.season for ruling in self._house.rulings.pending()}
        excluded = {bot.id: bot.disqualified for bot in self._house.bots.all()}
        seasons = self._house.seasons.all()
        if seasons and excluded != self._excluded:
            self._settled.discard(seasons[-1].id)
            self._excluded = excluded
        for season in seasons:
            if season.state != "closed" or (playing is not None and playing.id == season.id):
                continue
            if season.id in ruled or season.id not in self._settled:
                self._settled.add(season.id)
                drawing = self._aside.submit(settle, self._house, season)
                drawing.add_done_callback(partial(self._hear, season))

    def close(self) -> None:
        self._aside.shutdown(wait=True)

    def _hear(self, season: SeasonRow, drawing: Future[Standings | None]) -> None:
        trouble = drawing.exception()
        if trouble is not None:
            self._settled.discard(season.id)
            if self._told.get(season.id) != str(trouble):
                self._told[season.id] = str(trouble)
                self._journal.error("tables were not drawn", season=season.name, why=trouble)
        elif drawing.result() is not None:
            self._journal.info("the tables of a closed season were drawn", season=season.name)
        elif (lost := has_lost_its_games(self._house, season)) and season.id not in self._told:
            self._told[season.id] = str(lost)
            self._journal.warning(
                "the games of a closed season are gone", season=season.name, missing=lost
            )


def settle(house: House, season: SeasonRow) -> Standings | None:
    """Do what is left to do for a closed season: its tables, where they were drawn anew.

    The last season follows what is said of bots, too; an earlier one is history. Raises BadStore,
    also where somebody else writes to it at this moment.
    """
    folder = house.seasons.folder(season)
    if not (folder / FILE).exists():
        return None
    is_latest = season == house.seasons.latest()
    if last_word(folder).finished and not is_latest and not _is_ruled_on(house, season):
        return None
    drawn: list[Standings] = []

    def draw() -> None:
        drawn.append(redraw(folder))

    with Store.open(folder) as store:
        if not store.value("finished"):
            store.set_value("finished", season.closed or stamp())
        if is_latest:
            disqualified_noted(house, store)
        store.commit()
        due = LastWord(finished=True, disqualified=setting_of(store).disqualified)
        if not house.rulings.apply(season, store, draw) and last_word(folder) != due:
            draw()
    versions = {version.name: version.id for version in house.versions.all()}
    for found in drawn:
        house.ratings.note(season, ratings_of(found, versions))
    return drawn[-1] if drawn else None


def _is_ruled_on(house: House, season: SeasonRow) -> bool:
    return any(ruling.season == season.id for ruling in house.rulings.pending())
