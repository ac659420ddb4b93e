"""Bytes of a result file in blocks of whole lines, and the sentence for a file that cannot be read.

Blocks are of half a megabyte: what is computed on one stays in the processor's cache, and the
memory that is needed does not grow with the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import numpy as np

from referee.mistake import Mistake

BLOCK = 1 << 19
LONGEST_LINE = 16 * 1024 * 1024
BOM = b"\xef\xbb\xbf"
SHOWN = 60
_LINE_END = ord("\n")


class BadResults(Mistake):
    """Results that cannot be read; the message says where and what would be right."""


class Blocks:
    """A file in blocks of whole lines; each ends with a line end, the last one is given one.

    A line without end is refused, so that it cannot fill the memory. The mark with which some
    editors begin a file of UTF-8 is left out.
    """

    def __init__(self, file: IO[bytes], size: int = BLOCK) -> None:
        self.before = 0
        """How many lines there were before the block that was given last."""
        self._file = file
        self._size = size
        self._lines = 0
        self._left = b""
        self._peeked = self._take(file.read(size).removeprefix(BOM))

    def peek(self) -> bytes:
        """The first block, before it is taken; empty if there is none."""
        return self._peeked

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        block = self._peeked or self._take(self._file.read(self._size))
        self._peeked = b""
        if not block:
            raise StopIteration
        self.before = self._lines
        # Quicker than block.count, which begins a search of its own behind every line.
        self._lines += int(np.count_nonzero(np.frombuffer(block, np.uint8) == _LINE_END))
        return block

    def _take(self, data: bytes) -> bytes:
        """The lines that these data complete; more is read as long as there are none."""
        parts: list[bytes | memoryview] = [self._left]
        waiting = len(self._left)
        while data:
            end = data.rfind(b"\n") + 1
            if end:
                self._left = data[end:]
                return b"".join([*parts, memoryview(data)[:end]])
            parts.append(data)
            waiting += len(data)
            if waiting > LONGEST_LINE:
                raise BadResults(f"line {self._lines + 1}: longer than {LONGEST_LINE:,} bytes")
            data = self._file.read(self._size)
        self._left = b""
        return b"".join([*parts, b"\n"]) if waiting else b""


def decode(text: bytes, line: int) -> str:
    """Text of a file. Raises BadResults, which names the line."""
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        line += text.count(b"\n", 0, error.start)
        raise BadResults(f"line {line}: not UTF-8; save the file as UTF-8") from None


def quote(text: str) -> str:
    """A piece of the file as it is shown in a sentence."""
    return f'"{text}"' if len(text) <= SHOWN else f'"{text[: SHOWN - 1]}…"'
