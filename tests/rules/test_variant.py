"""What every variant says of an answer that it does not take, in whole sentences."""

from __future__ import annotations

import pytest

from referee.rules.chance import Recorded
from referee.rules.target import Target
from referee.rules.underdog import Underdog
from referee.rules.variant import IllegalMove, UnreadableMove

HELP = "a move is an integer, for example 5"


@pytest.mark.parametrize(
    ("raw", "detail"),
    [
        (5.0, "5.0 is not a move; send 5"),
        ("5", "'5' is not a move; send 5"),
        (11, "11 is not legal here; legal are [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"),
        (5.5, f"{HELP}; legal are [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"),
    ],
)
def test_answers_that_are_not_legal(raw: object, detail: str) -> None:
    with pytest.raises(IllegalMove) as caught:
        Underdog().read_move(Underdog().setup(Recorded([])), 0, raw)
    assert str(caught.value) == detail


def test_texts_are_listed_as_they_are_sent() -> None:
    game = Target(size=2, first="seat0")
    with pytest.raises(IllegalMove) as caught:
        game.read_move(game.setup(Recorded([])), 0, "+5")
    assert str(caught.value).startswith("'+5' ")
    assert str(caught.value).endswith('; legal are ["+1", "+2", "*1", "*2"]')


@pytest.mark.parametrize(
    ("raw", "kind"),
    [(True, "true or false"), (None, "null"), ([5], "a list"), ({}, "an object")],
)
def test_answers_that_are_no_moves_at_all(raw: object, kind: str) -> None:
    with pytest.raises(UnreadableMove) as caught:
        Underdog().read_move(Underdog().setup(Recorded([])), 0, raw)
    assert str(caught.value) == f"{HELP}, not {kind}"
