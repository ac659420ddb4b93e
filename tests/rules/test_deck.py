from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from referee.rules.chance import Recorded, Seeded
from referee.rules.deck import Deck, Position
from referee.rules.options import BadOption
from referee.rules.variant import IllegalMove, Outcome, UnreadableMove
from tests.facts import Naming
from tests.rules import play, wire

NAMES = ("Player 1", "Player 2")
CARDS = Counter(dict.fromkeys(range(1, 10), 4))


def stacked(*cards: int) -> Recorded:
    """The luck of a deck with these cards on top, and the rest below in order."""
    rest = CARDS - Counter(cards)
    assert len(cards) + rest.total() == 36
    return Recorded([[*cards, *sorted(rest.elements())]])


def dealt_for(plays: list[int]) -> Recorded:
    """The luck that lets the two seats play these cards in turn: each is dealt its own."""
    first, second = plays[0::2], plays[1::2]
    first += [1] * (3 - len(first))
    second += [2] * (3 - len(second))
    later = [card for pair in zip(first[3:], second[3:], strict=True) for card in pair]
    return stacked(*first[:3], *second[:3], *later)


# What the book's sample needs: both hands as printed, then the draws that make the plays possible.
SAMPLE = (3, 5, 7, 2, 6, 7, 4, 3, 9, 5)


def test_the_deal() -> None:
    game = Deck()
    position = game.setup(stacked(7, 3, 5, 6, 2, 7, 4, 3))
    assert position.hands == ((3, 5, 7), (2, 6, 7))
    assert position.hp == (10, 10)
    assert game.actors(position) == (0,)
    assert game.hidden_chance
    seeded = Seeded("a")
    game.setup(seeded)
    (order,) = seeded.outcomes
    assert isinstance(order, list)
    assert Counter(order) == CARDS


def test_the_sample_turn_by_turn() -> None:
    game = Deck()
    position = game.setup(stacked(*SAMPLE))
    for seat, card, damage, hp in (
        (0, 5, (0, 0), (10, 10)),
        (1, 7, (2, 0), (8, 10)),
        (0, 4, (3, 0), (5, 10)),
        (1, 3, (0, 1), (5, 9)),
        (0, 9, (0, 6), (5, 3)),
        (1, 5, (0, 4), (5, -1)),
    ):
        assert game.outcome(position) is None
        assert game.actors(position) == (seat,)
        before, position = position, play(game, position, card)
        assert position.hp == hp
        event = game.events(before, ((seat, card),), position, 0)[0]
        assert event["damage"] == {"mine": damage[0], "theirs": damage[1]}
    assert game.actors(position) == ()
    assert game.scores(position) == (5, -1)
    assert game.outcome(position) == Outcome(0, "knockout")
    assert game.conclusion(position, NAMES) == ["Player 2's HP is -1: Player 1 wins the game!"]


def test_the_command_line_sample() -> None:
    game = Deck()
    position = game.setup(stacked(*SAMPLE))
    assert game.opening(position, NAMES) == [
        "Player 1 and Player 2 have 10 HP each and hold 3 cards of a deck with 4 × 1 to 9. "
        "Player 1 begins."
    ]
    assert game.prompt(position, 0, NAMES) == [
        "Player 1's turn. HP: Player 1 10, Player 2 10.",
        "Your hand: [3, 5, 7]",
        "Opponent's last card: None",
        "Enter command (play 3, hand, hp): ",
    ]
    assert game.typed_move("play 5") == 5
    after = play(game, position, 5)
    assert game.narrate(position, ((0, 5),), after, NAMES, reader=0) == [
        "Player 1's turn. Hand: [3, 5, 7]",
        "  Player 1 played 5.",
        "  No previous card to compare. No damage dealt.",
        "  HP: Player 1 10, Player 2 10.",
        "  Player 1 draws 4.",
    ]
    assert game.prompt(after, 1, NAMES)[1:3] == [
        "Your hand: [2, 6, 7]",
        "Opponent's last card: 5",
    ]
    later = play(game, after, 7)
    assert game.narrate(after, ((1, 7),), later, NAMES)[1:4] == [
        "  Player 2 played 7.",
        "  7 > 5, Player 2 deals 2 damage to Player 1.",
        "  HP: Player 1 8, Player 2 10.",
    ]
    assert game.prompt(later, 0, NAMES)[2] == "Opponent's last card: 7"
    end = play(game, later, 4)
    assert game.narrate(later, ((0, 4),), end, NAMES)[2:4] == [
        "  4 < 7, Player 1 takes 3 damage.",
        "  HP: Player 1 5, Player 2 10.",
    ]


