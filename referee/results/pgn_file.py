"""PGN: of every game the tags White, Black and Result; moves and comments are passed over.

A game is a section of tags, `[White "name"]`, and then its moves. Comments stand in braces, over
any number of lines, or from a semicolon to the end of the line; a line that begins with a percent
sign is nobody's business. A tag after moves begins another game, and so does one of the three that
is there for the second time.
"""

from __future__ import annotations

import re
from array import array

from referee.ratings.games import SINGLE
from referee.results.blocks import BadResults, Blocks, decode, quote
from referee.results.collected import Collected, check_names, read_points

UNKNOWN = "?"
"""How PGN writes a player that nobody knows."""
_NEEDED = (b"White", b"Black", b"Result")
_TAG = re.compile(rb'\s*\[\s*(\w+)\s*"((?:[^"\\]|\\.)*)"\s*\]\s*')
_ESCAPED = re.compile(r'\\(["\\])')
_COMMENTS = re.compile(rb"\{[^}]*\}|;.*")
_COMMENT = re.compile(rb"[{;]")
_goes_on = re.compile(rb"[^\[{;]").match
"""A line that goes on with moves, whatever comes after its first character."""


class PgnReader:
    """Reads one file into what is collected."""

    def __init__(self, collected: Collected) -> None:
        self._collected = collected
        self._tags: dict[bytes, tuple[bytes, int]] = {}
        """Tags of the game that is being read, with their lines."""
        self._begun = 0
        """The line at which it begins; zero between games."""
        self._moves = 0
        """The line at which its moves begin; zero before them."""
        self._comment = 0
        """The line of a brace that is still open, else zero."""
        self._games = array("q")

    def read(self, blocks: Blocks) -> None:
        """All of a file. Raises BadResults."""
        number = 0
        for block in blocks:
            for line in block[:-1].split(b"\n"):
                number += 1
                if line and (self._comment or line[:1] != b"%"):
                    self._read_line(line.strip(), number)
        if self._comment:
            raise BadResults(f"line {self._comment}: a comment that begins here does not end")
        self._end()
        self._collected.add_rows(self._games)

    def _read_line(self, line: bytes, number: int) -> None:
        if not self._comment:
            if line[:1] == b"[":
                line = line[self._read_tags(line, number) :]
            if not line or (self._moves and _goes_on(line) and _closed(line)):
                return
        line = self._uncommented(line, number).strip()
        if line[:1] == b"[":
            # Only a comment can have stood before it, or it is no tag.
            line = line[self._read_tags(line, number) :]
            if line[:1] == b"[":
                tag = quote(line.decode(errors="replace"))
                raise BadResults(f'line {number}: {tag} is no tag; a tag is [Name "value"]')
        if line:
            self._moves = self._moves or number

    def _read_tags(self, line: bytes, number: int) -> int:
        """Take in what tags a line begins with; where they end."""
        at = 0
        while at < len(line) and (match := _TAG.match(line, at)):
            name, value = match.groups()
            if self._moves or (name in _NEEDED and name in self._tags):
                self._end()
            self._begun = self._begun or number
            if name in _NEEDED:
                self._tags[name] = value, number
            at = match.end()
        return at

    def _uncommented(self, line: bytes, number: int) -> bytes:
        """What of a line is in no comment."""
        if not self._comment and _closed(line):
            return _COMMENTS.sub(b"", line) if b"{" in line or b";" in line else line
        kept = []
        at = 0
        while True:
            if self._comment:
                at = line.find(b"}", at) + 1
                if not at:
                    break
                self._comment = 0
            comment = _COMMENT.search(line, at)
            if comment is None:
                kept.append(line[at:])
                break
            kept.append(line[at : comment.start()])
            if comment.group() == b";":
                break
            self._comment = number
            at = comment.end()
        return b"".join(kept)

    def _end(self) -> None:
        """The game that was being read is complete."""
        if self._begun:
            self._keep()
        elif self._moves:
            raise BadResults(f"line {self._moves}: moves, and no tags before them")
        self._tags = {}
        self._begun = 0
        self._moves = 0

    def _keep(self) -> None:
        for name in _NEEDED:
            if name not in self._tags:
                missing = f"has no {name.decode()} tag"
                raise BadResults(f"line {self._begun}: the game that begins here {missing}")
        white, black, result = (self._value(name) for name in _NEEDED)
        line = self._begun
        try:
            check_names(white, black)
            line = self._tags[b"Result"][1]
            points = read_points(result)
        except BadResults as bad:
            raise BadResults(f"line {line}: {bad}") from None
        if UNKNOWN in (white, black):
            self._collected.skipped["player unknown"] += 1
            return
        seats = self._collected.player(white), self._collected.player(black)
        if points is None:
            self._collected.skipped["unfinished"] += 1
        else:
            self._games.extend((*seats, points, SINGLE))

    def _value(self, name: bytes) -> str:
        value = decode(*self._tags[name])
        return (_ESCAPED.sub(r"\1", value) if "\\" in value else value).strip()


def _closed(line: bytes) -> bool:
    """Whether no brace stays open, as in nearly all lines."""
    return line.rfind(b"}") >= line.rfind(b"{")
