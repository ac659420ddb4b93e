"""The season that is played: its folder, made or opened, with all that is counted of it.

The folder is that of a tournament, so every command that reads one reads a season too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from referee.bots.confinement.levels import Level
from referee.bots.confinement.probe import choose, said_aloud, why_not
from referee.daemon.journal import stamp
from referee.daemon.scoreboard import Scoreboard
from referee.daemon.terms import ServeTerms
from referee.ladder.season import Player, Season
from referee.reports.standings import Standings
from referee.store.connect import FILE
from referee.store.database import Store
from referee.store.house.house import House
from referee.store.house.rows import SeasonRow
from referee.tournament.begin import stored_spec
from referee.tournament.changing import changes
from referee.tournament.chunk import Batch, Chunk
from referee.tournament.confining import at_level, for_strangers
from referee.tournament.crew import Place
from referee.tournament.entries import variant_marks
from referee.tournament.run import manner_of
from referee.tournament.salt import chance_values
from referee.tournament.spec import BadSpec, Spec, check
from referee.verdict import Ending
from referee.version import __version__

CONFINING = ("sandbox", "limits", "expose", "freeze")
"""Keys of a spec that say how bots are confined."""
REST_S = 60.0
MOST_DOUBLINGS = 6
"""A bot that does not start is left alone for a minute, then for two, at most for half an hour."""
DISQUALIFIED = "disqualified"
"""The value of a season's store that says who was excluded, and why, as JSON."""


class OpenSeason:
    """A season with its store."""

    def __init__(
        self,
        house: House,
        row: SeasonRow,
        ids: Iterator[int],
        *,
        now: Callable[[], float],
        hidden_names: Callable[[int], tuple[str, str]] | None,
    ) -> None:
        self.row = row
        self.ending = False
        """Whether it is given no more games, since it is closed."""
        self._house = house
        self._failures: Counter[int] = Counter()
        self._dirty = False
        self.folder = folder = house.seasons.folder(row)
        self.store = _open(folder, row)
        try:
            spec = for_strangers(stored_spec(self.store))
            self.season = Season(self.store, spec, ids, now=now, hidden_names=hidden_names)
            self.board = Scoreboard(folder)
        except BaseException:
            self.store.close()
            raise
        self.manner = manner_of(spec, folder, told=True)
        self.level = spec.sandbox

    # A source of chunks.

    @property
    def paced(self) -> bool:
        return True

    @property
    def label(self) -> str:
        return self.row.name

    def true_names(self, chunk: Chunk) -> tuple[str, str]:
        return self.season.true_names(chunk)

    def widest(self) -> float:
        return self.season.widest()

    def next_chunk(
        self, place: Place, absent: Collection[int] = (), at_hand: Collection[int] = ()
    ) -> Chunk | None:
        """What tells most is played next, whoever is at hand."""
        if self.ending:
            return None
        chunk = self.season.next_chunk(self.manner, place, absent=absent)
        self._dirty = self._dirty or chunk is not None
        return chunk

    def keep(self, batch: Batch) -> Batch:
        for bot in {fault.bot for fault in batch.faults if fault.code == Ending.FORFEIT}:
            self._failures[bot] += 1
            times = min(self._failures[bot], MOST_DOUBLINGS)
            self.season.rest(bot, REST_S * 2 ** (times - 1))
        kept = self.season.keep(batch)
        for game in kept.games:
            if game.ending == Ending.RULES:
                self._failures.pop(game.first, None)
                self._failures.pop(game.second, None)
        self._dirty = True
        return kept

    def give_back(self, chunk: int, *, begun: bool = False) -> None:
        self.season.give_back(chunk, begun=begun)

    def broken(self, chunk: Chunk, missing: Collection[int]) -> None:
        """It could not be played: whoever did not come waits for a while, or both do."""
        for number in missing or (chunk.first.id, chunk.second.id):
            self.season.rest(number, REST_S)

    def commit(self) -> None:
        if self._dirty:
            self._dirty = False
            self.store.commit()
            self.board.touch()

    # What else happens to a season.

    def enter(self, players: Collection[Player]) -> None:
        """These and nobody else play from now on."""
        there = {player.id for player in players}
        for number in set(self.season.players) - there:
            self.season.leave(number)
        for player in players:
            self._dirty = self.season.enter(player) or self._dirty

    def leave(self, number: int) -> None:
        """This version is given no more games, at once."""
        self.season.leave(number)

    def apply_rulings(self) -> int:
        """Carry what organisers have decided into the tables."""
        applied = self._house.rulings.apply(self.row, self.store)
        if applied:
            self.board.touch()
        return applied

    def note_disqualified(self) -> None:
        """Let the tables say who was excluded, and why."""
        if disqualified_noted(self._house, self.store):
            self._dirty = True

    def drop_records(self, keys: Sequence[tuple[int, str]]) -> None:
        """Let the records of these games go."""
        self.store.drop_records(keys)
        self._dirty = True

    def close(self, *, finished: bool) -> Standings:
        """Let go of it; `finished` where no more games will follow. The tables as they are then."""
        try:
            if finished:
                self.store.set_value("finished", stamp())
            self.store.commit()
            return self.board.draw()
        finally:
            self.board.close()
            self.store.close()


