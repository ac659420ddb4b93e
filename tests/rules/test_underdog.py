from __future__ import annotations

import pytest

from referee.rules.chance import Recorded
from referee.rules.underdog import Position, Underdog
from referee.rules.variant import IllegalMove, Outcome, UnreadableMove
from tests.facts import Naming
from tests.rules import play, wire

NAMES = ("Player 1", "Player 2")
LUCK = Recorded([])
ALL = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)


def start(game: Underdog) -> Position:
    return game.setup(LUCK)


def finish(game: Underdog, *rounds: tuple[int, int]) -> Outcome | None:
    return game.outcome(play(game, start(game), *rounds))


def round_winner(game: Underdog, first: int, second: int) -> int | None:
    points = play(game, start(game), (first, second)).points
    return {(1, 0): 0, (0, 1): 1, (0, 0): None}[points]


def test_the_first_two_rounds_of_the_sample() -> None:
    game = Underdog()
    position = start(game)
    assert position == Position((ALL, ALL), (0, 0), 0)
    first = play(game, position, (7, 8))
    assert first.points == (1, 0)
    assert first.left == ((1, 2, 3, 4, 5, 6, 8, 9, 10), (1, 2, 3, 4, 5, 6, 7, 9, 10))
    lines = game.narrate(position, ((0, 7), (1, 8)), first, NAMES)
    assert lines == [
        "Round 1",
        "  Player 1 chose: 7",
        "  Player 2 chose: 8",
        "  Underdog Rule Activated! Player 1 wins the round!",
        "  Current scores: Player 1 1, Player 2 0",
    ]
    second = play(game, first, (10, 6))
    assert second.points == (2, 0)
    assert second.left == ((1, 2, 3, 4, 5, 6, 8, 9), (1, 2, 3, 4, 5, 7, 9, 10))
    lines = game.narrate(first, ((0, 10), (1, 6)), second, NAMES)
    assert lines[3] == "  Player 1 wins the round!"


def test_the_third_round_of_the_sample_is_illegal() -> None:
    """Player 2 has spent the 6, which the book plays and lists again."""
    game = Underdog()
    position = play(game, start(game), (7, 8), (10, 6))
    assert game.prompt(position, 0, NAMES)[-1] == (
        "Player 1, enter your chosen number from your available numbers [1, 2, 3, 4, 5, 6, 8, 9]: "
    )
    assert game.read_move(position, 0, 5) == 5
    with pytest.raises(IllegalMove) as caught:
        game.read_move(position, 1, 6)
    assert str(caught.value) == Naming(6, "[1, 2, 3, 4, 5, 7, 9, 10]")


def test_five_beats_six_and_three_points_win() -> None:
    game = Underdog()
    end = play(game, start(game), (7, 8), (10, 1), (5, 6))
    assert end.points == (3, 0)
    assert game.actors(end) == ()
    assert game.outcome(end) == Outcome(0, "points")
    assert game.conclusion(end, NAMES) == [
        "Player 1 has reached 3 points and wins the game 3 to 0!"
    ]


def test_the_round_winner_for_every_pair() -> None:
    game = Underdog()
    for first in ALL:
        for second in ALL:
            winner = round_winner(game, first, second)
            if first == second:
                assert winner is None
            elif second - first == 1:
                assert winner == 0
            elif first - second == 1:
                assert winner == 1
            else:
                assert winner == (0 if max(first, second) == first else 1)


def test_the_same_number_wins_nothing_and_is_gone() -> None:
    game = Underdog()
    before = start(game)
    after = play(game, before, (4, 4))
    assert after.points == (0, 0)
    assert 4 not in after.left[0] and 4 not in after.left[1]
    assert game.events(before, ((0, 4), (1, 4)), after, 0) == [
        {"round": 1, "mine": 4, "theirs": 4, "result": "tied"}
    ]


def test_wrap() -> None:
    assert round_winner(Underdog(), 10, 1) == 0
    wrapping = Underdog(wrap="yes")
    assert round_winner(wrapping, 10, 1) == 1
    assert round_winner(wrapping, 1, 10) == 0
    assert round_winner(wrapping, 9, 10) == 0
    assert round_winner(wrapping, 10, 2) == 0
    assert round_winner(Underdog(size=5, wrap="yes"), 5, 1) == 1


