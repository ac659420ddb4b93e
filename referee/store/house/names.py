"""Names of teams, bots and seasons: the rules of a bot's name, and a little more."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from referee.bots.look_alikes import latin, look
from referee.bots.manifest import NAME_BYTES, BadBot, check_name
from referee.store.house.mistakes import Conflict, HouseMistake

LONGEST = 50
"""Shorter than a bot's own name may be: the number of a version comes after it."""
_VERSION = re.compile(r".* v\d+")
_SEASON = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_TOURNAMENT = re.compile(r"t[0-9]+")


def plain(name: str) -> str:
    """What two names that read the same have in common."""
    return unicodedata.normalize("NFKC", name).casefold()


def must_be_name(what: str, name: str) -> str:
    """The name, if a team or a bot can be called so. `what` is `a team's name` or the like."""
    size = len(name.encode("utf-8", "surrogatepass"))
    if size > NAME_BYTES:
        raise HouseMistake(f"{what} has at most {NAME_BYTES} bytes in UTF-8, not {size}")
    try:
        check_name("", name)
    except BadBot:
        told = "has letters, digits, spaces or any of ._+#()- and starts with a letter or digit"
        raise HouseMistake(f"{what} {told}, not {name[:80]!r}") from None
    if len(name) > LONGEST:
        raise HouseMistake(f"{what} has at most {LONGEST} characters, and {name!r} has more")
    if not look(name):
        raise HouseMistake(f"{what} has letters that can be seen, and {name!r} has none")
    if name != name.strip():
        raise HouseMistake(f"{what} ends with no space, and {name!r} does")
    return name


def must_look_new(what: str, name: str, others: Iterable[str]) -> None:
    """Raises Conflict where one of the others looks the same. `what` is `team` or the like."""
    shown = look(name)
    for other in others:
        if look(other) == shown:
            raise Conflict(
                f"{name!r} looks like {other!r}, which is a {what} already; take a name that "
                "can be told from it"
            )


def must_be_bot_name(name: str) -> str:
    """The name, if a bot of the ladder can be called so."""
    must_be_name("a bot's name", name)
    if _VERSION.fullmatch(latin(name).casefold()):
        raise HouseMistake(f"a bot is not called {name!r}: that is what a version of one is called")
    return name


def must_be_season_name(name: str) -> str:
    """The name, if a season can be called so: it is a folder, and a part of addresses."""
    if not _SEASON.fullmatch(name):
        raise HouseMistake(
            "a season's name has up to 40 of the letters a to z, digits, - and _, "
            f"and starts with a letter or digit, not {name[:80]!r}"
        )
    if _TOURNAMENT.fullmatch(name):
        raise HouseMistake(f"a season is not called {name!r}: games of tournaments are called so")
    return name


def must_be_line(what: str, text: str, most: int = 200) -> str:
    """Text that people wrote, if it is one line of a bearable length."""
    text = " ".join(text.split())
    if len(text) > most:
        raise HouseMistake(f"{what} has at most {most} characters, and this one has {len(text)}")
    if not text.isprintable():
        raise HouseMistake(f"{what} has characters that cannot be shown: {text[:80]!r}")
    return text
