"""Swiss: by points, nobody twice while that can be, and everybody in every round."""

from __future__ import annotations

import random
from collections import Counter
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.tournament.formats import Pairing, Round, Score, bracket, pairings
from referee.tournament.formats.swiss import BYE, count_rounds, pair_round
from referee.tournament.spec import Spec
from tests.tournament.playing import by_round, drawn, play, players, scored, stronger_wins


def swiss(rounds: int | None = None, games: int = 2, variants: int = 1) -> Spec:
    names = ("underdog", "duel", "target")[:variants]
    return Spec(name="s", variants=names, format="swiss", games=games, rounds=rounds)


def pairs(known: list[Pairing]) -> list[tuple[str, str]]:
    return [(each.first, each.second) for each in known]


def byes(known: list[Pairing], count: int) -> list[str]:
    """Who rests, round by round."""
    names = players(count)["underdog"]
    return [
        name
        for round_ in by_round(known).values()
        for name in names
        if all(name not in (each.first, each.second) for each in round_)
    ]


class Luck:
    """Results by chance, the same ones for the same pairing."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __call__(self, pairing: Pairing) -> float:
        key = f"{self._number}/{pairing.round}/{pairing.variant}/{pairing.first}/{pairing.second}"
        return random.Random(key).randint(0, 2 * pairing.games) / 2


# By hand.


def test_the_upper_half_meets_the_lower_half_first() -> None:
    assert pairs(pairings(swiss(), players(8), {})) == [
        *(("p1", "p5"), ("p2", "p6"), ("p3", "p7"), ("p4", "p8")),
    ]


def test_winners_meet_winners() -> None:
    known, _ = play(swiss(), players(8), stronger_wins)
    second = by_round(known)[2]
    assert {frozenset(pair) for pair in pairs(second)} == {
        frozenset(pair) for pair in [("p1", "p3"), ("p2", "p4"), ("p5", "p7"), ("p6", "p8")]
    }
    assert frozenset(pairs(by_round(known)[3])[0]) == {"p1", "p2"}


def test_the_last_rests_and_that_counts_as_a_win() -> None:
    known, scores = play(swiss(), players(5), stronger_wins)
    first = by_round(known)[1]
    assert pairs(first) == [("p1", "p3"), ("p2", "p4")]
    # p1, p2 and p5, who rested, have 2 points; p3 and p4 have none, and the lower of them rests.
    second = by_round(known)[2]
    assert {frozenset(pair) for pair in pairs(second)} == {
        frozenset({"p1", "p2"}),
        frozenset({"p3", "p5"}),
    }
    assert byes(known, 5)[:2] == ["p5", "p4"]
    assert bracket(swiss(), players(5), scores)[0].ties[-1].why == "bye"


def test_a_bye_is_worth_as_much_as_a_meeting_won_to_nothing() -> None:
    """After draws everywhere, the one who rested leads, and meets the first stranger who leaves
    strangers to the others: p1 and p3 have met."""
    known, _ = play(swiss(), players(5), drawn)
    assert pairs(by_round(known)[2]) == [("p5", "p3"), ("p1", "p2")]


def test_who_rests_can_save_a_rematch() -> None:
    """Player 3 has met 0, 1 and 2: with 4 resting, it would have to meet one of them again."""
    history = (((3, 0),), ((3, 1),), ((3, 2),))
    assert pair_round((0.0,) * 5, history) == ((0, 2), (1, 4), (3, BYE))
    assert pair_round((0.0,) * 5, history[:2])[-1] == (4, BYE)


def test_two_take_turns_at_being_first() -> None:
    known, _ = play(swiss(rounds=3), players(2), drawn)
    assert pairs(known) == [("p1", "p2"), ("p2", "p1"), ("p1", "p2")]


def test_all_variants_decide_together() -> None:
    """p2 loses one variant and wins the other by more: it is ahead of everybody in round 2."""
    spec = swiss(variants=2, games=4)
    entered = players(4, spec.variants)
    points = {("underdog", "p1"): 2.0, ("duel", "p1"): 2.0, ("underdog", "p2"): 1.5}
    scores = {
        each: scored(each, points.get((each.variant, each.first), 4.0))
        for each in pairings(spec, entered, {})
    }
    known = pairings(spec, entered, scores)
    assert [each.variant for each in known] == ["underdog", "duel"] * 4
    # p2 has 5½, p1 and p3 have 4 and p4 2½; p1 is seeded above p3.
    assert [frozenset(pair) for pair in pairs(by_round(known)[2])[::2]] == [
        frozenset({"p1", "p2"}),
        frozenset({"p3", "p4"}),
    ]


@pytest.mark.parametrize(
    ("count", "rounds"), [(1, 1), (2, 1), (3, 3), (4, 3), (5, 4), (8, 4), (9, 5), (1000, 11)]
)
def test_rounds_unless_told(count: int, rounds: int) -> None:
    assert count_rounds(swiss(), count) == rounds
    assert count_rounds(swiss(rounds=7), count) == 7


def test_nobody_and_one_player() -> None:
    nobody: list[dict[str, list[str]]] = [{}, {"underdog": []}, players(1)]
    for entered in nobody:
        assert pairings(swiss(), entered, {}) == []
        assert bracket(swiss(), entered, {}) == []


# Whatever the results.


@settings(max_examples=80)
@given(st.integers(2, 20), st.integers(1, 24), st.integers(0, 1_000_000), st.integers(1, 2))
def test_everybody_plays_or_rests_in_every_round(
    count: int, rounds: int, number: int, variants: int
) -> None:
    spec = swiss(rounds, variants=variants)
    known, scores = play(spec, players(count, spec.variants), Luck(number))
    assert list(by_round(known)) == list(range(1, rounds + 1))
    for round_ in by_round(known).values():
        for variant in spec.variants:
            seen = [
                name
                for each in round_
                if each.variant == variant
                for name in (each.first, each.second)
            ]
            assert len(seen) == len(set(seen)) == count - count % 2
    rested = Counter(byes(known, count))
    if count % 2:
        assert sum(rested.values()) == rounds
        most = max(rested.values())
        least = min(rested[name] for name in players(count)["underdog"])
        assert most - least <= 1
    assert pairings(spec, players(count, spec.variants), scores) == known


@settings(max_examples=150)
@given(st.integers(2, 10), st.data())
def test_a_rematch_only_where_no_round_is_without_one(count: int, data: st.DataObject) -> None:
    rounds = data.draw(st.integers(1, count))
    known, _ = play(swiss(rounds), players(count), Luck(data.draw(st.integers(0, 1_000_000))))
    met: set[frozenset[str]] = set()
    rested: Counter[str] = Counter()
    names = players(count)["underdog"]
    for round_ in by_round(known).values():
        new = [frozenset(pair) for pair in pairs(round_)]
        rematches = sum(pair in met for pair in new)
        if count % 2:
            fewest = min(rested[name] for name in names)
            may_rest = [name for name in names if rested[name] == fewest]
            best = min(
                fewest_rematches(frozenset(names) - {name}, frozenset(met)) for name in may_rest
            )
            resting = next(name for name in names if all(name not in pair for pair in new))
            assert resting in may_rest
            rested[resting] += 1
        else:
            best = fewest_rematches(frozenset(names), frozenset(met))
        assert rematches == best
        met |= set(new)


@lru_cache(maxsize=100_000)
def fewest_rematches(left: frozenset[str], met: frozenset[frozenset[str]]) -> int:
    """Over all ways to pair everybody, by trying them."""
    if not left:
        return 0
    first = min(left)
    return min(
        (frozenset((first, other)) in met) + fewest_rematches(left - {first, other}, met)
        for other in left - {first}
    )


@settings(max_examples=20)
@given(st.integers(20, 60), st.integers(0, 1_000_000))
def test_half_as_many_rounds_as_players_need_no_rematch(count: int, number: int) -> None:
    """While everybody has met fewer than half of the others, all can be paired (Dirac)."""
    known, _ = play(swiss(count // 2), players(count), Luck(number))
    met = [frozenset(pair) for pair in pairs(known)]
    assert len(met) == len(set(met))
    assert max(Counter(byes(known, count)).values(), default=0) <= 1


def test_only_complete_rounds_matter() -> None:
    spec = swiss()
    known, scores = play(spec, players(9), Luck(3))
    rounds = by_round(known)
    partly = {each: scores[each] for each in rounds[1] + rounds[2][:-1]}
    last = rounds[2][-1]
    begun = partly | {last: Score(last.games - 1, 1.0, 0.0)}
    expected = rounds[1] + rounds[2]
    assert pairings(spec, players(9), partly) == pairings(spec, players(9), begun) == expected
    # The order in which results come in is of no matter, nor are those of rounds to come.
    backwards = dict(reversed(list((partly | {last: scores[last]}).items())))
    assert pairings(spec, players(9), backwards) == expected + rounds[3]


@settings(max_examples=60)
@given(st.integers(2, 16), st.integers(0, 1_000_000))
def test_the_list_only_grows_at_its_end(count: int, number: int) -> None:
    known, scores = play(swiss(), players(count), Luck(number))
    for end in range(len(known) + 1):
        so_far = pairings(swiss(), players(count), {each: scores[each] for each in known[:end]})
        assert known[: len(so_far)] == so_far
        assert len(so_far) >= min(end + 1, len(known))


def test_a_thousand_players() -> None:
    known, _ = play(swiss(5), players(1001), Luck(1))
    met = [frozenset(pair) for pair in pairs(known)]
    assert len(met) == len(set(met)) == 5 * 500
    known, _ = play(swiss(5), players(1000), drawn)
    assert len({frozenset(pair) for pair in pairs(known)}) == 5 * 500


# For people.


def test_rounds_to_read() -> None:
    spec = swiss(rounds=2)
    first, second = pairings(spec, players(4), {})
    scores = {first: Score(2, 1.5, 0.5), second: Score(2, 1.0, 1.0)}
    rounds = bracket(spec, players(4), scores)
    assert [each.name for each in rounds] == ["round 1", "round 2"]
    ties = rounds[0].ties
    assert [(tie.first, tie.second, tie.winner, tie.why) for tie in ties] == [
        ("p1", "p3", "p1", "1.5–0.5"),
        ("p2", "p4", None, "drawn"),
    ]
    assert [tie.complete for tie in rounds[1].ties] == [False, False]
    assert (ties[0].first_points, ties[0].second_points) == (1.5, 0.5)
    assert all(tie.winner is None and tie.why == "" for tie in rounds[1].ties)


def test_the_bracket_agrees_with_the_pairings() -> None:
    known, scores = play(swiss(), players(7), Luck(5))
    rounds: list[Round] = bracket(swiss(), players(7), scores)
    told = [(tie.first, tie.second) for each in rounds for tie in each.ties if tie.second]
    assert told == pairs(known)
    assert all(tie.complete for each in rounds for tie in each.ties)
