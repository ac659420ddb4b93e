"""The data folder for readers: the house, and the store of every season.

What is costly is kept until the data changes: bots and versions until the house does, standings
until the coordinator writes them anew. All of this is called in threads, several at a time.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from referee.daemon.scoreboard import FILE as SNAPSHOT
from referee.reports.standings import Standings, read_standings
from referee.rules.registry import AnyVariant, BadVariant, all_variants, find_variant, is_path
from referee.store.connect import FILE
from referee.store.house import House
from referee.store.house.names import plain
from referee.store.house.rows import EntrantRow, RatingRow, SeasonRow, TournamentRow
from referee.store.rows import GamesAt
from referee.tournament.spec import Spec
from referee.web.access import Visitor
from referee.web.leafing import Leaves
from referee.web.live import Event, called_of
from referee.web.refusal import Refusal
from referee.web.sight import Roster, Sight, Veil

_TOURNAMENT = re.compile(r"t([1-9][0-9]{0,8})")
MOST_SEASONS = 8
"""Whose tables are kept in memory at a time."""

T = TypeVar("T")


class Entered(Struct, frozen=True):
    """What a table shows of a bot beside its games."""

    active: int | None
    paused: bool
    disqualified: str | None


class Stood(Struct, frozen=True):
    """Standings, and when they were computed, where that is known."""

    standings: Standings
    at: str | None = None
    entrants: dict[int, Entered] | None = None
    """Of frozen ones, by bot: as it was then. None: as it is now."""
    games: GamesAt = GamesAt()
    """Of frozen ones: those that there were."""

    def entered(self, bot: EntrantRow) -> Entered:
        now = Entered(bot.active, bot.paused, bot.disqualified)
        return now if self.entrants is None else self.entrants.get(bot.id, now)


class _Beside(Struct):
    """What stands beside the tables."""

    at: str | None = None
    entrants: dict[int, Entered] | None = None
    games: GamesAt = GamesAt()


class Shelf(Struct, frozen=True):
    """Where games are: a season, or a tournament that the daemon was asked for."""

    name: str
    """A game is called by this and its own name: `1/12-34`, or `t7/1-203`."""
    folder: Path
    season: SeasonRow | None
    """None for a tournament."""
    spec: str

    @property
    def games(self) -> bool:
        """Whether there are any."""
        return (self.folder / FILE).is_file()


class Kept:
    """One costly value by key, made anew when its stamp changes; never twice at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._locks: dict[object, threading.Lock] = {}
        self._values: dict[object, tuple[object, Any]] = {}

    def get(self, key: object, stamp: object, make: Callable[[], T]) -> T:
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            found = self._values.get(key)
            if found is not None and found[0] == stamp:
                value: T = found[1]
                return value
            value = make()
        with self._lock:
            self._values.pop(key, None)
            self._values[key] = (stamp, value)
            while len(self._values) > self._most:
                oldest = next(iter(self._values))
                del self._values[oldest]
                self._locks.pop(oldest, None)
        return value


