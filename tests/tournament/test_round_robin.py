"""Round-robin and gauntlet: who meets is settled from the start."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.tournament.formats import Pairing, Score, bracket, pairings
from referee.tournament.spec import Spec
from tests.tournament.playing import play, players, stronger_wins

ROBIN = Spec(name="robin", variants=("underdog",))
GAUNTLET = Spec(name="gauntlet", variants=("underdog",), format="gauntlet")


def met(known: list[Pairing], variant: str = "underdog") -> list[frozenset[str]]:
    return [frozenset((each.first, each.second)) for each in known if each.variant == variant]


@settings(max_examples=60)
@given(st.lists(st.integers(2, 40), min_size=1, max_size=3))
def test_every_pair_meets_once_in_every_variant(counts: list[int]) -> None:
    entered = {f"v{place}": players(count)["underdog"] for place, count in enumerate(counts)}
    known = pairings(ROBIN, entered, {})
    for variant, names in entered.items():
        pairs = met(known, variant)
        assert len(pairs) == len(set(pairs))
        assert set(pairs) == {frozenset(pair) for pair in combinations(names, 2)}
    assert len(known) == sum(count * (count - 1) // 2 for count in counts)


@pytest.mark.parametrize("count", range(2, 41))
def test_a_table_in_progress_is_fair(count: int) -> None:
    """Wherever it is looked at, nobody is more than two pairings ahead of another."""
    seen = Counter(dict.fromkeys(players(count)["underdog"], 0))
    for pairing in pairings(ROBIN, players(count), {}):
        seen.update((pairing.first, pairing.second))
        assert max(seen.values()) - min(seen.values()) <= 2


@pytest.mark.parametrize("count", range(2, 41))
def test_everybody_is_first_as_often_as_second_or_one_off(count: int) -> None:
    known = pairings(ROBIN, players(count), {})
    firsts = Counter(pairing.first for pairing in known)
    for name in players(count)["underdog"]:
        assert abs(2 * firsts[name] - (count - 1)) <= 1


def test_variants_take_turns() -> None:
    known = pairings(ROBIN, players(6, ("underdog", "duel")), {})
    assert [each.variant for each in known[:6]] == ["underdog"] * 3 + ["duel"] * 3


def test_nobody_and_one_player() -> None:
    assert pairings(ROBIN, {}, {}) == []
    assert pairings(ROBIN, {"underdog": []}, {}) == []
    assert pairings(ROBIN, players(1), {}) == []
    assert pairings(GAUNTLET, players(1), {}) == []
    assert pairings(GAUNTLET, {"underdog": []}, {}) == []


@pytest.mark.parametrize("spec", [ROBIN, GAUNTLET])
def test_results_change_nothing(spec: Spec) -> None:
    known, scores = play(spec, players(7), stronger_wins)
    assert known == pairings(spec, players(7), {}) == pairings(spec, players(7), scores)
    assert bracket(spec, players(7), scores) == []


def test_four_players_by_hand() -> None:
    known = pairings(ROBIN, players(4), {})
    assert [(each.first, each.second) for each in known] == [
        *(("p1", "p4"), ("p2", "p3")),
        *(("p4", "p2"), ("p3", "p1")),
        *(("p3", "p4"), ("p1", "p2")),
    ]
    assert {(each.round, each.games, each.replay) for each in known} == {(1, 100, 0)}


def test_the_first_bot_runs_the_gauntlet() -> None:
    known = pairings(GAUNTLET, players(5), {})
    assert [(each.first, each.second) for each in known] == [
        *(("p1", "p2"), ("p1", "p3"), ("p1", "p4"), ("p1", "p5")),
    ]


@settings(max_examples=60)
@given(st.integers(2, 20), st.data())
def test_challengers_meet_all_others_once(count: int, data: st.DataObject) -> None:
    names = players(count)["underdog"]
    ours = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=count - 1, unique=True))
    spec = Spec(name="g", variants=("underdog",), format="gauntlet", challengers=tuple(ours))
    known = pairings(spec, players(count), {})
    others = [name for name in names if name not in ours]
    assert sorted((each.first, each.second) for each in known) == sorted(
        (ours_, theirs) for ours_ in ours for theirs in others
    )


def test_challengers_do_not_queue_for_the_same_opponent() -> None:
    spec = Spec(name="g", variants=("underdog",), format="gauntlet", challengers=("p1", "p2"))
    known = pairings(spec, players(5), {})
    assert [(each.first, each.second) for each in known] == [
        *(("p1", "p3"), ("p2", "p4")),
        *(("p1", "p4"), ("p2", "p5")),
        *(("p1", "p5"), ("p2", "p3")),
    ]


def test_a_challenger_meets_those_who_play_the_variant() -> None:
    entered = {"underdog": ["p1", "p2", "p3"], "duel": ["p2", "p3"], "deck": ["p1", "p3"]}
    known = pairings(GAUNTLET, entered, {})
    assert [(each.variant, each.second) for each in known] == [
        *(("underdog", "p2"), ("deck", "p3"), ("underdog", "p3")),
    ]


def test_a_score_of_another_length_is_another_pairing() -> None:
    """More games extend a pairing; its key is the new one."""
    pairing = pairings(ROBIN, players(2), {})[0]
    assert pairing == Pairing(1, "underdog", "p1", "p2", 100)
    assert {pairing: Score(100, 50, 50)}.get(Pairing(1, "underdog", "p1", "p2", 200)) is None
