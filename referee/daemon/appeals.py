"""Rulings on single games: decided after an appeal, kept beside the record, seen in the tables."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.daemon.closed import settle
from referee.daemon.scoreboard import redraw
from referee.record import Record
from referee.reports.standings import standings, timings
from referee.reports.tables.files import write_tables
from referee.store.database import BadStore, Store
from referee.store.house import House
from referee.store.house.books import stamp
from referee.store.house.mistakes import Conflict, HouseMistake, Unknown
from referee.store.house.names import must_be_line
from referee.store.house.rows import RulingWhat, SeasonRow
from referee.store.house.rulings import must_be_reason, must_be_ruling
from referee.store.rows import RulingRow

_GAME = re.compile(r"(?:([a-z0-9][a-z0-9_-]*)/)?([1-9]\d{0,8})-([1-9]\d{0,8})")
_decode = msgspec.msgpack.Decoder(Record).decode


class Appeal(Struct, frozen=True, kw_only=True):
    """What was decided of a game."""

    season: str | None
    """None where nobody named one."""
    pairing: int
    number: int
    what: RulingWhat
    seat: int | None
    reason: str
    by: str

    @property
    def game(self) -> str:
        return f"{self.pairing}-{self.number}"


def read_appeal(game: str, what: RulingWhat, seat: int | None, *, reason: str, by: str) -> Appeal:
    """As somebody typed it: `12-34`, or `1/12-34` of a season. Raises HouseMistake."""
    found = _GAME.fullmatch(game)
    if found is None:
        raise HouseMistake(
            f"a game is called by its pairing and number, as 12-34 or 1/12-34, not {game[:80]!r}"
        )
    must_be_ruling(what, seat)
    return Appeal(
        season=found[1],
        pairing=int(found[2]),
        number=int(found[3]),
        what=what,
        seat=seat,
        reason=must_be_reason(reason),
        by=must_be_line("a name", by),
    )


def rule_in_folder(folder: Path, appeal: Appeal) -> Record:
    """Rule on a game of a tournament, and write its tables again, where they have been written.

    Gives the record back, which stays as it is. Raises Unknown, BadStore.
    """
    if appeal.season is not None:
        raise HouseMistake(f"a season is named, and {folder} is one tournament: say {appeal.game}")
    with Store.open(folder) as store:
        record = _must_find(store, appeal)
        if appeal.what == "lift":
            ruled = {(ruling.pairing, ruling.number) for ruling in store.rulings()}
            if (appeal.pairing, appeal.number) not in ruled:
                raise Conflict(f"there is no ruling on game {appeal.game}")
            store.lift_ruling(appeal.pairing, appeal.number)
        else:
            at = stamp(datetime.now(UTC))
            ruling = (appeal.what, appeal.seat, appeal.reason, appeal.by, at)
            store.add_ruling(RulingRow(appeal.pairing, appeal.number, *ruling))
        store.commit()
        if (folder / "standings.md").exists():
            write_tables(folder, standings(store), timings(store))
    return record


def rule_in_house(house: House, appeal: Appeal) -> tuple[Record, bool]:
    """Rule on a game of a season, the last one if none is named.

    Gives back the record, and whether the tables follow the ruling already: if a daemon runs, it
    sees to that. Raises Unknown, BadStore.
    """
    name = appeal.season
    season = house.seasons.latest() if name is None else house.seasons.named(name)
    if season is None:
        raise Unknown("there is no season yet")
    with Store.read(house.seasons.folder(season)) as store:
        record = _must_find(store, appeal)
    house.rulings.add(
        season,
        (appeal.pairing, appeal.number),
        appeal.what,
        appeal.seat,
        reason=appeal.reason,
        by=appeal.by,
    )
    return record, _apply(house, season)


def _apply(house: House, season: SeasonRow) -> bool:
    if season.state == "closed":
        # Where somebody else is at it, or cannot read it, the daemon sees to it or tells why.
        with suppress(BadStore):
            return settle(house, season) is not None
        return False
    try:
        house.take_charge()
    except Conflict:
        return False
    folder = house.seasons.folder(season)
    with Store.open(folder) as store:
        changed = house.rulings.apply(season, store, lambda: redraw(folder)) > 0
    house.give_charge_back()
    return changed


def _must_find(store: Store, appeal: Appeal) -> Record:
    raw = store.record(appeal.pairing, appeal.number)
    if raw is None:
        gone = ", or its record is no longer kept" if store.dropped() else ""
        raise Unknown(f"there is no game {appeal.game} in {store.folder}{gone}")
    try:
        return _decode(raw)
    except msgspec.DecodeError as error:
        raise BadStore(f"{store.folder}: game {appeal.game} cannot be read: {error}") from None
