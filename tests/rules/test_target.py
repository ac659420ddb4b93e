from __future__ import annotations

import pytest

from referee.rules.chance import Recorded, Seeded
from referee.rules.target import Position, Target
from referee.rules.variant import IllegalMove, Outcome, UnreadableMove
from tests.facts import Naming
from tests.rules import play, wire

NAMES = ("Alice", "Bob")
LUCK = Recorded([])
ALL = (1, 2, 3, 4, 5, 6, 7, 8, 9)
A_NUMBER = "and a number, for example"


def seat0(**options: object) -> Target:
    return Target(first="seat0", **options)


def start(game: Target) -> Position:
    return game.setup(Recorded([]))


def test_who_begins_is_one_pick_of_two() -> None:
    game = Target()
    assert game.setup(Recorded([1])) == Position((ALL, ALL), (0, 0), 1, 0)
    assert game.actors(game.setup(Recorded([1]))) == (1,)
    assert game.actors(game.setup(Recorded([0]))) == (0,)
    untouched = Seeded("x")
    assert seat0().setup(untouched).mover == 0
    assert untouched.outcomes == []


def test_the_sample_game_turn_by_turn() -> None:
    game = seat0(target=20)
    position = start(game)
    assert position.left == (ALL, ALL)
    position = play(game, position, "+5")
    assert position.score == (5, 0)
    assert position.left[0] == (1, 2, 3, 4, 6, 7, 8, 9)
    position = play(game, position, "*3")
    assert position.score == (5, 0)
    assert position.left[1] == (1, 2, 4, 5, 6, 7, 8, 9)
    assert game.outcome(position) is None
    end = play(game, position, "*4")
    assert end.score == (20, 0)
    assert game.events(position, ((0, "*4"),), end, 1) == [
        {"by": "theirs", "move": "*4", "score": 20, "overshot": False}
    ]
    assert end.left[0] == (1, 2, 3, 6, 7, 8, 9)
    assert game.actors(end) == ()
    assert game.outcome(end) == Outcome(0, "target")
    (told,) = game.conclusion(end, NAMES)
    assert told == Naming("Alice has reached 20", "wins the game!")


def test_the_command_line_sample_where_it_is_right() -> None:
    game = seat0(target=20)
    position = start(game)
    assert game.opening(position, NAMES) == [
        "Target Score: 20",
        "Alice and Bob hold 1 to 9 each. Alice begins.",
    ]
    assert game.prompt(position, 0, NAMES)[1:3] == [
        "Alice's Turn. Current Score: 0",
        "Available Numbers: 1,2,3,4,5,6,7,8,9",
    ]
    after = play(game, position, "+5")
    assert game.narrate(position, ((0, "+5"),), after, NAMES) == [
        "Alice's Turn. Current Score: 0",
        "  Alice plays +5: 0 + 5 = 5",
        "  Alice's new score is 5",
    ]
    assert game.prompt(after, 1, NAMES)[1] == "Bob's Turn. Current Score: 0"
    later = play(game, after, "*3")
    assert game.narrate(after, ((1, "*3"),), later, NAMES)[-1] == "  Bob's new score is 0"
    assert game.prompt(later, 0, NAMES) == [
        "Target Score: 20. Bob's Score: 0. Bob's Numbers: 1,2,4,5,6,7,8,9",
        "Alice's Turn. Current Score: 5",
        "Available Numbers: 1,2,3,4,6,7,8,9",
        f"Choose an operation (+ or *) {A_NUMBER} +1: ",
    ]
    end = play(game, later, "*4")
    assert game.narrate(later, ((0, "*4"),), end, NAMES)[1:] == [
        "  Alice plays *4: 5 × 4 = 20",
        "  Alice's new score is 20",
    ]


@pytest.mark.parametrize(
    ("played", "seat", "printed", "move"),
    [
        (("+5",), 1, (1, 2, 4, 5, 6, 7, 8, 9), "*3"),
        (("+5", "*3"), 0, (1, 2, 3, 6, 7, 8, 9), "*4"),
    ],
)
def test_the_sample_prints_lists_that_already_lack_the_move(
    played: tuple[str, ...], seat: int, printed: tuple[int, ...], move: str
) -> None:
    game = seat0(target=20)
    before = play(game, start(game), *played)
    legal_by_the_list = [f"{sign}{number}" for sign in "+*" for number in printed]
    assert move not in legal_by_the_list
    assert move in game.legal(before, seat)
    assert game.legal(before, seat) != legal_by_the_list
    assert play(game, before, move).left[seat] == printed


