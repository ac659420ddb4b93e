"""Reports for the tests, and what is in them once they are files."""

from __future__ import annotations

import base64
import json
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from referee.record import Record
from referee.reports.html.games import IN_A_BLOCK
from referee.reports.html.make import write_report
from tests.records import games
from tests.reports.stored import make_real

Parts = dict[str, str]


class Page(HTMLParser):
    """The text in every script and style element, by id or by tag and number."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: Parts = {}
        self.policy = ""
        self.loads: list[str] = []
        self._inside: str | None = None

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""
        self.loads += [given[name] or "" for name in ("src", "href", "action") if name in given]
        if tag in ("script", "style"):
            self._inside = given.get("id") or f"{tag} {len(self.parts)}"
            self.parts[self._inside] = ""

    def handle_data(self, data: str) -> None:
        if self._inside is not None:
            self.parts[self._inside] += data

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._inside = None


def read(path: Path) -> Page:
    parser = Page()
    parser.feed(path.read_text(encoding="utf-8"))
    return parser


def unpack(text: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(text), wbits=-15))


def contents(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(read(path).parts["data"])
    return found


def stories(path: Path) -> list[Any]:
    parts = read(path).parts
    blocks = [unpack(parts[name]) for name in parts if name.startswith("block-")]
    assert all(len(block) == IN_A_BLOCK for block in blocks[:-1])
    return [story for block in blocks for story in block]


def everything(path: Path) -> str:
    """All text that the page holds, unpacked."""
    columns = unpack(read(path).parts["columns"])
    return json.dumps([contents(path), columns, stories(path)], ensure_ascii=False)


def real(folder: Path, *records: Record) -> Path:
    first, second = records[0].players
    return write_report(make_real(folder, {(first, second): list(records)}))


def made_up(folder: Path, results: dict[tuple[str, str], str]) -> Path:
    """A tournament with these results of the first named, in games of one real record.

    It always has the first seat, so each game is a pair by itself.
    """
    (record, *_) = games("underdog")
    winners = {"1": 0, "0": 1, "=": None}
    return make_real(
        folder,
        {
            pair: [
                replace(record, players=pair, winner=winners[each], pair=at + 1)
                for at, each in enumerate(text)
            ]
            for pair, text in results.items()
        },
    )
