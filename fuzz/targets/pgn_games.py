"""A PGN file of results.

What must hold: it is read or refused with a `BadResults`, and the same whatever the size of the
blocks; what was read, written as PGN, reads as the same; and nothing is made of a pair.
"""

from __future__ import annotations

from fuzz.counting import Counted, read_with
from referee.results.blocks import BLOCK, BadResults
from referee.results.pgn_file import PgnReader

RESULTS = ("0-1", "1/2-1/2", "1-0")
SMALL = 64


def try_it(data: bytes) -> None:
    whole, small = _read(data, BLOCK), _read(data, SMALL)
    assert whole == small, f"in blocks of {SMALL}: {small} where {whole} is due"
    if isinstance(whole, Counted):
        assert len(whole.games) + sum(whole.skipped.values()) <= data.count(b"White")
        again = _read(_written(whole), BLOCK)
        assert isinstance(again, Counted), f"what was read cannot be written: {again}"
        assert again.games == whole.games


def _read(data: bytes, size: int) -> Counted | str:
    try:
        return read_with(PgnReader, data, size)
    except BadResults as bad:
        return str(bad)


def _written(counted: Counted) -> bytes:
    games = []
    for first, second, points, pair in counted.games:
        assert pair is None
        tags = {"White": first, "Black": second, "Result": RESULTS[points]}
        games += [f'[{tag} "{_escaped(text)}"]' for tag, text in tags.items()]
        games += ["", RESULTS[points], ""]
    return "\n".join(games).encode()


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
