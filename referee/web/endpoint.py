"""One address of the API: a row of the table from which the routes, the OpenAPI document and
docs/api.md are made."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from referee.store.house import House
from referee.web.access import Needs, Visitor
from referee.web.parlour.parlour import Parlour
from referee.web.patterns import in_words
from referee.web.reading import Library, Sight
from referee.web.refusal import Refusal
from referee.web.running import Running

PREFIX = "/api/v1"
_IN_PATH = re.compile(r"{(\w+)}")
_MISPLACED = re.compile(r"^(.*?)(?: - at `\$(?:\.)?(.*)`)?$", re.DOTALL)


class Call(Struct, frozen=True, kw_only=True):
    """A request that may be served, as a handler sees it."""

    visitor: Visitor
    sight: Sight
    """What this visitor is shown."""
    library: Library
    house: House
    running: Running
    parlour: Parlour
    followers: int = 0
    since: str = ""
    """The id of the newest live events when the request came."""
    body: Any = None
    """As the endpoint's type says; for an upload, what was HandedIn."""

    @property
    def here(self) -> set[str]:
        """The names of the bots that are connected."""
        return self.running.guests()


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """What an address asks for that takes no parameters."""


class Plain(Struct, frozen=True):
    """An answer that is no JSON made of a Struct."""

    body: bytes
    media_type: str


class Archive(Struct, frozen=True, kw_only=True):
    """A bot's folder as it was sent."""

    content: bytes
    label: str = ""


class HandedIn(Struct, frozen=True, kw_only=True):
    """A bot's folder that was unpacked and can be kept."""

    name: str
    """Of the bot, as its manifest has it."""
    content: bytes
    """A plain tar."""
    label: str = ""


class Endpoint(Struct, frozen=True, kw_only=True):
    """What is asked, who may, what is answered, and the function that does."""

    method: Literal["GET", "POST"]
    path: str
    """After /api/v1, with {parameters} of `asks` in it; the others come in the query."""
    name: str
    summary: str
    detail: str = ""
    run: Callable[[Call, Any], Any]
    asks: type[Struct] = Nothing
    takes: type | None = None
    """The body: a Struct as JSON, or Archive."""
    answers: type
    status: int = 200
    needs: Needs = "anyone"
    refuses: tuple[int, ...] = ()
    """Beside what any address of its kind refuses."""
    streams: bool = False
    """Whether the answer is a stream of events."""
    keep_s: int = 0
    """How long anybody may keep the answer without asking again."""

    @property
    def changes(self) -> bool:
        return self.method != "GET"

    @property
    def in_path(self) -> list[str]:
        return _IN_PATH.findall(self.path)

    @property
    def refusals(self) -> list[int]:
        """Every status other than its own, in order."""
        found = {401, 405, 429, 500, 503, *self.refuses}
        if self.asks is not Nothing or self.takes is not None:
            found.add(400)
        if self.in_path:
            found.add(404)
        if self.changes:
            found |= {403}
        elif self.needs != "anyone":
            found.add(403)
        if self.takes is not None:
            found |= {408, 413, 415}
        return sorted(found)

    def asked(self, path: Mapping[str, str], query: list[tuple[str, str]]) -> Struct:
        """The parameters of a request. Raises Refusal, of 404 for what cannot be in a path."""
        known = [
            field.encode_name
            for field in msgspec.structs.fields(self.asks)
            if field.encode_name not in self.in_path
        ]
        given: dict[str, str] = {}
        for name, value in query:
            if name not in known:
                told = f"they are {', '.join(known)}" if known else "this address takes none"
                raise Refusal(400, f"there is no parameter {_short(name)!r}; {told}")
            if name in given:
                raise Refusal(400, f"the parameter {name} is given twice")
            given[name] = value
        try:
            return msgspec.convert({**given, **path}, self.asks, strict=False)
        except msgspec.ValidationError as error:
            sentence, where = told_of(error)
            raise Refusal(404 if where in self.in_path else 400, sentence) from None


def told_of(error: msgspec.ValidationError) -> tuple[str, str]:
    """What is wrong with a value in one sentence, and where it is.

    >>> told_of(msgspec.ValidationError("Expected `int` >= 1 - at `$.limit`"))
    ('limit: expected a whole number of at least 1', 'limit')
    """
    found = _MISPLACED.match(str(error))
    assert found is not None
    what, where = found.group(1), found.group(2) or ""
    what = in_words(what)
    return (f"{where}: {what}" if where else what), where


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
