"""`referee season keep`: for how long the records of games are kept."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from referee.cli import console
from referee.cli.house import opened, opened_or_made, person
from referee.cli.options import DATA, AsJson, Create, Data
from referee.mistake import Mistake
from referee.store.house.rows import Keep

ALL = "all"
DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0}
BYTES = {"MB": 10**6, "GB": 10**9, "TB": 10**12}
_LIMIT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([A-Za-z]+)")


class BadKeep(Mistake):
    """A limit that is none; the message says what is."""


def season_keep_command(
    limit: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LIMIT]...",
            help="30d, 5GB, both, or all; what is set if left out.",
            show_default=False,
        ),
    ] = None,
    data: Data = DATA,
    create: Create = False,
    json: AsJson = False,
) -> None:
    """Say for how long the records of games are kept, or how large a season may become.

    The results of all games are kept for ever, and the ratings with them; what goes is the records,
    with which a game can be replayed and judged again, the oldest first. A running daemon lets them
    go a few at a time, and says how many went in its log, in its journal and below the tables. A
    season that is closed keeps what it has. Without limits, which is how it begins, nothing goes.

    **Examples**

        referee season keep 30d 20GB

        referee season keep all
    """
    if limit:
        keep = read_keep(limit)
        with opened_or_made(data, create=create) as house:
            house.settings.set_keep(keep, by=person())
    else:
        with opened(data) as house:
            keep = house.settings.keep()
    if json:
        console.print_json(keep)
        return
    console.out.print(f"Records are kept {shown_keep(keep)}")


def read_keep(words: list[str]) -> Keep:
    """Raises BadKeep."""
    if words == [ALL]:
        return Keep()
    if ALL in words:
        raise BadKeep("all takes every limit away, and stands alone")
    days: float | None = None
    size: int | None = None
    for word in words:
        found = _LIMIT.fullmatch(word)
        number, unit = (0.0, "") if found is None else (float(found[1]), found[2])
        if number and unit.lower() in DAYS:
            twice, days = days is not None, number * DAYS[unit.lower()]
        elif number and unit.upper() in BYTES:
            twice, size = size is not None, int(number * BYTES[unit.upper()])
        else:
            raise BadKeep(f"a limit is like 30d, 12h, 20GB or 500MB, or all, not {word!r}")
        if twice:
            raise BadKeep(f"{word} is the second limit of its kind")
    if (days is not None and days > 36_500) or (size is not None and not 10**6 <= size <= 10**18):
        raise BadKeep("a limit is 100 years at most, and 1 MB at least")
    return Keep(days=days, bytes=size)


def read_size(word: str) -> int | None:
    """The bytes of a size such as 500MB; None where it is none."""
    found = _LIMIT.fullmatch(word)
    if found is None or found[2].upper() not in BYTES:
        return None
    return int(float(found[1]) * BYTES[found[2].upper()])


def shown_keep(keep: Keep) -> str:
    told = []
    if keep.days is not None:
        told.append(f"for {keep.days:g} days")
    if keep.bytes is not None:
        told.append(f"up to {keep.bytes / 1e9:g} GB a season")
    return " and ".join(told) or "for ever"
