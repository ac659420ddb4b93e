from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import permutations

import pytest

from referee.rules.chance import Recorded
from referee.rules.difference import Difference, Position
from referee.rules.variant import IllegalMove, Outcome, UnreadableMove
from tests.facts import Naming
from tests.rules import play, wire

NAMES = ("Player A", "Player B")
LUCK = Recorded([])

# The sample game: plays, winner, points gained, numbers left, points after the round.
SAMPLE = [
    ((3, 2), 0, 1, ((1, 2, 4, 5), (1, 3, 4, 5)), (1, 0)),
    ((5, 4), 0, 1, ((1, 2, 4), (1, 3, 5)), (2, 0)),
    ((2, 5), 1, 3, ((1, 4), (1, 3)), (2, 3)),
    ((4, 1), 0, 3, ((1,), (3,)), (5, 3)),
    ((1, 3), 1, 2, ((), ()), (5, 5)),
]


def start(game: Difference) -> Position:
    return game.setup(LUCK)


def finish(game: Difference, *rounds: tuple[int, int]) -> Outcome | None:
    return game.outcome(play(game, start(game), *rounds))


def test_the_sample_game_round_by_round() -> None:
    game = Difference()
    position = start(game)
    assert position.left == ((1, 2, 3, 4, 5), (1, 2, 3, 4, 5))
    for number, (plays, winner, gained, left, points) in enumerate(SAMPLE, start=1):
        assert game.outcome(position) is None
        before, position = position, play(game, position, plays)
        assert (position.left, position.points) == (left, points)
        assert position.last == winner
        told = game.events(before, ((0, plays[0]), (1, plays[1])), position, winner)
        assert told == [
            {
                "round": number,
                "mine": plays[winner],
                "theirs": plays[1 - winner],
                "result": "won",
                "points": gained,
            }
        ]
    assert game.actors(position) == ()
    assert game.scores(position) == (5, 5)
    assert position.won == (3, 2)
    assert game.outcome(position) == Outcome(0, "rounds_won")


def test_the_command_line_sample() -> None:
    game = Difference()
    position = start(game)
    ask = "{}, select your number from {}: "
    for seat in (0, 1):
        assert game.prompt(position, seat, NAMES)[-1] == ask.format(NAMES[seat], "[1, 2, 3, 4, 5]")
    after = play(game, position, (3, 2))
    assert game.narrate(position, ((0, 3), (1, 2)), after, NAMES) == [
        "Round 1",
        "  Player A plays 3.",
        "  Player B plays 2.",
        "  Player A wins the round! Points gained: 1",
        "  Points: Player A 1, Player B 0",
    ]
    assert game.prompt(after, 0, NAMES)[0] == "Round 2 of 5. Player B holds [1, 3, 4, 5]."
    assert game.prompt(after, 0, NAMES)[-1] == ask.format("Player A", "[1, 2, 4, 5]")
    assert game.prompt(after, 1, NAMES)[-1] == ask.format("Player B", "[1, 3, 4, 5]")
    assert game.conclusion(after, NAMES) == []
    final, winner = game.conclusion(play(game, after, *(row[0] for row in SAMPLE[1:])), NAMES)
    assert final == "Final scores: Player A 5 points, Player B 5 points."
    assert winner == "Player A won more rounds, 3 to 2, and is the winner!"


def test_the_scoring_example() -> None:
    game = Difference()
    position = play(game, start(game), (5, 3))
    assert position.points == (2, 0)
    assert play(game, position, (2, 4)).points == (2, 2)


def test_a_tied_round_scores_nothing_and_uses_both_numbers() -> None:
    game = Difference()
    before = start(game)
    after = play(game, before, (4, 4))
    assert after == Position(((1, 2, 3, 5), (1, 2, 3, 5)), (0, 0), (0, 0), None, 1)
    for seat in (0, 1):
        (event,) = game.events(before, ((0, 4), (1, 4)), after, seat)
        assert (event["result"], event["points"]) == ("tied", 0)
    assert "tie" in game.narrate(before, ((0, 4), (1, 4)), after, NAMES)[3]


@pytest.mark.parametrize(
    "rounds",
    [
        ((1, 1), (2, 2), (3, 3), (4, 4), (5, 5)),
        ((1, 2), (2, 1), (3, 3), (4, 4), (5, 5)),
        ((1, 2), (2, 1), (3, 4), (4, 3), (5, 5)),
    ],
    ids=["five ties", "1-1 and a tied last round", "2-2 and a tied last round"],
)
def test_the_draws_that_the_book_denies(rounds: tuple[tuple[int, int], ...]) -> None:
    game = Difference()
    end = play(game, start(game), *rounds)
    assert game.outcome(end) == Outcome(None, "level")
    level = f"{end.won[0]} to {end.won[1]}"
    assert game.conclusion(end, NAMES)[-1] == (
        f"Points are level and so are the rounds, {level}: a draw."
    )


@pytest.mark.parametrize("winner", [0, 1])
def test_the_last_round_breaks_a_tie_unless_the_option_says_no(winner: int) -> None:
    decided = ((1, 2), (2, 1)) if winner == 0 else ((2, 1), (1, 2))
    rounds = ((3, 3), (4, 4), (5, 5), *decided)
    assert finish(Difference(), *rounds) == Outcome(winner, "last_round")
    assert finish(Difference(last_round="no"), *rounds) == Outcome(None, "level")
    end = play(Difference(), start(Difference()), *rounds)
    assert f"{NAMES[winner]} won the last round" in Difference().conclusion(end, NAMES)[-1]