def test_numbers_that_run_out_with_level_points() -> None:
    ties = [(number, number) for number in ALL]
    game = Underdog()
    end = play(game, start(game), *ties)
    assert game.actors(end) == ()
    assert game.outcome(end) == Outcome(None, "level_points")
    (told,) = game.conclusion(end, NAMES)
    assert told == Naming("numbers", "draw at 0 to 0.")
    assert finish(Underdog(exhausted="draw"), *ties) == Outcome(None, "exhausted")


def test_numbers_that_run_out_with_more_points_for_one() -> None:
    rounds = ((1, 3), (3, 2), (2, 4), (4, 1))  # seat 1 wins three times, seat 0 the last one
    game = Underdog(size=4, points=4)
    end = play(game, start(game), *rounds)
    assert game.scores(end) == (1, 3)
    assert game.outcome(end) == Outcome(1, "more_points")
    assert game.conclusion(end, NAMES)[0].endswith("Player 2 wins the game 3 to 1!")
    assert finish(Underdog(size=4, points=4, exhausted="draw"), *rounds) == Outcome(
        None, "exhausted"
    )


def test_points_option() -> None:
    assert finish(Underdog(points=1), (7, 8)) == Outcome(0, "points")
    assert finish(Underdog(points=2), (7, 8)) is None
    assert finish(Underdog(points=1), (8, 7)) == Outcome(1, "points")


def test_a_game_lasts_from_three_to_ten_rounds() -> None:
    game = Underdog()
    positions = {start(game)}
    for _ in range(2):
        positions = {
            game.apply(position, ((0, first), (1, second)), LUCK)
            for position in positions
            for first in game.legal(position, 0)
            for second in game.legal(position, 1)
        }
        assert all(game.outcome(position) is None for position in positions)
    assert finish(game, (10, 1), (9, 2), (8, 3)) == Outcome(0, "points")
    nine_ties = play(game, start(game), *[(number, number) for number in ALL[:9]])
    assert game.actors(nine_ties) == (0, 1)
    assert game.actors(play(game, nine_ties, (10, 10))) == ()
    assert game.longest() == 20


def test_the_view_and_the_events_from_both_sides() -> None:
    game = Underdog()
    before = start(game)
    after = play(game, before, (7, 8))
    assert wire(game.view(after, 1)) == {
        "round": 2,
        "mine": {"numbers": [1, 2, 3, 4, 5, 6, 7, 9, 10], "points": 0},
        "theirs": {"numbers": [1, 2, 3, 4, 5, 6, 8, 9, 10], "points": 1},
    }
    plays = ((0, 7), (1, 8))
    assert game.events(before, plays, after, 0) == [
        {"round": 1, "mine": 7, "theirs": 8, "result": "won"}
    ]
    assert game.events(before, plays, after, 1) == [
        {"round": 1, "mine": 8, "theirs": 7, "result": "lost"}
    ]


@pytest.mark.parametrize(
    ("raw", "detail"),
    [
        (5.0, Naming("5.0", "send 5")),
        ("5", Naming("'5'", "send 5")),
        (7, Naming(7, "[1, 2, 3, 4, 5, 6, 8, 9, 10]")),
        (11, Naming(11, "[1, 2, 3, 4, 5, 6, 8, 9, 10]")),
        (-1, Naming(-1, "[1, 2, 3, 4, 5, 6, 8, 9, 10]")),
        (5.5, Naming("integer", "[1, 2, 3, 4, 5, 6, 8, 9, 10]")),
    ],
)
def test_answers_that_are_not_legal(raw: object, detail: Naming) -> None:
    game = Underdog()
    position = play(game, start(game), (7, 8))
    with pytest.raises(IllegalMove) as caught:
        game.read_move(position, 0, raw)
    assert str(caught.value) == detail


@pytest.mark.parametrize(
    ("raw", "kind"),
    [(True, "true or false"), (None, "null"), ([5], "a list"), ({}, "an object")],
)
def test_answers_that_are_no_moves_at_all(raw: object, kind: str) -> None:
    with pytest.raises(UnreadableMove) as caught:
        Underdog().read_move(start(Underdog()), 0, raw)
    assert str(caught.value) == Naming("integer", f"not {kind}")


def test_typed_moves() -> None:
    game = Underdog()
    assert game.typed_move("5") == 5
    assert game.typed_move(" play 5 ") == 5
    assert game.typed_move("Play 5") == 5
    assert game.typed_move("five") == "five"
