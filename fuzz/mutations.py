"""Inputs bent without guidance: the same ones for the same seed, so that a test can try them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

LONGEST = 8192
_ODD = (b"\0", b"\xff", b"\n", b"\r", b'"', b"\\", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"9" * 20)


def mutations(seeds: Sequence[bytes], words: Sequence[str], seed: int) -> Iterator[bytes]:
    """Seeds with a few changes each, without end."""
    chance = random.Random(seed)
    pieces = [*(word.encode() for word in words), *_ODD]
    while True:
        data = bytearray(chance.choice(seeds))
        for _ in range(chance.choice((1, 1, 2, 3, 8))):
            _change(data, seeds, pieces, chance)
        yield bytes(data[:LONGEST])


def _change(
    data: bytearray, seeds: Sequence[bytes], pieces: Sequence[bytes], chance: random.Random
) -> None:
    at = chance.randint(0, len(data))
    end = min(len(data), at + chance.choice((1, 1, 2, 8, 40)))
    how = chance.randrange(7)
    if how == 0:
        data[at:end] = chance.randbytes(end - at)
    elif how == 1:
        del data[at:end]
    elif how == 2:
        data[at:at] = data[at:end] * chance.choice((1, 2, 50))
    elif how == 3:
        data[at:at] = chance.choice(pieces)
    elif how == 4:
        data[at:end] = chance.choice(pieces)
    elif how == 5:
        other = chance.choice(seeds)
        data[at:] = other[chance.randint(0, len(other)) :]
    elif at < len(data):
        data[at] ^= 1 << chance.randrange(8)
