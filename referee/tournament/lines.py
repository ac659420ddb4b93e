"""On which line of a TOML file a value is.

The parser of the standard library gives values and no places. This reader goes over a text that the
parser has accepted, so it only has to tell apart what is key, what is value and where each ends;
what it does not understand ends it, and the lines found so far are all there are.

    find_lines("a = [1,\\n  2]")  ->  {("a",): 1, ("a", 0): 1, ("a", 1): 2}
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterator

from referee.tournament.mistakes import Key

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_TEXTS = (
    re.compile(r'"""(?:\\.|[^\\])*?""""{0,2}', re.DOTALL),
    re.compile(r"'''.*?''''{0,2}", re.DOTALL),
    re.compile(r'"(?:\\.|[^"\\\n])*"'),
    re.compile(r"'[^'\n]*'"),
)
_OTHER = re.compile(r"\d{4}-\d\d-\d\d \d\d:[^\s,\]}#]*|[^\s,\]}#]+")


class _Lost(Exception):
    """Not what is expected here."""


def find_lines(text: str) -> dict[Key, int]:
    """The first line of every key and of every item of a list, from 1."""
    reader = _Reader(text.replace("\r\n", "\n"))
    with contextlib.suppress(_Lost, RecursionError):
        reader.read()
    return reader.found


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line_ends = [match.start() for match in re.finditer("\n", text)]
        self._lengths: dict[Key, int] = {}
        """Of lists of tables, which are written one [[table]] at a time."""
        self.found: dict[Key, int] = {}

    def read(self) -> None:
        table: Key = ()
        while not self._is_end():
            if self._skip("[["):
                table = self._table(self._key(), listed=True)
                self._must("]]")
            elif self._skip("["):
                table = self._table(self._key(), listed=False)
                self._must("]")
            else:
                self._assignment(table)

    def _table(self, parts: Key, *, listed: bool) -> Key:
        """The place that a [header] opens: in a list of tables, within the last one so far."""
        table: Key = ()
        for number, part in enumerate(parts, start=1):
            table = (*table, part)
            self._note(table)
            if listed and number == len(parts):
                self._lengths[table] = self._lengths.get(table, 0) + 1
            if table in self._lengths:
                table = (*table, self._lengths[table] - 1)
                self._note(table)
        return table

    def _assignment(self, table: Key) -> None:
        began = self._at
        parts = self._key()
        for count in range(1, len(parts) + 1):
            self._note((*table, *parts[:count]), began)
        self._must("=")
        self._value((*table, *parts))

    def _value(self, place: Key) -> None:
        self._blank()
        if self._skip("["):
            for number in self._items("]"):
                self._note((*place, number))
                self._value((*place, number))
        elif self._skip("{"):
            for _ in self._items("}"):
                self._assignment(place)
        else:
            self._scalar()

    def _items(self, end: str) -> Iterator[int]:
        """Stands before each item in turn, and at last behind the end."""
        number = 0
        while True:
            self._blank()
            if self._skip(end):
                return
            yield number
            number += 1
            self._blank()
            if not self._skip(","):
                self._must(end)
                return

    def _scalar(self) -> str:
        for pattern in (*_TEXTS, _OTHER):
            match = pattern.match(self._text, self._at)
            if match is not None:
                self._at = match.end()
                return match[0]
        raise _Lost

    def _key(self) -> Key:
        parts: list[str] = []
        while True:
            self._blank()
            if self._text[self._at : self._at + 1] in ("'", '"'):
                # Whoever can read the text can read its escapes.
                parts.append(tomllib.loads(f"key = {self._scalar()}")["key"])
            else:
                match = _BARE_KEY.match(self._text, self._at)
                if match is None:
                    raise _Lost
                self._at = match.end()
                parts.append(match[0])
            self._blank()
            if not self._skip("."):
                return tuple(parts)

    # Step by step.

    def _note(self, place: Key, at: int | None = None) -> None:
        at = self._at if at is None else at
        self.found.setdefault(place, bisect_left(self._line_ends, at) + 1)

    def _is_end(self) -> bool:
        self._blank()
        return self._at >= len(self._text)

    def _blank(self) -> None:
        match = _BLANK.match(self._text, self._at)
        assert match is not None
        self._at = match.end()

    def _skip(self, mark: str) -> bool:
        if not self._text.startswith(mark, self._at):
            return False
        self._at += len(mark)
        return True

    def _must(self, mark: str) -> None:
        self._blank()
        if not self._skip(mark):
            raise _Lost
