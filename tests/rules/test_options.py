from __future__ import annotations

from typing import Any

import pytest

from referee.rules.deck import Deck
from referee.rules.difference import Difference
from referee.rules.duel import Duel
from referee.rules.options import BadOption
from referee.rules.target import Target
from referee.rules.underdog import Underdog
from referee.rules.variant import Variant

ALL: list[type[Variant[Any, Any]]] = [Difference, Underdog, Duel, Target, Deck]


@pytest.mark.parametrize(
    ("variant", "settings"),
    [
        (Difference, {"size": 5, "rounds": 5, "last_round": "yes"}),
        (Underdog, {"size": 10, "points": 3, "wrap": "no", "exhausted": "points"}),
        (Duel, {"size": 10, "uses": 2, "life": 20, "first": "random", "exhausted": "life"}),
        (Target, {"target": 50, "size": 9, "first": "random"}),
        (Deck, {"hp": 10, "size": 9, "copies": 4, "hand": 3, "double_knockout": "active"}),
    ],
)
def test_defaults(variant: type[Variant[Any, Any]], settings: dict[str, object]) -> None:
    assert variant().settings == settings
    assert variant(**settings).settings == settings


@pytest.mark.parametrize(
    ("variant", "given", "sentence"),
    [
        (Difference, {"size": 1}, "size of difference must be a whole number from 2 to 100, not 1"),
        (
            Difference,
            {"rounds": 6},
            "rounds of difference must be at most size, which is 5: a round uses a number",
        ),
        (Difference, {"rounds": 0}, "rounds of difference must be a whole number from 1 to 100"),
        (Difference, {"last_round": "maybe"}, "last_round of difference must be one of yes, no"),
        (Underdog, {"points": 11}, "points of underdog must be at most size, which is 10"),
        (Underdog, {"size": 2, "points": 1, "wrap": "yes"}, "wrap of underdog must be no where"),
        (Underdog, {"exhausted": 3}, "exhausted of underdog must be one of points, draw, not 3"),
        (Duel, {"life": 0}, "life of duel must be a whole number from 1 to 10000, not 0"),
        (Duel, {"uses": 2.0}, "uses of duel must be a whole number from 1 to 10, not 2.0"),
        (Duel, {"first": "seat1"}, "first of duel must be one of random, seat0, not 'seat1'"),
        (
            Duel,
            {"exhausted": "draw", "life": 51},
            "life of duel must be at most 50 where exhausted is draw: no player can deal more",
        ),
        (
            Duel,
            {"exhausted": "draw", "size": 3, "uses": 1, "life": 3},
            "life of duel must be at most 2 where exhausted is draw",
        ),
        (Target, {"target": 0}, "target of target must be a whole number from 1 to 1000000, not 0"),
        (Target, {"target": "fifty"}, "target of target must be a whole number"),
        (Target, {"size": 101}, "size of target must be a whole number from 2 to 100, not 101"),
        (Target, {"first": True}, "first of target must be one of random, seat0, not True"),
        (Deck, {"hp": 0}, "hp of deck must be a whole number from 1 to 1000, not 0"),
        (
            Deck,
            {"hand": 18},
            "hand of deck must be at most 17 where the deck has 36 cards: one must be left to draw",
        ),
        (
            Deck,
            {"size": 3, "copies": 1, "hand": 1},
            "copies of deck must be 2 or more where size is 3: a card must be left to draw",
        ),
        (
            Deck,
            {"size": 2, "copies": 1, "hand": 1, "hp": 1},
            "copies of deck must be 2 or more where size is 2: a card must be left to draw",
        ),
        (Deck, {"double_knockout": "both"}, "double_knockout of deck must be one of active, draw"),
    ],
)
def test_a_bad_option_is_refused_with_what_is_allowed(
    variant: type[Variant[Any, Any]], given: dict[str, object], sentence: str
) -> None:
    with pytest.raises(BadOption) as caught:
        variant(**given)
    assert str(caught.value).startswith(f"option {sentence}")


@pytest.mark.parametrize(
    ("variant", "given"),
    [
        (Difference, {"size": 2, "rounds": 2}),
        (Difference, {"size": 100}),
        (Underdog, {"size": 3, "wrap": True, "points": 3}),
        (Duel, {"exhausted": "draw", "life": 50}),
        (Duel, {"exhausted": "life", "life": 10_000}),
        (Target, {"target": 1}),
        (Target, {"target": 1_000_000, "size": 100}),
        (Deck, {"hand": 17}),
        (Deck, {"size": 3, "copies": 1, "hand": 1, "hp": 1}),
    ],
)
def test_the_limits_themselves_are_allowed(
    variant: type[Variant[Any, Any]], given: dict[str, object]
) -> None:
    assert variant(**given).longest() >= 2


@pytest.mark.parametrize("variant", ALL)
def test_an_unknown_option_is_refused(variant: type[Variant[Any, Any]]) -> None:
    with pytest.raises(BadOption, match=f"^{variant.name} has no option 'colour': it has "):
        variant(colour="red")


def test_a_misspelt_option_gets_a_hint() -> None:
    with pytest.raises(BadOption) as caught:
        Difference(last_rounds="no")
    assert str(caught.value) == ("difference has no option 'last_rounds': did you mean last_round?")


def test_text_from_a_command_line_is_read() -> None:
    assert Duel(life="30", first="seat0").settings["life"] == 30
    assert Difference(last_round=False).settings["last_round"] == "no"


@pytest.mark.parametrize("variant", ALL)
def test_every_variant_has_a_book_with_its_rulings(variant: type[Variant[Any, Any]]) -> None:
    book = variant.book()
    assert "\nRulings\n" in book
    assert "\nBest play\n" in book
    for option in variant.options:
        if option.choices:
            assert option.name in book
            assert f"`{option.choices[1]}`" in book
