"""The record of one game, to be given again."""

from __future__ import annotations

from typing import Any

from referee.bots.manifest import Bot
from referee.record import Record
from tests.arena.playing import honest, play


def game(bad: Bot, variant: str = "duel", **terms: Any) -> Record:
    """A game in which this bot has seat 0 and, where the seats take turns, begins."""
    options = {"first": "seat0"} if variant in ("duel", "target") else {}
    terms = {"options": options, "pin": False, **terms}
    (record,) = play(bad, honest(), variant=variant, games=1, **terms).records
    return record
