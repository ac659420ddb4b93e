"""A rule book as blocks for a template: plain text, with lists and headings by their look."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

_CODE = re.compile(r"`([^`]*)`")

Piece = tuple[bool, str]
"""Whether it is code, and the text."""


class Block(Struct, frozen=True):
    kind: Literal["heading", "paragraph", "list"]
    items: list[list[Piece]]
    """One, or those of a list."""


def blocks(text: str) -> list[Block]:
    """
    >>> [(block.kind, len(block.items)) for block in blocks("One.\\n\\nRulings\\n- a\\n  b\\n- c")]
    [('paragraph', 1), ('heading', 1), ('list', 2)]
    """
    found: list[Block] = []
    for part in re.split(r"\n\s*\n", text.strip()):
        _take(part.splitlines(), found)
    return found


def _take(lines: list[str], found: list[Block]) -> None:
    plain: list[str] = []
    while lines and not lines[0].startswith("- "):
        plain.append(lines.pop(0).strip())
    if len(plain) > 1 and _is_heading(plain[0]):
        found.append(_block("heading", [plain.pop(0)]))
    if plain:
        alone = len(plain) == 1 and _is_heading(plain[0])
        found.append(_block("heading" if alone else "paragraph", [" ".join(plain)]))
    items: list[str] = []
    for line in lines:
        if line.startswith("- "):
            items.append(line[2:].strip())
        elif items and line.startswith(" "):
            items[-1] += f" {line.strip()}"
        else:
            break
    if items:
        found.append(_block("list", items))
    rest = lines[_length(lines, len(items)) :]
    if rest:
        _take(rest, found)


def _length(lines: list[str], items: int) -> int:
    """How many lines these items of a list took."""
    if not items:
        return 0
    for at, line in enumerate(lines):
        if not line.startswith(("- ", " ")):
            return at
    return len(lines)


def _is_heading(line: str) -> bool:
    return len(line) < 40 and line[:1].isupper() and line[-1:].isalpha()


def _block(kind: Literal["heading", "paragraph", "list"], texts: list[str]) -> Block:
    return Block(kind, [_pieces(text) for text in texts])


def _pieces(text: str) -> list[Piece]:
    parts = _CODE.split(text)
    return [(at % 2 == 1, part) for at, part in enumerate(parts) if part]