def test_no_draw_makes_the_hand_that_the_sample_prints() -> None:
    game = Deck()
    hands = set()
    for draw in range(1, 10):
        position = game.setup(stacked(3, 5, 7, 2, 6, 7, draw))
        hands.add(play(game, position, 5).hands[0])
    assert len(hands) == 9
    assert (3, 4, 9) not in hands
    assert (3, 4, 7) in hands


@pytest.mark.parametrize(
    ("card", "last", "hp"), [(9, 1, (2, 10)), (1, 9, (10, 2)), (5, 5, (9, 9)), (6, 5, (9, 10))]
)
def test_damage(card: int, last: int, hp: tuple[int, int]) -> None:
    game = Deck()
    assert play(game, game.setup(dealt_for([last, card])), last, card).hp == hp


def test_equal_cards_in_words() -> None:
    game = Deck()
    before = play(game, game.setup(dealt_for([5, 5])), 5)
    after = play(game, before, 5)
    assert "  5 = 5, both take 1 damage." in game.narrate(before, ((1, 5),), after, NAMES)


def test_nobody_draws_after_the_play_that_ends_the_game() -> None:
    game = Deck(hp=2)
    luck = dealt_for([5, 8])
    before = play(game, game.setup(luck), 5)
    end = play(game, before, 8)
    assert end.hp == (-1, 2)
    assert (len(end.hands[0]), len(end.hands[1])) == (3, 2)
    assert (game.view(before, 1)["pile"], game.view(end, 1)["pile"]) == (29, 29)
    assert game.events(before, ((1, 8),), end, 1) == [
        {"by": "mine", "card": 8, "damage": {"mine": 0, "theirs": 3}}
    ]
    assert "draws" not in "".join(game.narrate(before, ((1, 8),), end, NAMES))
    luck.finish()


@pytest.mark.parametrize(("hp", "plays", "active"), [(1, [5, 5], 1), (2, [5, 5, 5], 0)])
def test_a_double_knockout_is_won_by_the_active_player_or_drawn(
    hp: int, plays: list[int], active: int
) -> None:
    game = Deck(hp=hp)
    end = play(game, game.setup(dealt_for(plays)), *plays)
    assert end.hp == (0, 0)
    assert game.outcome(end) == Outcome(active, "double_knockout")
    name = NAMES[active]
    assert game.conclusion(end, NAMES) == [
        f"Both are out of HP, and {name} played last: {name} wins the game!"
    ]
    draw = Deck(hp=hp, double_knockout="draw")
    assert draw.outcome(end) == Outcome(None, "double_knockout_draw")
    assert draw.actors(end) == ()
    (told,) = draw.conclusion(end, NAMES)
    assert told == Naming("Player 1 and Player 2 are both out of HP", "the game is", "draw.")


def test_hp_of_exactly_zero_loses() -> None:
    game = Deck(hp=1)
    for second, hp, winner in ((4, (1, 0), 0), (6, (0, 1), 1)):
        end = play(game, game.setup(dealt_for([5, second])), 5, second)
        assert (end.hp, game.actors(end)) == (hp, ())
        assert game.outcome(end) == Outcome(winner, "knockout")


def test_equal_cards_that_bring_only_one_to_zero_are_no_double_knockout() -> None:
    game = Deck(hp=2, double_knockout="draw")
    end = play(game, game.setup(dealt_for([5, 6, 6])), 5, 6, 6)
    assert end.hp == (0, 1)
    assert game.outcome(end) == Outcome(1, "knockout")


def test_no_game_ends_before_its_third_play() -> None:
    game = Deck()
    for first, second in product(range(1, 10), repeat=2):
        two = play(game, game.setup(dealt_for([first, second])), first, second)
        assert game.outcome(two) is None
    third = play(game, game.setup(dealt_for([1, 9, 1])), 1, 9, 1)
    assert third.played == 3
    assert third.hp == (-6, 10)
    assert game.outcome(third) == Outcome(1, "knockout")


def test_a_game_lasts_twenty_plays_at_most() -> None:
    game = Deck()
    slow = [1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2, 1, 2, 3, 4]
    nineteen = play(game, game.setup(dealt_for(slow)), *slow[:-1])
    assert nineteen.hp == (1, 1)
    assert game.view(nineteen, 0)["pile"] == 36 - 6 - 19
    end = play(game, nineteen, 4)
    assert game.outcome(end) == Outcome(1, "knockout")
    assert game.longest() == 20


