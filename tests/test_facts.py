"""A sentence is known by the facts that it names: whole words, in their order."""

from __future__ import annotations

import re

from tests.facts import Naming

SENTENCE = "spec.toml, line 12: games must be 1 to 100, not 0"


def test_facts_are_named_in_their_order() -> None:
    assert Naming("line 12: ", "games", "not 0") == SENTENCE
    assert Naming("games", 100) == SENTENCE
    assert Naming("not 0", "games") != SENTENCE
    assert Naming("line 12", "rounds") != SENTENCE


def test_a_fact_is_no_part_of_a_word_or_number() -> None:
    assert Naming("line 1") != SENTENCE
    assert Naming("game") != SENTENCE
    assert Naming("toml, ", "10" + "0,") == SENTENCE


def test_they_are_compared_within_other_values_and_lines() -> None:
    assert [Naming("games"), 1] == [SENTENCE, 1]
    assert Naming("line 12", "another") == f"{SENTENCE}\nanother"
    assert Naming("0") != 0


def test_words_that_are_left_out() -> None:
    told = Naming.of("spec.toml, line 12: … 1 to 100, not 0")
    assert told == SENTENCE
    assert repr(told) == "Naming('spec.toml, line 12: ', ' 1 to 100, not 0')"
    assert re.search(told.pattern, SENTENCE)
