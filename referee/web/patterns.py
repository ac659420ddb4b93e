"""What texts are taken, as programs and as people read it.

A parameter that does not fit is refused in words: its pattern is for the OpenAPI document, and
whoever has mistyped an address can make nothing of it.
"""

from __future__ import annotations

import re

from referee.web.live import KINDS

SEASON = "^[a-z0-9][a-z0-9_-]{0,39}$"
GAME = "^[1-9][0-9]{0,8}-[1-9][0-9]{0,8}$"
SEASON_AND_GAME = "^[a-z0-9][a-z0-9_-]{0,39}/[1-9][0-9]{0,8}-[1-9][0-9]{0,8}$"
BOT = r"^[^/\x00-\x1f\x7f]+$"
VARIANT = "^[a-z0-9]+(-[a-z0-9]+)*$"
CURSOR = "^[0-9TZ:.-]{1,40}/[1-9][0-9]{0,8}-[1-9][0-9]{0,8}$"
VERSIONS = "^(active|all)$"
EVENTS = f"^({'|'.join(KINDS)})(,({'|'.join(KINDS)}))*$"
SITTING = "^[0-9a-f]{32}$"

EXPECTED = {
    SEASON: "the name of a season: up to 40 lower case letters, digits, hyphens and underscores",
    GAME: "a game as PAIRING-NUMBER, for example 12-34",
    SEASON_AND_GAME: "a game as SEASON/PAIRING-NUMBER, for example 1/12-34",
    BOT: "the name of a bot, without slashes and control characters",
    VARIANT: "the name of a variant: lower case letters and digits, with hyphens between them",
    CURSOR: "what `next` of the page before says",
    VERSIONS: "active or all",
    EVENTS: f"one or more of {', '.join(KINDS)}, with commas between them",
    SITTING: "the name of a game by hand, as its address has it: 32 digits and letters a to f",
}
"""Every pattern in words."""

_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "null": "null",
    "object": "an object",
    "array": "a list",
}
_WANTED = re.compile(r"Expected `([^`]*)`(?: (of length )?(>=|<=) (\d+))?(?:, got (.*))?")
_FIELD = re.compile(r"Object (missing required|contains unknown) field `(.*)`", re.DOTALL)
_NONE_OF = "Invalid enum value "
_BOUND = {">=": "at least", "<=": "at most"}


def in_words(trouble: str) -> str:
    """What msgspec says of a value, for people.

    >>> in_words("Expected `str` matching regex '^(active|all)$'")
    'expected active or all'
    >>> in_words("Expected `int` <= 500")
    'expected a whole number of at most 500'
    >>> in_words("Expected `str | null`, got `int`")
    'expected text or null, not a whole number'
    >>> in_words("Expected `str` of length >= 1")
    'expected text of at least 1 character'
    >>> in_words("Object missing required field `reason`")
    'the field `reason` is missing'
    """
    for pattern, words in EXPECTED.items():
        if trouble == f"Expected `str` matching regex {pattern!r}":
            return f"expected {words}"
    if found := _WANTED.fullmatch(trouble):
        kind, of_length, bound, number, got = found.groups()
        sentence = f"expected {_kind(kind)}"
        if bound:
            unit = f" character{'' if number == '1' else 's'}" if of_length else ""
            sentence += f" of {_BOUND[bound]} {number}{unit}"
        return sentence + (f", not {_kind(got.strip('`'))}" if got else "")
    if found := _FIELD.fullmatch(trouble):
        field = found[2]
        missing = found[1].startswith("missing")
        return f"the field `{field}` is missing" if missing else f"there is no field `{field}`"
    if trouble.startswith(_NONE_OF):
        return f"{trouble.removeprefix(_NONE_OF)} is none of the values that are taken here"
    return trouble[:1].lower() + trouble[1:]


def _kind(names: str) -> str:
    return " or ".join(_KINDS.get(name, name) for name in names.split(" | "))
