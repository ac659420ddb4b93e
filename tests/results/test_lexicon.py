"""Texts found in bulk: every text has one number, whatever came before it and in its slot."""

from __future__ import annotations

import random

import numpy as np
import pytest

from referee.results.fields import LONGEST, SLOTS, Fields
from referee.results.lexicon import Lexicon


def column(texts: list[bytes]) -> Fields:
    """These texts as they would stand in a block."""
    lengths = np.array([len(text) for text in texts], np.intp)
    starts = np.cumsum(lengths + 1) - lengths - 1
    return Fields(b",".join(texts) + bytes(LONGEST), starts.astype(np.intp), lengths)


def numbered(seen: dict[bytes, int]) -> Lexicon[np.int32]:
    return Lexicon(lambda text: seen.setdefault(text, len(seen)), np.int32)


def test_a_text_keeps_its_number() -> None:
    seen: dict[bytes, int] = {}
    lexicon = numbered(seen)
    for texts in ([b"a", b"b", b"a"], [b"c", b"b", b"a", b""], []):
        assert lexicon.numbers(column(texts)).tolist() == [seen[text] for text in texts]
    assert sorted(seen.values()) == [0, 1, 2, 3]


def test_texts_of_all_lengths_in_any_order() -> None:
    chance = random.Random(1)
    texts = [b"x" * length for length in range(LONGEST + 1)]
    texts += [b"x" * length + b"y" for length in range(LONGEST)]
    seen: dict[bytes, int] = {}
    lexicon = numbered(seen)
    for _ in range(20):
        block = chance.choices(texts, k=chance.randrange(50))
        block = block if chance.random() < 0.5 else [text for text in block if len(text) <= 8]
        assert lexicon.numbers(column(block)).tolist() == [seen[text] for text in block]


def test_more_texts_than_slots() -> None:
    texts = [str(number).encode() for number in range(SLOTS + 5000)]
    seen: dict[bytes, int] = {}
    lexicon = numbered(seen)
    for part in (texts[:40_000], texts[30_000:], texts[::-1]):
        assert lexicon.numbers(column(part)).tolist() == [seen[text] for text in part]
    assert len(seen) == len(texts)


def test_what_is_refused_is_not_learned() -> None:
    def number(text: bytes) -> int:
        if text == b"bad":
            raise KeyError(text)
        return 7

    lexicon = Lexicon(number, np.int8)
    for _ in range(2):
        with pytest.raises(KeyError):
            lexicon.numbers(column([b"good", b"bad"]))
    assert lexicon.numbers(column([b"good"])).tolist() == [7]
