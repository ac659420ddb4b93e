from __future__ import annotations

import random

import pytest

from referee.rules.chance import BadChance, Recorded, Seeded
from referee.rules.duel import Duel, Position
from referee.rules.variant import IllegalMove, Outcome, Seat, UnreadableMove
from tests.facts import Naming
from tests.rules import play, wire

NAMES = ("Player 1", "Player 2")
LUCK = Recorded([])
ALL_TWICE = tuple(sorted([*range(1, 11)] * 2))


def seat0(**options: object) -> Duel:
    return Duel(first="seat0", **options)


def start(game: Duel) -> Position:
    return game.setup(Recorded([]))


def test_the_start() -> None:
    game = Duel()
    position = game.setup(Recorded([1]))
    assert position == Position((ALL_TWICE, ALL_TWICE), (20, 20), 1, None, 0)
    assert game.actors(position) == (1,)
    assert game.actors(game.setup(Recorded([0]))) == (0,)


def test_who_attacks_first_is_one_pick_of_two() -> None:
    fair = [Seeded(f"{seed}") for seed in range(50)]
    attackers = [Duel().setup(chance).attacker for chance in fair]
    assert set(attackers) == {0, 1}
    assert [chance.outcomes for chance in fair] == [[attacker] for attacker in attackers]
    with pytest.raises(BadChance):
        Duel().setup(Recorded([2]))
    untouched = Seeded("x")
    assert seat0().setup(untouched).attacker == 0
    assert untouched.outcomes == []


def test_examples_1_and_2() -> None:
    game = seat0()
    position = start(game)
    attacked = play(game, position, 6)
    assert game.actors(attacked) == (1,)
    assert attacked.left[0].count(6) == 1
    blocked = play(game, attacked, 8)
    assert blocked.left[1].count(8) == 1
    assert blocked.life == (20, 20)
    assert game.narrate(attacked, ((1, 8),), blocked, NAMES) == [
        "  Player 2 defends with 8.",
        "  Attack Blocked! No damage dealt.",
        "  Life points: Player 1 20, Player 2 20",
        "  Roles have switched. It's now Player 2's turn to attack.",
    ]
    assert game.actors(blocked) == (1,)

    attacked = play(game, blocked, 9)
    assert game.narrate(blocked, ((1, 9),), attacked, NAMES) == [
        "Round 2",
        "  Player 2 attacks with 9.",
    ]
    hit = play(game, attacked, 4)
    assert (hit.left[1].count(9), hit.left[0].count(4)) == (1, 1)
    assert hit.life == (15, 20)
    assert game.narrate(attacked, ((0, 4),), hit, NAMES)[1:3] == [
        "  Attack Successful! Player 1 takes 5 damage.",
        "  Life points: Player 1 15, Player 2 20",
    ]
    assert game.actors(hit) == (0,)


def test_example_3_a_number_used_up() -> None:
    game = seat0()
    position = play(game, start(game), 10, 10, 1, 10, 3, 3, 10)
    assert position.attack == 10
    assert game.actors(position) == (0,)
    assert game.legal(position, 0) == (1, 2, 3, 4, 5, 6, 7, 8, 9)
    with pytest.raises(IllegalMove, match=r"^10 "):
        game.read_move(position, 0, 10)
    assert play(game, position, 9).life == (19, 20)


def test_the_damage_of_every_pair() -> None:
    game = seat0()
    position = start(game)
    for attack in range(1, 11):
        for defence in range(1, 11):
            after = play(game, position, attack, defence)
            assert after.life == (20, 20 - max(0, attack - defence))
    assert play(game, position, 7, 5).life == (20, 18)


def test_an_equal_number_blocks() -> None:
    game = seat0()
    attacked = play(game, start(game), 7)
    blocked = play(game, attacked, 7)
    assert game.narrate(attacked, ((1, 7),), blocked, NAMES)[1] == (
        "  Attack Blocked! No damage dealt."
    )