def test_every_card_counts_twice_but_the_first_and_the_last() -> None:
    game = Deck()
    for seed in range(200):
        luck = Seeded(f"{seed}")
        position, plays = game.setup(luck), list[int]()
        while seats := game.actors(position):
            (seat,) = seats
            card = game.legal(position, seat)[seed % 2 - 1]
            plays.append(card if seat == 0 else -card)
            position = game.apply(position, ((seat, card),), luck)
        lead = 2 * sum(plays) - plays[0] - plays[-1]
        assert position.hp[0] - position.hp[1] == lead
        assert len(luck.outcomes) == 1


def small(*reshuffles: list[int]) -> tuple[Deck, Recorded, Position]:
    """Four cards: a hand of one each, and two in the pile."""
    game, luck = Deck(size=2, copies=2, hand=1, hp=10), Recorded([[1, 1, 2, 2], *reshuffles])
    return game, luck, game.setup(luck)


def test_the_discard_pile_becomes_the_draw_pile() -> None:
    game, luck, position = small([1], [1])
    position = play(game, position, 1, 1, chance=luck)
    assert (position.hands, position.hp) == (((2,), (2,)), (9, 9))
    assert game.view(position, 0)["pile"] == 0
    assert wire(game.view(position, 0)["discard"]) == []

    after = play(game, position, 2, chance=luck)
    assert after.hands == ((1,), (2,))
    assert after.last == (2, 1)
    assert (game.view(after, 1)["pile"], game.view(after, 1)["discard"]) == (0, ())
    clash = {"card": 2, "damage": {"mine": 0, "theirs": 1}}
    assert game.events(position, ((0, 2),), after, 0) == [
        {"by": "mine", **clash},
        {"reshuffled": True},
        {"drew": 1},
    ]
    assert game.events(position, ((0, 2),), after, 1) == [
        {"by": "theirs", "card": 2, "damage": {"mine": 1, "theirs": 0}},
        {"reshuffled": True},
    ]
    text = game.narrate(position, ((0, 2),), after, NAMES)
    assert "  The discard pile is shuffled and becomes the draw pile." in text
    play(game, after, 2, chance=luck)
    luck.finish()


def test_the_cards_on_the_table_are_not_shuffled() -> None:
    game = Deck(size=2, copies=4, hand=1, hp=100)
    luck = Recorded([[1, 2, 1, 2, 1, 2, 1, 2]])
    position = play(game, game.setup(luck), 1, 2, 1, 2, 1, 2, chance=luck)
    assert game.view(position, 0)["pile"] == 0
    assert wire(game.view(position, 0)["discard"]) == [1, 2, 1, 2]
    luck = Recorded([[2, 1, 2, 1, 1]])
    position = play(game, position, 1, chance=luck)
    assert position.last == (1, 2)
    assert position.hands == ((2,), (2,))
    assert (game.view(position, 0)["pile"], position.discard) == (4, ())
    luck.finish()


def test_no_reshuffle_where_the_game_is_over() -> None:
    game, luck = Deck(size=3, copies=2, hand=2, hp=2), Recorded([[1, 3, 1, 2, 2, 3]])
    position = play(game, game.setup(luck), 1, 1, chance=luck)
    assert position.hp == (1, 1)
    assert game.view(position, 0)["pile"] == 0
    end = play(game, position, 3, chance=luck)
    assert game.outcome(end) == Outcome(0, "knockout")
    assert game.events(position, ((0, 3),), end, 1) == [
        {"by": "theirs", "card": 3, "damage": {"mine": 2, "theirs": 0}}
    ]
    assert "shuffled" not in "".join(game.narrate(position, ((0, 3),), end, NAMES))
    luck.finish()


@pytest.mark.parametrize(
    ("cards", "hp", "most"),
    [((3, 1), 1, 1), ((5, 1), 1, 2), ((5, 1), 2, 1), ((3, 2), 10, 2), ((9, 4), 10, 17)],
)
def test_hands_that_leave_a_card_to_draw(cards: tuple[int, int], hp: int, most: int) -> None:
    size, copies = cards
    game = Deck(size=size, copies=copies, hp=hp, hand=most)
    with pytest.raises(BadOption, match=f"hand of deck must be at most {most} where"):
        Deck(size=size, copies=copies, hp=hp, hand=most + 1)
    whole = Counter(dict.fromkeys(range(1, size + 1), copies))
    for seed in range(50):
        luck = Seeded(f"{seed}")
        position = game.setup(luck)
        while seats := game.actors(position):
            (seat,) = seats
            card = game.legal(position, seat)[seed % len(game.legal(position, seat))]
            position = game.apply(position, ((seat, card),), luck)
            pile = position.deck[position.drawn :]
            table = [card for card in position.last if card is not None]
            in_sight = Counter([*position.hands[0], *position.hands[1], *table, *position.discard])
            assert in_sight + Counter(pile) == whole
        assert position.played <= game.longest()


