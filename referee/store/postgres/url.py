"""A URL as libpq reads it, taken apart into what may be shown and what is secret.

libpq looks for the `@` before it looks for anything else but a `/`, knows of no `#`, and reads a
name in the query after its `%` are resolved. What it would read otherwise than most people mean it
is refused: half of a password would else be a host, a database or a schema, and be shown as such.
No refusal shows what it refuses.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from msgspec import Struct

from referee.store.trouble import BadStore

SCHEMES = ("postgresql://", "postgres://")
_SECRET = re.compile("pas+(w|ph|$)|pwd|pw$|secret|scram_.*_key", re.IGNORECASE)
"""In the names of the query's secrets, and of what was meant as one."""
_PERCENT = re.compile("%(?!00)[0-9a-fA-F]{2}|[^%]")
_ADVICE = (
    "where they are part of a name, a value or a password, write / ? # @ & = % as %2F %3F %23 %40 "
    "%26 %3D %25 (the URL is not shown, for a password may be in it)"
)


class Parts(Struct, frozen=True):
    """What a URL says."""

    url: str
    """Without secrets, and without what follows the `#`."""
    name: str
    """What follows the `#`."""
    secrets: dict[str, str]
    """By the names that libpq has for them."""


def is_address(text: object) -> bool:
    return isinstance(text, str) and text.lower().startswith(SCHEMES)


def parts_of(text: str) -> Parts:
    """Raises BadStore."""
    if not is_address(text):
        raise BadStore("a store is given by its URL, postgresql://HOST/DATABASE")
    scheme, _, rest = text.partition("://")
    if any(each.isspace() or not each.isprintable() for each in rest):
        raise BadStore(f"a space or a control character is in the URL of the store: {_ADVICE}")
    person, at, place = _split_at(rest)
    place, sharp, name = place.partition("#")
    place, _, query = place.partition("?")
    server, _, _ = place.partition("/")
    _must_have_ports(server)
    user, _, password = person.partition(":")
    secrets = {"password": _plain(password)} if password else {}
    kept, more = _without_secrets(query, named=bool(sharp)) if query else ("", {})
    for part in (user, place, name):
        _plain(part)
    url = f"{scheme.lower()}://{user}{at}{place}" + (f"?{kept}" if kept else "")
    return Parts(url, _plain(name), {**secrets, **more})


def _split_at(rest: str) -> tuple[str, str, str]:
    """Who, the `@`, and where; refused where it is not clear which `@` that is."""
    person, at, place = rest.partition("@")
    if not at:
        person, place = "", rest
    if rest.count("@") > 1 or any(each in person for each in "/?#"):
        raise BadStore(
            "the URL of a store has one @ at most, after the user and before the host, and before "
            f"it no / ? or #: {_ADVICE}"
        )
    if rest.count("#") > 1:
        raise BadStore(f"the URL of a store has one # at most, before the name: {_ADVICE}")
    return person, at, place


def _must_have_ports(server: str) -> None:
    """That what would be a port is one, and not a password before a `/` that belongs to it."""
    for each in server.split(","):
        host = each.rpartition("]")[2] if each.startswith("[") else each
        _, colon, port = host.partition(":")
        if colon and not re.fullmatch("[0-9]{0,5}", port):
            raise BadStore(
                "after the host and a : the URL of a store has the number of a port; user and "
                f"password stand before an @: {_ADVICE}"
            )


def _without_secrets(query: str, *, named: bool) -> tuple[str, dict[str, str]]:
    kept: list[str] = []
    secrets: dict[str, str] = {}
    last = ""
    for pair in query.split("&"):
        if pair.count("=") != 1:
            raise BadStore(
                "after the ? the URL of a store has key=value, and & before the next: " + _ADVICE
            )
        key, _, value = pair.partition("=")
        last, value_plain = _plain(key), _plain(value)
        if _SECRET.search(last):
            secrets[last] = value_plain
        else:
            kept.append(pair)
    if named and _SECRET.search(last):
        raise BadStore(
            "the # after a password may be a part of it: write %23 if it is, and otherwise have "
            "the password before other keys of the query (the URL is not shown, for it is in it)"
        )
    return "&".join(kept), secrets


def _plain(text: str) -> str:
    """With its `%` resolved."""
    try:
        if _PERCENT.sub("", text):
            raise ValueError(text)
        return unquote(text, errors="strict")
    except ValueError:
        raise BadStore(f"a % in the URL of a store stands for no character: {_ADVICE}") from None