class Library:
    """What there is to read."""

    def __init__(self, data: Path, house: House, *, anonymous: bool) -> None:
        self.data = data
        self._house = house
        self._veil = Veil(data) if anonymous else None
        self._standings = Kept(MOST_SEASONS)
        self._leaves = Kept(MOST_SEASONS)
        self._small = Kept(16)
        self.look()

    # The house.

    def roster(self) -> Roster:
        return self._small.get("roster", self._house.version_of_data(), self._read_roster)

    def _read_roster(self) -> Roster:
        versions = self._house.versions.all()
        return Roster(
            bots={plain(bot.name): bot for bot in self._house.bots.all()},
            versions={version.id: version for version in versions},
            called={version.name: version for version in versions},
        )

    def seasons(self) -> list[SeasonRow]:
        return self._small.get("seasons", self._house.version_of_data(), self._house.seasons.all)

    def variants(self) -> dict[str, AnyVariant]:
        """Those that have a name, and the scripts of the seasons, by what they call themselves."""
        return self._small.get("variants", self._house.version_of_data(), self._read_variants)

    def _read_variants(self) -> dict[str, AnyVariant]:
        found = all_variants()
        for season in self.seasons():
            # A script that is gone, or broken, is no reason to show nothing of the others.
            with suppress(msgspec.MsgspecError):
                for text in filter(is_path, _spec_of(season).variants):
                    with suppress(BadVariant):
                        variant = find_variant(text)
                        found.setdefault(variant.name, variant)
        return found

    def sight(self, visitor: Visitor) -> Sight:
        return Sight(visitor, self.roster(), self._veil)

    def season(self, name: str | None) -> SeasonRow:
        """The season of this name, or the latest. Raises Refusal."""
        seasons = self.seasons()
        if name is None:
            if not seasons:
                raise Refusal(404, "there is no season yet")
            return seasons[-1]
        for season in seasons:
            if season.name == name:
                return season
        known = ", ".join(season.name for season in seasons[-20:]) or "none yet"
        raise Refusal(404, f"there is no season {name!r}; there is {known}")

    def shelf(self, name: str | None) -> Shelf:
        """The season or the tournament whose games are called so, or the latest season. Raises
        Refusal."""
        found = _TOURNAMENT.fullmatch(name or "")
        if found is not None and not any(season.name == name for season in self.seasons()):
            for row in self.tournaments():
                if row.id == int(found[1]):
                    folder = self._house.tournaments.folder(row)
                    return Shelf(found[0], folder, None, row.spec)
            raise Refusal(404, f"there is no tournament {found[1]}")
        season = self.season(name)
        return Shelf(season.name, self.folder(season), season, season.spec)

    def tournaments(self) -> list[TournamentRow]:
        return self._small.get(
            "tournaments", self._house.version_of_data(), self._house.tournaments.all
        )

    def folder(self, season: SeasonRow) -> Path:
        return self._house.seasons.folder(season)

    def ratings_at(self, season: SeasonRow, until: str | None, ago: timedelta) -> list[RatingRow]:
        """How things stood some time before now, or before the moment that is shown."""
        end = datetime.now(UTC) if until is None else datetime.fromisoformat(until)
        # The same for a minute: ratings over time have a point a minute at most.
        minute = end.replace(second=0, microsecond=0) - ago
        stamp = (season.name, minute)
        return self._small.get(
            ("ratings", season.name, until), stamp, lambda: self._house.ratings.at(season, minute)
        )

    # Standings.

    def standings(self, season: SeasonRow, sight: Sight) -> tuple[Stood | None, bool]:
        """The tables that this visitor sees, None before the first game; and whether they are the
        frozen ones."""
        until = sight.until(season)
        if until is not None:
            return self._frozen(season, until), True
        return self.standings_in(self.folder(season)), False

    def standings_in(self, folder: Path) -> Stood | None:
        """The tables of a tournament's folder: as the coordinator left them, or computed."""
        snapshot = _stamp(folder / SNAPSHOT)
        if snapshot is not None:
            return self._standings.get(folder, snapshot, lambda: _read_snapshot(folder))
        stamps = (_stamp(folder / FILE), _stamp(folder / f"{FILE}-wal"))
        if stamps[0] is None:
            return None
        return self._standings.get(folder, stamps, lambda: Stood(read_standings(folder)))

    def _frozen(self, season: SeasonRow, until: str) -> Stood | None:
        def read() -> Stood | None:
            text = self._house.seasons.frozen(season)
            return replace(_decode(text.encode()), at=until) if text else None

        return self._standings.get(("frozen", season.name), until, read)

    # Games.

    def games_shown(self, season: SeasonRow | None, sight: Sight) -> GamesAt | None:
        """The games that are shown of a season, or of a tournament; None where all are."""
        until = None if season is None else sight.until(season)
        if season is None or until is None:
            return None
        stood = self._frozen(season, until)
        return GamesAt() if stood is None else stood.games

    def leaves(self, shelf: Shelf) -> Leaves:
        """The games of a season or a tournament that has some, the newest first."""
        return self._leaves.get(shelf.folder, None, lambda: Leaves(shelf.name, shelf.folder))

    # Live events.

    def look(self) -> None:
        """See what is shown of live events from now on."""
        hidden = frozenset(row.name for row in self.seasons() if row.hidden)
        everything = self.sight(Visitor(address="", role="organiser"))
        self._glimpse = (hidden, self.sight(Visitor(address="")), everything)

    def shown(self, event: Event) -> tuple[Event | None, Event]:
        """What the public sees of a live event, None where that is nothing; and what organisers
        see. Called in the event loop, so it goes by what `look` has seen."""
        seasons, public, organiser = self._glimpse
        whole = _seen(event, organiser)
        hidden = str(event.get("game", "")).partition("/")[0] in seasons
        if hidden and event.get("type") == "moved":
            return None, whole
        if hidden and event.get("type") == "ended":
            told = ("winner", "scores", "ending", "reason", "lines", "at_fault")
            event = {**{key: event[key] for key in event if key not in told}, "hidden": True}
        elif not public.veiled:
            return whole, whole
        return _seen(event, public), whole


def _seen(event: Event, sight: Sight) -> Event:
    """An event with the names that somebody knows."""
    called = called_of(event)
    if not called and not sight.veiled:
        return event
    shown = {key: event[key] for key in event if key != "called"}
    players = event.get("players")
    if isinstance(players, list):
        shown["players"] = [sight.called(str(name)) for name in players]
    for key in ("name", "bot"):
        if isinstance(event.get(key), str):
            shown[key] = sight.called(event[key])
    if isinstance(event.get("lines"), list):
        shown["lines"] = sight.lines([str(line) for line in event["lines"]], called)
    return shown


def variants_of(season: SeasonRow | Shelf) -> tuple[list[str], str]:
    """The variants of a season by name, and what a bot has for a move."""
    try:
        spec = _spec_of(season)
    except msgspec.MsgspecError:
        return [], ""
    return [called(variant) for variant in spec.variants], spec.time


def called(variant: str) -> str:
    """What a variant of a spec calls itself; a script that cannot be read goes by its file."""
    if not is_path(variant):
        return variant
    try:
        return find_variant(variant).name
    except BadVariant:
        return Path(variant).stem


def _spec_of(season: SeasonRow | Shelf) -> Spec:
    return msgspec.json.decode(season.spec, type=Spec)


def _read_snapshot(folder: Path) -> Stood:
    return _decode((folder / SNAPSHOT).read_bytes())


def _decode(text: bytes) -> Stood:
    try:
        beside = msgspec.json.decode(text, type=_Beside)
        standings = msgspec.json.decode(text, type=Standings)
        return Stood(standings, beside.at, beside.entrants, beside.games)
    except msgspec.MsgspecError as error:
        raise Refusal(503, f"the standings cannot be read: {error}") from None


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """Another value when the file is another; None where there is none."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


__all__ = ["Kept", "Library", "Shelf", "Sight", "Stood", "called", "variants_of"]