def test_fewer_rounds_than_numbers_let_points_decide() -> None:
    game = Difference(rounds=2)
    assert finish(game, (1, 2)) is None
    end = play(game, start(game), (5, 1), (1, 2))
    assert game.actors(end) == ()
    assert game.scores(end) == (4, 1)
    assert game.outcome(end) == Outcome(0, "points")
    assert finish(game, (1, 5), (2, 1)) == Outcome(1, "points")
    final, winner = game.conclusion(end, NAMES)
    assert final == "Final scores: Player A 4 points, Player B 1 point."
    assert winner == Naming("Player A has more points", "winner!")
    assert game.longest() == 4


def test_rounds_are_as_many_as_numbers_unless_given() -> None:
    assert Difference(size=7).settings["rounds"] == 7
    assert Difference(size=7, rounds="3").settings["rounds"] == 3
    assert start(Difference(size=7)).left[0] == (1, 2, 3, 4, 5, 6, 7)
    assert Difference().longest() == 10


def test_every_game_has_five_rounds_and_level_points() -> None:
    game = Difference()
    positions = {start(game)}
    for _ in range(5):
        positions = {
            game.apply(position, ((0, first), (1, second)), LUCK)
            for position in positions
            for first in game.legal(position, 0)
            for second in game.legal(position, 1)
        }
    assert {game.actors(position) for position in positions} == {()}
    assert all(position.points[0] == position.points[1] for position in positions)
    ends = {game.outcome(position) for position in positions}
    assert {end.reason for end in ends if end} == {"rounds_won", "last_round", "level"}


def test_random_play_gets_half_where_the_last_round_breaks_no_tie() -> None:
    assert best_against_random(Difference(last_round="no")) == Fraction(1, 2)
    assert best_against_random(Difference()) == Fraction(11, 16)


def test_keeping_the_five_gets_more_than_half_of_random_play() -> None:
    game = Difference()
    results = []
    for order in permutations((1, 2, 3, 4, 5)):
        end = finish(game, *zip((1, 2, 3, 4, 5), order, strict=True))
        assert end is not None
        results.append(Fraction(1, 2) if end.winner is None else Fraction(1 - end.winner))
    assert sum(results) / len(results) == Fraction(19, 30)


def best_against_random(game: Difference) -> Fraction:
    """What seat 0 gets on average with the best answer to a seat 1 that picks at random."""

    @cache
    def worth(position: Position) -> Fraction:
        end = game.outcome(position)
        if end is not None:
            return Fraction(1, 2) if end.winner is None else Fraction(1 - end.winner)
        theirs = position.left[1]
        return max(
            sum((worth(play(game, position, (own, other))) for other in theirs), Fraction(0))
            / len(theirs)
            for own in position.left[0]
        )

    return worth(start(game))


def test_the_view_from_both_sides() -> None:
    game = Difference()
    position = play(game, start(game), (3, 2))
    ahead = {"numbers": [1, 2, 4, 5], "points": 1, "rounds_won": 1}
    behind = {"numbers": [1, 3, 4, 5], "points": 0, "rounds_won": 0}
    assert wire(game.view(position, 0)) == {
        "round": 2,
        "rounds": 5,
        "mine": ahead,
        "theirs": behind,
    }
    assert wire(game.view(position, 1)) == {
        "round": 2,
        "rounds": 5,
        "mine": behind,
        "theirs": ahead,
    }
    (lost,) = game.events(start(game), ((0, 3), (1, 2)), position, 1)
    assert lost == {"round": 1, "mine": 2, "theirs": 3, "result": "lost", "points": 1}


@pytest.mark.parametrize(
    ("raw", "detail"),
    [
        (5.0, Naming("5.0", "send 5")),
        ("5", Naming("'5'", "send 5")),
        (3, Naming(3, "[1, 2, 4, 5]")),
        (0, Naming(0, "[1, 2, 4, 5]")),
        (6, Naming(6, "[1, 2, 4, 5]")),
        (3.0, Naming("integer", "[1, 2, 4, 5]")),
    ],
)
def test_answers_that_are_not_legal(raw: object, detail: Naming) -> None:
    game = Difference()
    position = play(game, start(game), (3, 2))
    with pytest.raises(IllegalMove) as caught:
        game.read_move(position, 0, raw)
    assert str(caught.value) == detail


@pytest.mark.parametrize("raw", [True, None, [5], {"move": 5}])
def test_answers_that_are_no_moves_at_all(raw: object) -> None:
    with pytest.raises(UnreadableMove, match="integer"):
        Difference().read_move(start(Difference()), 0, raw)


def test_a_number_cannot_be_used_twice() -> None:
    game = Difference()
    with pytest.raises(IllegalMove):
        play(game, start(game), (3, 2), (1, 2))
    assert game.read_move(play(game, start(game), (3, 2)), 1, 3) == 3


def test_opening() -> None:
    assert Difference().opening(start(Difference()), NAMES) == [
        "Player A and Player B hold 1 to 5 each and play 5 rounds."
    ]
