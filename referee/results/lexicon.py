"""Texts that come again and again, found in bulk: for a column of a block a number for each row.

A table without chains holds what has been seen: the words of a text stand in the slot of its hash.
Rows that are not found there are told apart by `factorise`, every different text among them is
asked for once, and takes its slot unless another text is there. So of a long file almost every row
is one look into the table, and the few whose slot is another's go the long way each time.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, repeat
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from referee.results.fields import SLOTS, Fields, Index, Words, factorise, slots_of, words_of

Scalar = TypeVar("Scalar", bound=np.generic)

_FREE = 1 << 8
"""The first word of no text: a zero byte, and another behind it."""
_NOTHING = np.uint64(0)


class Lexicon(Generic[Scalar]):
    """Numbers of texts. `number` gives that of a new one, or raises."""

    def __init__(self, number: Callable[[bytes], int], kind: type[Scalar]) -> None:
        self._number = number
        self._words: Words = [np.full(SLOTS, _FREE, np.uint64)]
        self._numbers = np.zeros(SLOTS, kind)

    def numbers(self, fields: Fields) -> NDArray[Scalar]:
        """Of every field."""
        words = words_of(fields)
        while len(self._words) < len(words):
            self._words.append(np.zeros(SLOTS, np.uint64))
        slots = slots_of(words)
        found = self._numbers[slots]
        # Another block may have had longer texts.
        own = chain(words, repeat(_NOTHING))
        other = [known[slots] != word for known, word in zip(self._words, own, strict=False)]
        new = np.flatnonzero(np.logical_or.reduce(other))
        if len(new):
            found[new] = self._learn(fields, new, [word[new] for word in words], slots[new])
        return found

    def _learn(self, fields: Fields, rows: Index, words: Words, slots: Index) -> NDArray[Scalar]:
        kinds, samples = factorise(words)
        texts = fields.texts(rows[samples])
        numbers = np.array([self._number(text) for text in texts], self._numbers.dtype)
        free = self._words[0][slots[samples]] == _FREE
        taken, chosen = slots[samples[free]], samples[free]
        self._numbers[taken] = numbers[free]
        for known, word in zip(self._words, words, strict=False):
            known[taken] = word[chosen]
        return numbers[kinds]