def test_a_game_lasts_from_five_to_twenty_rounds() -> None:
    """The pairs above cost 9 at most, so two attacks leave 2 life points; three can kill."""
    game = seat0()
    four = play(game, start(game), 10, 1, 3, 3, 10, 1, 3, 3)
    assert four.life == (20, 2)
    assert game.outcome(four) is None
    five = play(game, four, 9, 2)
    assert five.played == 5
    assert game.outcome(five) == Outcome(0, "life")
    assert game.actors(five) == ()

    mirrored = [number for number in ALL_TWICE for _ in (0, 1)]
    nineteen = play(game, start(game), *mirrored[:-2])
    assert game.actors(nineteen) == (1,)
    end = play(game, nineteen, *mirrored[-2:])
    assert end.played == 20
    assert game.actors(end) == ()
    assert game.longest() == 40


def test_life_below_zero_is_kept() -> None:
    game = seat0()
    before = play(game, start(game), 10, 1, 3, 3, 10, 1, 3, 3, 9)
    end = play(game, before, 2)
    assert game.scores(end) == (20, -5)
    assert game.conclusion(end, NAMES) == ["Player 2 is at -5 life points: Player 1 wins the game!"]
    assert "Roles have switched" not in "".join(game.narrate(before, ((1, 2),), end, NAMES))


def test_life_of_exactly_zero_loses() -> None:
    game = seat0(life=2)
    end = play(game, start(game), 1, 1, 7, 5)
    assert end.life == (0, 2)
    assert game.actors(end) == ()
    assert game.outcome(end) == Outcome(1, "life")
    assert game.conclusion(end, NAMES) == ["Player 1 is at 0 life points: Player 2 wins the game!"]
    other = play(game, start(game), 7, 5)
    assert (other.life, game.actors(other)) == ((2, 0), ())
    assert game.outcome(other) == Outcome(0, "life")


def test_numbers_that_run_out() -> None:
    level = (1, 1, 2, 2, 3, 3)
    ahead = (3, 2, 1, 2, 1, 3)  # seat 0 hits for 1 in the first round; nothing else gets through
    for moves, by_life, text in (
        (level, Outcome(None, "level_life"), "the game is a draw at 2 to 2."),
        (ahead, Outcome(0, "more_life"), "Player 1 wins with more life points, 2 to 1!"),
    ):
        game = seat0(size=3, uses=1, life=2)
        assert game.outcome(play(game, start(game), *moves[:-1])) is None
        end = play(game, start(game), *moves)
        assert game.actors(end) == ()
        assert game.outcome(end) == by_life
        assert game.conclusion(end, NAMES) == [f"The numbers have run out: {text}"]
        strict = seat0(size=3, uses=1, life=2, exhausted="draw")
        assert strict.outcome(play(strict, start(strict), *moves)) == Outcome(None, "exhausted")


def test_no_player_can_deal_more_than_the_bound_on_life() -> None:
    """Life 50 is the most that exhausted=draw takes, and it can be dealt, in round 19."""
    game = seat0(life=50, exhausted="draw")
    attacks, defences = ALL_TWICE[:9:-1], ALL_TWICE[:10]
    rounds = [
        number for pair in zip(attacks, defences, strict=True) for _ in (0, 1) for number in pair
    ]
    end = play(game, start(game), *rounds[:-2])
    assert end.life == (1, 0)
    assert game.outcome(end) == Outcome(0, "life")


def test_a_number_is_listed_once_for_each_use_left() -> None:
    game = seat0(size=2, uses=3)
    position = start(game)
    assert position.left[0] == (1, 1, 1, 2, 2, 2)
    assert game.legal(position, 0) == (1, 2)
    assert play(game, position, 2, 2, 1, 1).left == ((1, 1, 2, 2), (1, 1, 2, 2))
    assert game.legal(play(game, position, 2, 2, 2, 2, 2, 2), 1) == (1,)
    assert game.longest() == 12


def lowest(game: Duel, position: Position, seat: Seat) -> int:
    """The lowest number, or in defence the lowest that blocks."""
    return next(number for number in game.legal(position, seat) if number >= (position.attack or 0))


@pytest.mark.parametrize("safe", [0, 1])
def test_lowest_numbers_never_lose_life_to_any_play(safe: Seat) -> None:
    game = seat0(size=4, uses=2)
    seen: set[Position] = set()
    ahead = [start(game)]
    while ahead:
        position = ahead.pop()
        if position in seen:
            continue
        seen.add(position)
        assert position.life[safe] == 20
        for seat in game.actors(position):
            moves = game.legal(position, seat)
            if seat == safe:
                moves = (lowest(game, position, seat),)
            ahead.extend(game.apply(position, ((seat, move),), LUCK) for move in moves)
    assert len(seen) > 800