def test_overshooting_53_falls_to_25() -> None:
    game = seat0()
    before = play(game, start(game), "+6", "+1", "*7", "+2", "+2", "+3")
    assert before.score[0] == 44
    after = play(game, before, "+9")
    assert after.score[0] == 25
    (event,) = game.events(before, ((0, "+9"),), after, 0)
    assert event == {"by": "mine", "move": "+9", "score": 25, "overshot": True}
    assert game.narrate(before, ((0, "+9"),), after, NAMES)[1:] == [
        "  Alice plays +9: 44 + 9 = 53",
        "  Overshot! 53 is over 50: back to half the target.",
        "  Alice's new score is 25",
    ]


@pytest.mark.parametrize(
    ("target", "moves", "score"),
    [
        (50, ("+9", "*1", "*8"), 25),
        (51, ("+9", "*1", "*8"), 25),
        (7, ("+9",), 3),
        (1, ("+2",), 0),
    ],
    ids=["after a product", "an odd target", "at once", "half of one is zero"],
)
def test_the_fall_is_to_half_rounded_down(target: int, moves: tuple[str, ...], score: int) -> None:
    game = seat0(target=target)
    assert play(game, start(game), *moves).score[0] == score


def test_falling_onto_half_is_told_apart_from_landing_there() -> None:
    game = seat0(target=10)
    before = start(game)
    after = play(game, before, "+5")
    (event,) = game.events(before, ((0, "+5"),), after, 1)
    assert event == {"by": "theirs", "move": "+5", "score": 5, "overshot": False}


def test_a_player_with_numbers_has_to_play_even_beyond_the_target() -> None:
    game = seat0()
    position = Position(((2,), (1, 3)), (49, 40), 0, 15)
    assert game.actors(position) == (0,)
    assert game.legal(position, 0) == ["+2", "*2"]
    assert play(game, position, "+2").score == (25, 40)


def test_a_player_without_numbers_is_skipped() -> None:
    game = seat0()
    before = Position(((), (1, 3)), (40, 0), 1, 16)
    after = play(game, before, "+1")
    assert game.actors(after) == (1,)
    assert game.narrate(before, ((1, "+1"),), after, NAMES)[-1] == (
        "  Alice has no numbers left and is skipped."
    )
    end = play(game, after, "+3")
    assert game.actors(end) == ()
    assert game.outcome(end) == Outcome(0, "higher_score")
    assert "skipped" not in "".join(game.narrate(after, ((1, "+3"),), end, NAMES))


@pytest.mark.parametrize(
    ("moves", "scores", "outcome"),
    [
        (("+1", "*1", "+2", "*2"), (3, 0), Outcome(0, "higher_score")),
        (("*2", "+1", "+1", "+2"), (1, 3), Outcome(1, "higher_score")),
        (("+1", "+2", "+2", "+1"), (3, 3), Outcome(None, "level_score")),
    ],
)
def test_nobody_has_a_number_left(
    moves: tuple[str, ...], scores: tuple[int, int], outcome: Outcome
) -> None:
    game = seat0(size=2)
    assert game.outcome(play(game, start(game), *moves[:-1])) is None
    end = play(game, start(game), *moves)
    assert game.actors(end) == ()
    assert game.scores(end) == scores
    assert game.outcome(end) == outcome
    assert game.conclusion(end, NAMES)[0].startswith("The numbers have ")


def test_the_second_player_can_win_too() -> None:
    game = Target(target=9)
    position = game.setup(Recorded([1]))
    assert game.outcome(play(game, position, "*1", "+9")) == Outcome(0, "target")
    assert game.outcome(play(game, position, "+9")) == Outcome(1, "target")


def test_no_game_to_50_ends_before_its_fifth_play() -> None:
    game = seat0()
    positions = {start(game)}
    for played in range(4):
        positions = {
            game.apply(position, ((played % 2, move),), LUCK)
            for position in positions
            for move in game.legal(position, played % 2)
        }
        assert all(game.outcome(position) is None for position in positions)
    end = play(game, start(game), "+6", "+1", "*8", "+2", "+2")
    assert end.played == 5
    assert game.outcome(end) == Outcome(0, "target")