def settled(spec: Spec) -> Spec:
    """A season's spec, checked, with its level settled: strangers' bots run in it.

    Raises BadSpec where they would run unconfined and nobody has said that they may; NotConfined.
    """
    spec = check(spec)
    wanted = said_aloud(spec.sandbox)
    level = choose(wanted)
    if level is Level.NONE and wanted is None:
        lacking = why_not(Level.STANDARD)
        why = f" ({lacking.reason})" if lacking is not None else ""
        raise BadSpec(
            f"bots cannot be confined here{why}; see `referee doctor`, or say --sandbox none to "
            "let whatever teams hand in run with your rights"
        )
    return at_level(spec, level, strangers=True)


def must_be_as_asked(row: SeasonRow, there: Spec, terms: ServeTerms) -> str | None:
    """A sentence where a season that is there is not as the daemon was asked for.

    Raises BadSpec where bots would be confined otherwise: nobody is to rely on walls that are not
    there. What else differs may have been asked for the first season of many.
    """
    how = "`referee season close` and `referee season start` make another"
    told = _otherwise(there, terms.season, [key for key in terms.given if key in CONFINING])
    if told:
        raise BadSpec(f"season {row.name} goes on as it was begun: {told[0]}; {how}")
    told = _otherwise(there, terms.season, [key for key in terms.given if key not in CONFINING])
    if not told:
        return None
    return f"season {row.name} goes on as it was begun, though {', '.join(told)}; {how}"


def _otherwise(there: Spec, asked: Spec, keys: Sequence[str]) -> list[str]:
    wanted = replace(there, **{key: getattr(asked, key) for key in keys})
    if set(wanted.variants) == set(there.variants):
        wanted = replace(wanted, variants=there.variants)
    return changes(there, wanted)


def disqualified_noted(house: House, store: Store) -> bool:
    """Bring what a season's store says of excluded bots up to date; whether it had to be."""
    there = store.value(DISQUALIFIED) or "{}"
    why = {bot.id: bot.disqualified for bot in house.bots.all() if bot.disqualified}
    if not why and there == "{}":
        return False
    versions = {version.id: why.get(version.bot) for version in house.versions.all()}
    excluded = {row.name: reason for row in store.bots() if (reason := versions.get(row.id))}
    text = msgspec.json.encode(excluded).decode()
    if text == there:
        return False
    store.set_value(DISQUALIFIED, text)
    return True


def spec_of(row: SeasonRow) -> Spec:
    """What a season is."""
    return msgspec.json.decode(row.spec, type=Spec)


def _open(folder: Path, row: SeasonRow) -> Store:
    if (folder / FILE).exists():
        store = Store.open(folder)
        choose(Level(stored_spec(store).sandbox or Level.NONE))
        return store
    spec = settled(spec_of(row))
    values = {
        "name": spec.name,
        "spec": msgspec.json.encode(spec).decode(),
        "players": "{}",
        "variants": msgspec.json.encode(variant_marks(spec)).decode(),
        **chance_values(spec),
        "level": spec.sandbox or Level.NONE,
        "referee": __version__,
        "started": stamp(),
    }
    return Store.create(folder, values, [])