def test_lowest_numbers_never_lose_life_at_full_size() -> None:
    game, rng = Duel(), random.Random(5)
    for seed in range(100):
        position = game.setup(Seeded(f"{seed}"))
        while seats := game.actors(position):
            (seat,) = seats
            if seat == seed % 2:
                move = lowest(game, position, seat)
            else:
                move = rng.choice(game.legal(position, seat))
            position = game.apply(position, ((seat, move),), LUCK)
        assert position.life[seed % 2] == 20


def test_views_from_both_sides() -> None:
    game = seat0(size=2)
    position = start(game)
    full = {"numbers": [1, 1, 2, 2], "life": 20}
    view = {"round": 1, "role": "attack", "attack": None, "mine": full, "theirs": full}
    assert wire(game.view(position, 0)) == view
    assert wire(game.view(position, 1)) == {**view, "role": "defend"}
    attacked = play(game, position, 2)
    assert wire(game.view(attacked, 1)) == {
        "round": 1,
        "role": "defend",
        "attack": 2,
        "mine": full,
        "theirs": {"numbers": [1, 1, 2], "life": 20},
    }
    assert wire(game.view(play(game, attacked, 1), 1)) == {
        "round": 2,
        "role": "attack",
        "attack": None,
        "mine": {"numbers": [1, 2, 2], "life": 19},
        "theirs": {"numbers": [1, 1, 2], "life": 20},
    }


def test_events_to_both_sides() -> None:
    game = seat0()
    position = start(game)
    attacked = play(game, position, 7)
    assert game.events(position, ((0, 7),), attacked, 0) == []
    assert game.events(position, ((0, 7),), attacked, 1) == [
        {"round": 1, "role": "defend", "attack": 7}
    ]
    hit = play(game, attacked, 5)
    assert game.events(attacked, ((1, 5),), hit, 0) == [
        {"round": 1, "role": "attack", "mine": 7, "theirs": 5, "damage": 2}
    ]
    assert game.events(attacked, ((1, 5),), hit, 1) == [
        {"round": 1, "role": "defend", "mine": 5, "theirs": 7, "damage": 2}
    ]
    blocked = play(game, attacked, 9)
    assert game.events(attacked, ((1, 9),), blocked, 1)[0]["damage"] == 0


def test_prompts() -> None:
    game = seat0(size=3)
    position = play(game, start(game), 3, 3, 1, 1)
    assert game.prompt(position, 0, NAMES) == [
        "Round 3. Life points: Player 1 20, Player 2 20.",
        "Player 2 holds 1×1, 2×2, 3×1.",
        "Player 1, choose your attack number "
        "(available numbers and remaining uses: 1×1, 2×2, 3×1): ",
    ]
    assert game.prompt(play(game, position, 1), 1, NAMES)[1:] == [
        "Player 1 holds 2×2, 3×1.",
        "Player 2, Player 1 attacked with 1. Choose your defense number "
        "(available numbers and remaining uses: 1×1, 2×2, 3×1): ",
    ]
    assert game.opening(start(game), NAMES) == [
        "Player 1 and Player 2 have 20 life points each and hold 1 to 3, 2 uses of each.",
        "Player 1 attacks first.",
    ]


@pytest.mark.parametrize(
    ("raw", "detail"),
    [
        (1.0, Naming("1.0", "send 1")),
        ("1", Naming("'1'", "send 1")),
        (3, Naming(3, "[1, 2]")),
        (5.0, Naming("integer", "[1, 2]")),
        ("5", Naming("integer", "[1, 2]")),
    ],
)
def test_answers_that_are_not_legal(raw: object, detail: Naming) -> None:
    game = seat0(size=2)
    with pytest.raises(IllegalMove) as caught:
        game.read_move(start(game), 0, raw)
    assert str(caught.value) == detail


@pytest.mark.parametrize("raw", [True, None, [5]])
def test_answers_that_are_no_moves_at_all(raw: object) -> None:
    with pytest.raises(UnreadableMove, match="integer"):
        seat0().read_move(start(seat0()), 0, raw)