def test_views_from_both_sides() -> None:
    game = Deck()
    position = game.setup(stacked(*SAMPLE))
    assert wire(game.view(position, 0)) == {
        "turn": 1,
        "pile": 30,
        "discard": [],
        "mine": {"hand": [3, 5, 7], "hp": 10, "last": None},
        "theirs": {"cards": 3, "hp": 10, "last": None},
    }
    position = play(game, position, 5, 7, 4, 3)
    assert wire(game.view(position, 1)) == {
        "turn": 5,
        "pile": 26,
        "discard": [5, 7],
        "mine": {"hand": [2, 5, 6], "hp": 9, "last": 3},
        "theirs": {"cards": 3, "hp": 5, "last": 4},
    }


def test_a_draw_is_told_to_the_player_alone() -> None:
    game = Deck()
    before = game.setup(stacked(*SAMPLE))
    after = play(game, before, 5)
    clash = {"card": 5, "damage": {"mine": 0, "theirs": 0}}
    assert game.events(before, ((0, 5),), after, 0) == [{"by": "mine", **clash}, {"drew": 4}]
    assert game.events(before, ((0, 5),), after, 1) == [{"by": "theirs", **clash}]


def test_nothing_hidden_leaks() -> None:
    """Only seat 0's other cards and draws differ: seat 1 reads the same in both games."""
    game = Deck()
    reads = []
    for secret in ((3, 5, 7, 2, 6, 7, 4, 3), (5, 8, 9, 2, 6, 7, 1, 3)):
        before = game.setup(stacked(*secret))
        after = play(game, before, 5)
        text = game.narrate(before, ((0, 5),), after, NAMES, reader=1)
        assert text[-1] == "  Player 1 draws a card."
        told = [
            game.opening(before, NAMES),
            game.view(before, 1),
            game.events(before, ((0, 5),), after, 1),
            text,
            game.view(after, 1),
            game.prompt(after, 1, NAMES),
            game.question(after, 1, "hand", NAMES),
            game.question(after, 1, "hp", NAMES),
            game.legal(after, 1),
        ]
        reads.append(wire(told))
    assert reads[0] == reads[1]


def test_an_onlooker_sees_the_draws() -> None:
    game = Deck()
    before = game.setup(stacked(*SAMPLE))
    lines = game.narrate(before, ((0, 5),), play(game, before, 5), NAMES)
    assert lines[0] == "Player 1's turn. Hand: [3, 5, 7]"
    assert lines[-1] == "  Player 1 draws 4."


def test_questions() -> None:
    game = Deck()
    position = play(game, game.setup(stacked(*SAMPLE)), 5, 7)
    assert game.question(position, 0, "hand", NAMES) == ["Your hand: [3, 4, 7]"]
    assert game.question(position, 1, " HP ", NAMES) == ["HP: Player 1 8, Player 2 10."]
    assert game.question(position, 0, "play 3", NAMES) is None
    assert game.question(position, 0, "hands", NAMES) is None
    assert game.question(position, 0, "help", NAMES) == [
        "hand - shows your hand",
        "hp - shows both players' HP",
    ]


def test_two_of_a_card_are_one_move_and_one_of_them_stays() -> None:
    game = Deck()
    position = game.setup(stacked(5, 3, 5, 1, 1, 1, 9))
    assert position.hands[0] == (3, 5, 5)
    assert game.legal(position, 0) == (3, 5)
    assert play(game, position, 5).hands[0] == (3, 5, 9)


@pytest.mark.parametrize(
    ("raw", "detail"),
    [
        (5.0, Naming("5.0", "send 5")),
        ("5", Naming("'5'", "send 5")),
        (4, Naming(4, "[3, 5, 7]")),
        (10, Naming(10, "[3, 5, 7]")),
        ("play 5", Naming("integer", "[3, 5, 7]")),
    ],
)
def test_answers_that_are_not_legal(raw: object, detail: Naming) -> None:
    game = Deck()
    with pytest.raises(IllegalMove) as caught:
        game.read_move(game.setup(stacked(*SAMPLE)), 0, raw)
    assert str(caught.value) == detail


@pytest.mark.parametrize("raw", [True, None, [5]])
def test_answers_that_are_no_moves_at_all(raw: object) -> None:
    game = Deck()
    with pytest.raises(UnreadableMove, match="integer"):
        game.read_move(game.setup(stacked(*SAMPLE)), 0, raw)
