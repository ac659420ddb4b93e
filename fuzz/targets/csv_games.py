"""A CSV file of results.

What must hold: it is read or refused with a `BadResults`; the quick way and the thorough one agree,
in the sentence of a refusal too, whatever the size of the blocks; and what was read, written as
CSV, reads as the same.
"""

from __future__ import annotations

import csv
import io
from functools import partial

from fuzz.counting import Counted, read_with
from referee.results.blocks import BLOCK, BadResults
from referee.results.csv_file import CsvReader

RESULTS = ("0-1", "1/2-1/2", "1-0")
SMALL = 64


def try_it(data: bytes) -> None:
    thorough = _read(data, quick=False)
    for size in (BLOCK, SMALL):
        quick = _read(data, quick=True, size=size)
        if isinstance(quick, Counted) or isinstance(thorough, Counted) or _is_text(data):
            assert quick == thorough, f"in blocks of {size}: {quick} where {thorough} is due"
    if isinstance(thorough, Counted):
        again = _read(_written(thorough), quick=True)
        assert isinstance(again, Counted), f"what was read cannot be written: {again}"
        assert again.games == thorough.games


def _read(data: bytes, *, quick: bool, size: int = BLOCK) -> Counted | str:
    try:
        return read_with(partial(CsvReader, quick=quick), data, size)
    except BadResults as bad:
        return str(bad)


def _is_text(data: bytes) -> bool:
    """If not, which of several mistakes is the first one depends on the blocks."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _written(counted: Counted) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["pair", "a", "b", "result"])
    for first, second, points, pair in counted.games:
        writer.writerow(["" if pair is None else pair, first, second, RESULTS[points]])
    return text.getvalue().encode()
