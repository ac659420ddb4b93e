"""Blocks of plain CSV in bulk: where the fields are.

Plain is what has the same number of fields in every line and no quotes. All commas and line ends
are found at once, and they have to alternate as the columns do. Whatever is not plain raises Odd,
and is for the csv module to read or to refuse.
"""

from __future__ import annotations

import numpy as np

from referee.results.fields import LONGEST, Fields

_COMMA, _LINE_END, _RETURN = b",\n\r"


class Odd(Exception):
    """A block that is not plain."""


def without_quotes(block: bytes) -> bytes | None:
    """The same rows without quotes, if there are none or all fields are in quotes needlessly."""
    if b'"' not in block:
        return block
    inner = block.removeprefix(b'"').replace(b"\r\n", b"\n").removesuffix(b'"\n') + b"\n"
    plain = inner.replace(b'","', b",").replace(b'"\n"', b"\n")
    # Two for every comma and line end, and none is left: each of them stood between two quotes.
    needless = 2 * (plain.count(b",") + plain.count(b"\n"))
    return plain if b'"' not in plain and block.count(b'"') == needless else None


def split_plain(block: bytes, columns: int) -> list[Fields]:
    """The columns of a block of whole lines. Raises Odd."""
    found = _split(block, columns)
    if found is None:
        # Blank lines, and two kinds of line ends, are too rare to look for in every block.
        lines = block.replace(b"\r\n", b"\n").split(b"\n")
        found = _split(b"\n".join([*filter(None, lines), b""]), columns)
    if found is None:
        raise Odd
    return found


def _split(block: bytes, columns: int) -> list[Fields] | None:
    """The same where no line is blank and all end alike, else None."""
    if b"\0" in block or b'"' in block:
        return None
    padded = block + bytes(LONGEST)
    data = np.frombuffer(padded, np.uint8)
    line_ends = data == _LINE_END
    ends = np.flatnonzero(line_ends | (data == _COMMA))
    lines, left = divmod(len(ends), columns)
    last = ends[columns - 1 :: columns]
    # Every third of three ends a line, and so many lines there are: all others are commas.
    if left or np.count_nonzero(line_ends) != lines or not line_ends[last].all():
        return None
    starts = np.empty_like(ends)
    starts[:1] = 0
    np.add(ends[:-1], 1, out=starts[1:])
    lengths = ends - starts
    if b"\r" in block:
        returns = data == _RETURN
        if np.count_nonzero(returns) != lines or not returns[last - 1].all():
            return None
        lengths[columns - 1 :: columns] -= 1
    if lengths.max(initial=0) > LONGEST:
        return None
    return [
        Fields(padded, starts[column::columns], lengths[column::columns])
        for column in range(columns)
    ]
