"""Underdog with bugs of its author: a number that makes a method raise."""

from __future__ import annotations

from typing import Any, ClassVar

from referee.rules.chance import Chance
from referee.rules.options import Option
from referee.rules.underdog import Position, Underdog
from referee.rules.variant import Outcome, Plays, Seat

WHERE = (
    "apply",
    "view",
    "view type",
    "events",
    "scores",
    "outcome",
    "nobody",
    "setup",
    "legal",
    "endless",
    "last events",
)


class Broken(Underdog):
    name = "broken"
    summary = "underdog that fails in one of its methods once somebody has played a certain number"
    # The base's tuple has a fixed length for the checker.
    options: ClassVar[tuple[Option, ...]] = (  # type: ignore[assignment]
        *Underdog.options,
        Option(name="bug", default="apply", choices=WHERE, help="which method"),
        Option(name="number", default=1, low=0, high=100, help="0: from the start"),
    )

    def strike(self, where: str, gone: bool) -> None:
        if self.settings["bug"] == where and gone:
            raise ZeroDivisionError(f"a bug in {where}")

    def gone(self, position: Position) -> bool:
        number = self.number("number")
        return not all(number in left for left in position.left)

    def setup(self, chance: Chance) -> Position:
        self.strike("setup", True)
        return super().setup(chance)

    def apply(self, position: Position, plays: Plays[int], chance: Chance) -> Position:
        after = super().apply(position, plays, chance)
        if self.settings["bug"] == "endless":
            return position
        self.strike("apply", self.gone(after))
        return after

    def actors(self, position: Position) -> tuple[Seat, ...]:
        if self.settings["bug"] == "nobody" and self.gone(position):
            return ()
        return super().actors(position)

    def legal(self, position: Position, seat: Seat) -> tuple[int, ...]:
        self.strike("legal", self.gone(position))
        return super().legal(position, seat)

    def view(self, position: Position, seat: Seat) -> dict[str, Any]:
        self.strike("view", self.gone(position))
        if self.settings["bug"] == "view type" and self.gone(position):
            return {"chance": object()}
        return super().view(position, seat)

    def events(
        self, before: Position, plays: Plays[int], after: Position, seat: Seat
    ) -> list[dict[str, Any]]:
        self.strike("events", self.gone(after))
        if self.settings["bug"] == "last events" and super().outcome(after) is not None:
            return [{"chance": object()}]
        return super().events(before, plays, after, seat)

    def outcome(self, position: Position) -> Outcome | None:
        self.strike("outcome", self.gone(position))
        return None if self.settings["bug"] == "nobody" else super().outcome(position)

    def scores(self, position: Position) -> tuple[int, int]:
        self.strike("scores", self.gone(position))
        return super().scores(position)
