"""CSV: `a,b,result`, a in seat 0, or `pair,a,b,result`; with or without a header line.

Two ways that agree. The quick one reads a block of plain lines in bulk. Wherever it meets anything
else (a quoted field, a wrong count of columns, a result that is none, a very long name) it gives
the whole block up, and the thorough one reads it row by row with Python's `csv` module: that one
decides what is right, and says what is wrong.

A quoted field can hold line ends, so from the first block with a quote on the thorough one has all
that follows.
"""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from referee.ratings.games import SINGLE
from referee.results.blocks import BadResults, Blocks, decode, quote
from referee.results.collected import Collected, check_names, read_points
from referee.results.fields import DECIMAL, Fields, decimals, factorise, words_of
from referee.results.lexicon import Lexicon
from referee.results.plain_csv import Odd, split_plain, without_quotes

FLUSH = 400_000
FORMS = {3: "a,b,result", 4: "pair,a,b,result"}
"""What a row looks like, by its number of columns."""
EITHER = " or ".join(FORMS.values())
_UNFINISHED = -1
_TROUBLES = {
    "unexpected end of data": "a quoted field that begins here does not end",
    "field larger than field limit": "a field is too long; is a quote left open?",
    "new-line character seen": "a carriage return within the line",
    "expected after": "a quoted field is followed by something other than a comma",
}
"""What the csv module says, in words for somebody who does not know it."""


class CsvReader:
    """Reads one file into what is collected."""

    def __init__(self, collected: Collected, *, quick: bool = True) -> None:
        self._collected = collected
        self._quick = quick
        self._columns = 0
        """Zero until the first row has been seen."""
        self._players = _Players(collected)
        self._player_lexicon = Lexicon(self._players.__getitem__, np.int32)
        self._points = _Points()
        self._point_lexicon = Lexicon(self._points.__getitem__, np.int8)
        self._pairs = {"": SINGLE}

    def read(self, blocks: Blocks) -> None:
        """All of a file. Raises BadResults."""
        for block in blocks:
            before, columns = blocks.before, self._columns
            plain = without_quotes(block)
            if plain is None or not self._quick:
                self._read_rows(chain([block], blocks), before)
                return
            try:
                body = plain if self._columns else self._begin(plain, before)
                self._read_quickly(body)
            except (Odd, BadResults, UnicodeDecodeError):
                self._columns = columns
                self._read_rows([block], before)

    def _begin(self, block: bytes, before: int) -> bytes:
        """Learn from the first row what the columns are; what follows the header, if it is one."""
        while block and not self._columns:
            line, _, rest = block.partition(b"\n")
            before += 1
            text = line.decode().strip()
            if text and not self._is_header(text.split(","), before):
                return block
            if b"\r" in line.rstrip(b"\r") or len(line) > csv.field_size_limit():
                raise Odd
            block = rest
        return block

    def _is_header(self, row: list[str], line: int) -> bool:
        """Whether the first row is one. It settles the columns."""
        if len(row) not in FORMS:
            raise BadResults(f"line {line}: {_amount(row)}, where {EITHER} is due")
        self._columns = len(row)
        words = [field.strip().lower() for field in row]
        if words[-1] != "result":
            return False
        if len(row) == 4 and words[0] != "pair":
            raise BadResults(f"line {line}: header {quote(','.join(words))} is not {EITHER}")
        return True

    def _read_quickly(self, block: bytes) -> None:
        """Read a block in bulk. Raises Odd and others, and has kept no game then."""
        if not self._columns:
            return  # There were only blank lines so far.
        *pairs, one, other, result = split_plain(block, self._columns)
        points = self._point_lexicon.numbers(result)
        first, second = self._player_lexicon.numbers(one), self._player_lexicon.numbers(other)
        if (first == second).any():
            raise Odd
        pair = self._read_pairs(pairs[0]) if pairs else np.full(len(points), SINGLE, np.int64)
        played = points != _UNFINISHED
        if not played.all():
            self._collected.skipped["unfinished"] += int((~played).sum())
            first, second = first[played], second[played]
            points, pair = points[played], pair[played]
        self._collected.add(first, second, points, pair)

    def _read_pairs(self, fields: Fields) -> NDArray[np.int64]:
        numbers = decimals(fields)
        if numbers is None:
            kinds, samples = factorise(words_of(fields))
            texts = [self._pair(_text(text)) for text in fields.texts(samples)]
            numbers = np.array(texts, np.int64)[kinds]
        return numbers

    def _pair(self, text: str) -> int:
        """The number of a pair by its text: a decimal is its own, others are below SINGLE."""
        if DECIMAL.fullmatch(text):
            return int(text)
        return self._pairs.setdefault(text, SINGLE - len(self._pairs))

    def _read_rows(self, blocks: Iterable[bytes], before: int) -> None:
        """Read row by row, as thoroughly as can be; `before` lines were there before."""
        games = array("q")
        for line, row in self._rows(blocks, before):
            try:
                first, second = self._players[row[-3]], self._players[row[-2]]
                points = self._points[row[-1]]
                if first == second:
                    check_names(row[-3].strip(), row[-2].strip())
            except BadResults as bad:
                raise BadResults(f"line {line}: {bad}") from None
            if points == _UNFINISHED:
                self._collected.skipped["unfinished"] += 1
                continue
            pair = SINGLE if len(row) == 3 else self._pair(row[0].strip())
            games.extend((first, second, points, pair))
            if len(games) == FLUSH:
                self._collected.add_rows(games)
                games = array("q")
        self._collected.add_rows(games)

    def _rows(self, blocks: Iterable[bytes], before: int) -> Iterator[tuple[int, list[str]]]:
        """Rows of games with the line at which each begins: neither the header nor blank lines."""
        reader = csv.reader(_lines(blocks, before), strict=True)
        read = 0
        try:
            for row in reader:
                line, read = before + read + 1, reader.line_num
                if row and len(row) == self._columns:
                    yield line, row
                elif not "".join(row).strip() and len(row) < 2:
                    continue
                elif self._columns:
                    due = FORMS[self._columns]
                    raise BadResults(f"line {line}: {_amount(row)}, where {due} is due")
                elif not self._is_header(row, line):
                    yield line, row
        except csv.Error as error:
            told = next((ours for text, ours in _TROUBLES.items() if text in str(error)), error)
            raise BadResults(f"line {before + read + 1}: {told}") from None


class _Players(dict[str | bytes, int]):
    """Numbers of players by their names as they are in the file."""

    def __init__(self, collected: Collected) -> None:
        self._collected = collected

    def __missing__(self, raw: str | bytes) -> int:
        name = _text(raw)
        if not name:
            raise BadResults("a player has no name")
        number = self[raw] = self._collected.player(name)
        return number


class _Points(dict[str | bytes, int]):
    """Half points of the first player by results as they are in the file."""

    def __missing__(self, raw: str | bytes) -> int:
        points = read_points(_text(raw))
        number = self[raw] = _UNFINISHED if points is None else points
        return number


def _text(raw: str | bytes) -> str:
    return (raw if isinstance(raw, str) else raw.decode()).strip()


def _lines(blocks: Iterable[bytes], before: int) -> Iterator[str]:
    for block in blocks:
        # Not splitlines: it would break names at separators that end no line here.
        for line in decode(block, before + 1)[:-1].split("\n"):
            yield line + "\n"
        before += block.count(b"\n")


def _amount(row: list[str]) -> str:
    return "1 column" if len(row) == 1 else f"{len(row)} columns"
