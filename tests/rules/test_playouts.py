"""Random play-outs of every registered variant: bounds, replays, and what a seat must not see."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from referee.rules.deck import Deck
from referee.rules.options import BadOption, Option, Value
from referee.rules.registry import all_variants
from referee.rules.variant import Plays, Seat, Variant
from referee.testing.playthrough import Game, random_game, replay, sights

VARIANTS = all_variants()
ROUNDS = {
    "difference": (5, 5),
    "underdog": (3, 10),
    "duel": (5, 20),
    "target": (5, 18),
    "deck": (3, 20),
}
"""Bounds of the rulings with default options; in target and deck a round is one play."""

quick = settings(max_examples=40)
seeds = st.integers(0, 2**32).map(str)
by_name = pytest.mark.parametrize("name", list(VARIANTS))


def values(option: Option) -> st.SearchStrategy[Value]:
    if option.choices:
        return st.sampled_from(option.choices)
    usual = option.default if isinstance(option.default, int) else option.low
    return st.integers(option.low, min(option.high, usual + 3))


def drawn_variant(data: st.DataObject, name: str) -> Variant[Any, Any]:
    """The variant with some of its options drawn; what makes no game is drawn again."""
    variant = VARIANTS[name]
    given = data.draw(
        st.fixed_dictionaries({}, optional={each.name: values(each) for each in variant.options}),
        label="options",
    )
    try:
        return variant(**given)
    except BadOption:
        assume(False)
        raise


def seen(
    variant: Variant[Any, Any], luck: list[Any], rounds: list[Plays[Any]], seat: Seat
) -> list[Any]:
    """All that reaches a seat until after these rounds, which must all be legal."""
    moments = [both[seat] for both in sights(variant, luck, rounds)]
    assert len(moments) == len(rounds) + 1
    return moments


@by_name
@quick
@given(data=st.data(), seed=seeds)
def test_a_game_with_any_options_ends_and_replays(
    name: str, data: st.DataObject, seed: str
) -> None:
    variant = drawn_variant(data, name)
    game = random_game(variant, seed)
    plays = [play for plays in game.rounds for play in plays]
    end = game.positions[-1]
    assert 1 <= len(plays) <= variant.longest()
    outcome = variant.outcome(end)
    assert outcome is not None
    assert outcome.reason in variant.reasons
    assert all(variant.outcome(position) is None for position in game.positions[:-1])

    record = msgspec.json.decode(msgspec.json.encode([variant.settings, game.luck, plays]))
    fresh = type(variant)(**record[0])
    replayed = replay(fresh, record[1], record[2])
    assert replayed == end
    assert fresh.outcome(replayed) == outcome
    assert fresh.scores(replayed) == variant.scores(end)
    for seat in (0, 1):
        assert fresh.view(replayed, seat) == variant.view(end, seat)
        assert seen(fresh, record[1], game.rounds, seat) == seen(
            variant, game.luck, game.rounds, seat
        )


@by_name
def test_default_games_keep_to_the_bounds(name: str) -> None:
    assert name in ROUNDS, f"no bounds are known for {name}"
    variant = VARIANTS[name]()
    lengths = Counter(_rounds(name, random_game(variant, str(seed))) for seed in range(300))
    low, high = ROUNDS[name]
    assert low <= min(lengths) and max(lengths) <= high


def _rounds(name: str, game: Game) -> int:
    count, rest = divmod(len(game.rounds), 2 if name == "duel" else 1)
    assert rest == 0
    return count


@by_name
@quick
@given(data=st.data(), seed=seeds)
def test_no_seat_can_know_a_choice_before_it_is_made(
    name: str, data: st.DataObject, seed: str
) -> None:
    """Only the pending move of one seat changes; where both play at once, that is the secret."""
    variant = drawn_variant(data, name)
    game = random_game(variant, seed)
    at = data.draw(st.integers(0, len(game.rounds) - 1), label="round")
    chooser = data.draw(st.sampled_from(variant.actors(game.positions[at])), label="chooser")
    legal = variant.legal(game.positions[at], chooser)
    assert legal is not None
    other = data.draw(st.sampled_from(list(legal)), label="other choice")
    changed = tuple((seat, other if seat == chooser else move) for seat, move in game.rounds[at])
    # The moment `at` holds what is asked of each seat in this round; the next is the reveal.
    asked = list(sights(variant, game.luck, game.rounds))[: at + 1]
    assert len(asked) == at + 1
    assert asked == list(sights(variant, game.luck, [*game.rounds[:at], changed]))[: at + 1]


# Deck: the exact test. Whose each card of the shuffled deck is follows from the order of the draws.


def unseen_cards(variant: Deck, luck: list[int], rounds: list[Plays[int]], seat: Seat) -> list[int]:
    """Where in the deck the cards are that this seat has neither held nor seen after these rounds.

    Only while the first pile lasts.
    """
    hand = variant.number("hand")
    held = [list(range(hand)), list(range(hand, 2 * hand))]
    known = set(held[seat])
    for number, ((player, card),) in enumerate(rounds):
        place = next(place for place in held[player] if luck[place] == card)
        held[player].remove(place)
        known.add(place)
        drawn = 2 * hand + number
        held[player].append(drawn)
        if player == seat:
            known.add(drawn)
    return [place for place in range(len(luck)) if place not in known]


@settings(quick, max_examples=200)
@given(data=st.data(), seed=seeds, hp=st.integers(1, 12), hand=st.integers(1, 5))
def test_deck_shows_no_card_that_a_seat_has_not_seen(
    data: st.DataObject, seed: str, hp: int, hand: int
) -> None:
    variant = Deck(hp=hp, hand=hand)
    game = random_game(variant, seed)
    (luck,) = game.luck
    assert isinstance(luck, list) and len(luck) == 36
    count = data.draw(st.integers(0, len(game.rounds) - 1), label="rounds")
    seat = data.draw(st.sampled_from((0, 1)), label="seat")
    rounds = game.rounds[:count]
    hidden = unseen_cards(variant, luck, rounds, seat)
    other_luck = list(luck)
    for place, source in zip(hidden, data.draw(st.permutations(hidden)), strict=True):
        other_luck[place] = luck[source]
    assert seen(variant, [luck], rounds, seat) == seen(variant, [other_luck], rounds, seat)


def test_the_deck_test_would_see_a_leak() -> None:
    """A view with the other hand, and a narration of the other's draw, both differ at once."""

    class Open(Deck):
        def view(self, position: Any, seat: Seat) -> dict[str, Any]:
            return super().view(position, seat) | {"leak": position.hands[1 - seat]}

    class Loose(Deck):
        def narrate(self, *args: Any, **more: Any) -> list[str]:
            return super().narrate(*args[:4])

    for leaky in (Open(), Loose()):
        game = random_game(leaky, "leak")
        (luck,) = game.luck
        assert isinstance(luck, list)
        rounds = game.rounds[:2]
        hidden = unseen_cards(leaky, luck, rounds, 0)
        other_luck = list(luck)
        for place, source in zip(hidden, reversed(hidden), strict=True):
            other_luck[place] = luck[source]
        assert seen(leaky, [luck], rounds, 0) != seen(leaky, [other_luck], rounds, 0)