def test_a_game_lasts_eighteen_plays_at_most() -> None:
    game = seat0()
    adding_nothing = [f"*{number}" for number in ALL for _ in (0, 1)]
    assert game.actors(play(game, start(game), *adding_nothing[:-1])) == (1,)
    end = play(game, start(game), *adding_nothing)
    assert game.actors(end) == ()
    assert game.outcome(end) == Outcome(None, "level_score")
    assert game.longest() == 18


def test_twenty_ways_to_50_in_three_plays_of_one_player() -> None:
    game = seat0()
    lines: dict[tuple[str, ...], Position] = {(): Position((ALL, ()), (0, 0), 0, 0)}
    for _ in range(3):
        assert all(position.score[0] != 50 for position in lines.values())
        lines = {
            (*line, move): game.apply(position, ((0, move),), LUCK)
            for line, position in lines.items()
            for move in game.legal(position, 0)
        }
    ways = [line for line, position in lines.items() if position.score[0] == 50]
    assert len(ways) == 20
    assert ("+6", "*8", "+2") in ways
    assert sum(line[2] == "*5" for line in ways) == 8
    assert sum(line[2] == "*2" for line in ways) == 8


def test_views_and_events_from_both_sides() -> None:
    game = seat0(size=3)
    before = play(game, start(game), "+3")
    after = play(game, before, "*2")
    view = {
        "target": 50,
        "turn": 3,
        "mine": {"numbers": [1, 2], "score": 3},
        "theirs": {"numbers": [1, 3], "score": 0},
    }
    assert wire(game.view(after, 0)) == view
    assert wire(game.view(after, 1)) == {**view, "mine": view["theirs"], "theirs": view["mine"]}
    told = {"move": "*2", "score": 0, "overshot": False}
    assert game.events(before, ((1, "*2"),), after, 0) == [{"by": "theirs", **told}]
    assert game.events(before, ((1, "*2"),), after, 1) == [{"by": "mine", **told}]


@pytest.mark.parametrize(
    ("typed", "move"),
    [
        ("+5", "+5"),
        ("5 +", "+5"),
        ("5+", "+5"),
        ("* 5", "*5"),
        ("x5", "*5"),
        ("X 5", "*5"),
        ("×5", "*5"),
        ("5 *", "*5"),
        ("5 × ", "*5"),
        (" play +5", "+5"),
        ("+05", "+5"),
        ("5", "5"),
        ("+", "+"),
        ("+5+", "+5+"),
        ("-5", "-5"),
        ("", ""),
    ],
)
def test_typed_moves(typed: str, move: str) -> None:
    assert Target().typed_move(typed) == move


HELP = f'a move is a string of + or * {A_NUMBER} "+5" or "*5"'
LEGAL = '["+1", "+2", "*1", "*2"]'


@pytest.mark.parametrize(
    ("raw", "detail"),
    [
        ("+5", Naming("'+5'", LEGAL)),
        ("5", Naming("'5'", LEGAL)),
        ("+ 1", Naming("'+ 1'", LEGAL)),
        ("×1", Naming("'×1'", LEGAL)),
        (1, Naming(HELP, LEGAL)),
        (5, Naming(HELP, LEGAL)),
        (5.0, Naming(HELP, LEGAL)),
    ],
)
def test_answers_that_are_not_legal(raw: object, detail: Naming) -> None:
    game = seat0(size=2)
    with pytest.raises(IllegalMove) as caught:
        game.read_move(start(game), 0, raw)
    assert str(caught.value) == detail


@pytest.mark.parametrize("raw", [True, None, ["+5"], [5]])
def test_answers_that_are_no_moves_at_all(raw: object) -> None:
    with pytest.raises(UnreadableMove) as caught:
        seat0().read_move(start(seat0()), 0, raw)
    assert str(caught.value).startswith(HELP + ", not ")


def test_a_number_serves_one_operation_only() -> None:
    game = seat0()
    position = play(game, start(game), "+5", "+1")
    for move in ("+5", "*5"):
        with pytest.raises(IllegalMove):
            game.read_move(position, 0, move)
    assert game.read_move(position, 0, "*6") == "*6"
