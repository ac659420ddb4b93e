"""Tests of records: real games, played once by real bots, then read, judged and told."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from referee.bots.manifest import Bot, find_bot
from referee.match import play_match
from referee.record import Record, encode_record
from referee.rules.registry import BUNDLED
from referee.verifying import Report, verify

VARIANTS = tuple(BUNDLED)
Fields = dict[str, Any]
"""A record as the JSON object that it is in a file."""


def planned(name: str, *plan: str) -> Bot:
    """A bot that plays by a plan, see bot.py."""
    script = str(Path(__file__).with_name("bot.py"))
    return Bot(name=name, command=(sys.executable, "-S", script, *plan))


def play(first: Bot, second: Bot, variant: str, games: int = 1, **terms: Any) -> list[Record]:
    """The records of a match in the order of its games. No honest bot can be late in it."""
    records: list[Record] = []
    terms = {"time": "60s", "seed": "records", "pin": False, **terms}
    play_match(first, second, variant=variant, games=games, on_record=records.append, **terms)
    return sorted(records, key=lambda record: int(record.game))


@cache
def games(variant: str) -> list[Record]:
    """Six games between two sample bots."""
    return play(find_bot("random"), find_bot("highest"), variant, games=6)


@cache
def with_notes() -> Record:
    (record,) = play(planned("a", "note"), planned("b", "last"), "underdog")
    return record


@cache
def _no_start() -> list[Record]:
    return play(_absent("a"), planned("b", "first"), "deck", games=4)


def _absent(name: str) -> Bot:
    return Bot(name=name, command=("/nowhere/to/be/found",))


FAULTY: dict[str, Callable[[], Record]] = {
    "illegal": lambda: _one("duel", ("9", "first", "99"), ("first",)),
    "illegal, both at once": lambda: _one("underdog", ("first",), ("last", '"3"')),
    "resign": lambda: _one("target", ("first", "resign"), ("first",)),
    "crash": lambda: _one("deck", ("first",), ("first", "exit")),
    # The bot that hangs is asked first, so the limit is nobody else's.
    "timeout": lambda: _one("duel", ("hang",), ("first",), time="20ms", warm_up_ms=0, grace_ms=0),
    "garbled": lambda: _one("difference", ("first",), ("first", "null")),
    "void": lambda: _one("underdog", ("first", "99"), ("last", "resign")),
    "void, both illegal": lambda: _one("underdog", ("first", "99"), ("last", "0")),
    "no_start": lambda: _no_start()[0],
    "forfeit": lambda: _no_start()[3],
    "void, no start": lambda: play(_absent("a"), _absent("b"), "target")[0],
}
"""Games that a fault ended. Names with a comma are further games of one ending."""


@cache
def faulty(name: str) -> Record:
    return FAULTY[name]()


def _one(variant: str, first: tuple[str, ...], second: tuple[str, ...], **terms: Any) -> Record:
    options = {"first": "seat0"} if variant in ("duel", "target") else {}
    a, b = planned("a", *first), planned("b", *second)
    return play(a, b, variant, options=options, **terms)[0]


def fields(record: Record) -> Fields:
    found: Fields = json.loads(encode_record(record))
    return found


def judge(*records: Record | Fields) -> Report:
    """What `verify` says of a file with these records."""
    return verify(
        encode_record(record) + b"\n"
        if isinstance(record, Record)
        else json.dumps(record).encode() + b"\n"
        for record in records
    )
