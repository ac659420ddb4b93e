"""Text fields in bulk: which fields of a block are equal, without a Python object for each.

A field of up to eight bytes is one 64-bit number, loaded from wherever it starts in the block with
what follows it masked off; a longer one is several such numbers. Equal fields are found by a hash
table without chains: every row writes itself into the slot of its hash, reads the slot back, and
has found an equal if the row that it reads has the same numbers. Those that a stranger displaced
go round again with another hash, and each round settles at least one kind of field in every slot.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

WORD = 8
LONGEST = 64
"""Bytes of a field that can be read in bulk."""
DIGITS = 12
DECIMAL = re.compile(rf"0|[1-9][0-9]{{0,{DIGITS - 1}}}")
"""A number that is written in one way only, so that equal numbers are equal texts."""
_MASKS = np.array([(1 << (8 * length)) - 1 for length in range(WORD + 1)], np.uint64)
_BITS = 16
SLOTS = 1 << _BITS
_MULTIPLIER = 0x9E3779B97F4A7C15
_STEP = 0x632BE59BD9B4E018

Index = NDArray[np.intp]
Words = list[NDArray[np.uint64]]


class Fields(NamedTuple):
    """A column of a block."""

    padded: bytes
    """The block, with LONGEST bytes more behind its last field, and without zero bytes before."""
    starts: Index
    lengths: Index
    """None of them more than LONGEST."""

    def texts(self, rows: Index) -> list[bytes]:
        """As they are in the file."""
        starts, ends = self.starts[rows], self.starts[rows] + self.lengths[rows]
        both = zip(starts.tolist(), ends.tolist(), strict=True)
        return [self.padded[start:end] for start, end in both]


def words_of(fields: Fields) -> Words:
    """Fields as numbers."""
    padded, starts, lengths = fields
    # A word begins at every byte; numpy knows that it is not aligned and loads it as it should.
    loads = np.ndarray((len(padded) - WORD + 1,), np.dtype("<u8"), padded, strides=(1,))
    words: Words = []
    for offset in range(0, max(int(lengths.max(initial=0)), 1), WORD):
        word = loads[starts + offset if offset else starts]
        word &= np.take(_MASKS, lengths - offset if offset else lengths, mode="clip")
        words.append(word)
    return words


def factorise(words: Words) -> tuple[Index, Index]:
    """Which rows are equal: for every row the number of its kind, and one row of each kind."""
    count = len(words[0])
    kinds = np.empty(count, np.intp)
    samples: list[Index] = [np.empty(0, np.intp)]
    known = 0
    left = np.arange(count, dtype=np.intp)
    own = words
    multiplier = _MULTIPLIER
    table = np.empty(SLOTS, np.intp)
    while len(left):
        slots = slots_of(own, multiplier)
        table[slots] = left
        found = table[slots]
        chosen = left[found == left]
        kinds[chosen] = np.arange(known, known + len(chosen), dtype=np.intp)
        kinds[left] = kinds[found]
        samples.append(chosen)
        known += len(chosen)
        other = [word[found] != mine for word, mine in zip(words, own, strict=True)]
        left = left[np.logical_or.reduce(other)]
        own = [word[left] for word in words]
        multiplier = (multiplier + _STEP) % (1 << 64) | 1
    return kinds, np.concatenate(samples)


def slots_of(words: Words, multiplier: int = _MULTIPLIER) -> Index:
    """Hashes. The upper bits of a product depend on all bits of a word; wrapping round is meant."""
    factor = np.uint64(multiplier)
    mixed = words[0] * factor
    for word in words[1:]:
        mixed ^= mixed >> np.uint64(29)
        mixed += word
        mixed *= factor
    mixed >>= np.uint64(64 - _BITS)
    return mixed.astype(np.intp)


def decimals(fields: Fields) -> NDArray[np.int64] | None:
    """Fields as whole numbers; None unless each is written as DECIMAL says."""
    padded, starts, lengths = fields
    data = np.frombuffer(padded, np.uint8)
    longest = int(lengths.max(initial=0))
    if longest > DIGITS or not (lengths > 0).all():
        return None
    leading = data[starts]
    if ((leading == ord("0")) & (lengths > 1)).any():
        return None
    numbers = np.zeros(len(starts), np.int64)
    for place in range(longest):
        digit = data[starts + place] - np.uint8(ord("0"))
        there = lengths > place
        if (digit[there] > 9).any():
            return None
        numbers = np.where(there, numbers * 10 + digit, numbers)
    return numbers
