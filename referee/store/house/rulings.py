"""Rulings on games of seasons: decided here by whoever may, and carried into the season's store by
the one process that writes to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from referee.store.database import Store
from referee.store.house.books import Books
from referee.store.house.mistakes import Conflict, HouseMistake
from referee.store.house.names import must_be_line
from referee.store.house.rows import HouseRulingRow, RulingWhat, SeasonRow
from referee.store.rows import RulingRow

_SELECT = "SELECT id, season, pairing, number, what, seat, reason, by, at, applied FROM ruling"


def _row(found: Any) -> HouseRulingRow:
    *start, applied = found
    return HouseRulingRow(*(*start, bool(applied)))


class Rulings:
    """What organisers decided, applied or not."""

    def __init__(self, books: Books) -> None:
        self._books = books

    def add(
        self,
        season: SeasonRow,
        game: tuple[int, int],
        what: RulingWhat,
        seat: int | None = None,
        *,
        reason: str,
        by: str,
    ) -> HouseRulingRow:
        """Decide on a game, its pairing and its number. The caller has seen that there is such a
        game. `lift` takes an earlier ruling back; raises Conflict where there is none."""
        must_be_ruling(what, seat)
        reason, by = must_be_reason(reason), must_be_line("a name", by)
        with self._books.changing():
            if what == "lift" and not self._is_ruled_on(season, game):
                raise Conflict(f"there is no ruling on game {season.name}/{game[0]}-{game[1]}")
            number = self._books.write(
                "INSERT INTO ruling (season, pairing, number, what, seat, reason, by, at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (season.id, *game, what, seat, reason, by, self._books.now()),
            )
            seats = "" if seat is None else f" {seat}"
            label = f"{season.name}/{game[0]}-{game[1]}"
            self._books.journal(by, f"ruled {label} {what}{seats}: {reason}")
            return _row(self._books.first(f"{_SELECT} WHERE id = ?", (number,)))

    def _is_ruled_on(self, season: SeasonRow, game: tuple[int, int]) -> bool:
        """By what is in force, applied or not."""
        found = self._books.first(
            "SELECT what FROM ruling WHERE season = ? AND pairing = ? AND number = ? "
            "ORDER BY id DESC",
            (season.id, *game),
        )
        return found is not None and found[0] != "lift"

    def of_season(self, season: SeasonRow) -> list[HouseRulingRow]:
        query = f"{_SELECT} WHERE season = ? ORDER BY id"
        return [_row(found) for found in self._books.rows(query, (season.id,))]

    def pending(self) -> list[HouseRulingRow]:
        """Those that are not yet in their season's store, oldest first."""
        query = f"{_SELECT} WHERE NOT applied ORDER BY id"
        return [_row(found) for found in self._books.rows(query)]

    def apply(
        self, season: SeasonRow, store: Store, follow: Callable[[], object] | None = None
    ) -> int:
        """Carry what is pending for a season into its store, which is open for writing, and commit.

        `follow` is done then, and the rulings count as applied after it: what shows them is
        drawn. A ruling on a game that the store does not hold waits on. Safe to do again after a
        kill: the same ruling twice is the same ruling. Returns how many were carried over.
        """
        due = [ruling for ruling in self.pending() if ruling.season == season.id]
        done = [ruling for ruling in due if _carry(ruling, store)]
        if done:
            store.commit()
            if follow is not None:
                follow()
            self._books.write_many(
                "UPDATE ruling SET applied = 1 WHERE id = ?", [(ruling.id,) for ruling in done]
            )
        return len(done)


def must_be_ruling(what: str, seat: int | None) -> None:
    """Raises HouseMistake."""
    if what not in ("void", "award", "lift"):
        raise HouseMistake(f"a ruling is void, award or lift, not {what[:80]!r}")
    if what == "award" and seat not in (0, 1):
        raise HouseMistake("a game is awarded to seat 0 or to seat 1")
    if what != "award" and seat is not None:
        raise HouseMistake(f"a seat is named for award alone, not for {what}")


def must_be_reason(reason: str) -> str:
    """Raises HouseMistake."""
    reason = must_be_line("a reason", reason, 500)
    if not reason:
        raise HouseMistake("a ruling needs a reason: it is shown below the tables")
    return reason


def _carry(ruling: HouseRulingRow, store: Store) -> bool:
    if store.record(ruling.pairing, ruling.number) is None:
        return False
    if ruling.what == "lift":
        store.lift_ruling(ruling.pairing, ruling.number)
    else:
        store.add_ruling(
            RulingRow(
                ruling.pairing,
                ruling.number,
                ruling.what,
                ruling.seat,
                ruling.reason,
                ruling.by,
                ruling.at,
            )
        )
    return True
