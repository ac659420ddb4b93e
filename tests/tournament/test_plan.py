"""The plan: sizes against the formats themselves, worst cases by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from referee.clock import Clock
from referee.tournament.plan import longest_game_ms, plan, show_long_ms, told
from referee.tournament.spec import FORMATS, Format, Spec
from tests.tournament.playing import drawn, play, players, stronger_wins

TWO = ("underdog", "target")


def spec(form: Format = "round-robin", **given: object) -> Spec:
    base = Spec(name="x", variants=TWO, format=form, games=4, startup="1s", warm_up="500ms")
    return replace(base, **given)


@settings(max_examples=60)
@given(st.sampled_from(FORMATS), st.integers(2, 20), st.integers(1, 3), st.integers(0, 2))
def test_sizes_are_those_that_are_played(
    form: Format, count: int, best_of: int, replays: int
) -> None:
    given_ = spec(form)
    if form == "knockout":
        given_ = replace(given_, best_of=best_of, replays=replays)
    found = plan(given_, players(count, TWO))
    known, _ = play(given_, players(count, TWO), drawn)
    assert found.games == 4 * found.pairings
    if found.exact:
        assert found.pairings == len(known)
    else:
        # Nothing but draws takes as many meetings as there can be.
        assert form == "knockout" and found.pairings == len(known)
        fewer, _ = play(given_, players(count, TWO), stronger_wins)
        assert len(fewer) < found.pairings
    rounds = max(each.round for each in known)
    assert found.rounds == (rounds if form in ("swiss", "knockout") else None)


def test_the_worst_case_by_hand() -> None:
    # Underdog: 20 plays of 1 s + 50 ms. Target with numbers to 9: 18 plays. Three players, three
    # pairings of four games each, and in each of them both bots start once; before the first game
    # each of the three is started three times.
    found = plan(spec(), players(3, TWO))
    assert [(each.most_plays, each.game_ms) for each in found.variants] == [
        (20, 21_000),
        (18, 18_900),
    ]
    play_ms = 12 * 21_000 + 12 * 18_900
    start_ms = 2 * 3 * 2 * 1_500 + 3 * 3 * 1_000
    assert (found.pairings, found.games, found.exact) == (6, 24, True)
    assert found.worst_ms == play_ms + start_ms
    assert play_ms + start_ms == 505_800
    assert plan(spec(jobs=7), players(3, TWO)).worst_ms == 72_258  # 72 257.1


def test_bots_start_for_every_sixth_game() -> None:
    base = Spec(name="x", variants=("underdog",), startup="1s", warm_up="0s")
    six = plan(replace(base, games=6), players(2)).worst_ms
    seven = plan(replace(base, games=7), players(2)).worst_ms
    assert six is not None and seven is not None
    assert seven - six == 20 * 1_050 + 2 * 1_000


def test_where_luck_is_hidden_bots_start_for_each_half() -> None:
    base = Spec(name="x", variants=("deck",), games=10, startup="1s", warm_up="0s")
    found = plan(base, players(2, ("deck",)))
    assert found.worst_ms == 10 * 20 * 1_050 + 2 * 2 * 1_000 + 2 * 3 * 1_000
    single = plan(replace(base, games=1), players(2, ("deck",)))
    assert single.worst_ms == 20 * 1_050 + 2 * 1_000 + 2 * 3 * 1_000


@pytest.mark.parametrize(
    ("clock", "plays", "longest_ms"),
    [
        (Clock(move_ms=100, grace_ms=10), 7, 770),
        (Clock(bank_ms=1_000, increment_ms=0, grace_ms=0), 20, 2_000),
        # Each seat moves ten times; the increment after its last move is of no use.
        (Clock(bank_ms=1_000, increment_ms=10, grace_ms=5), 20, 2_000 + 180 + 100),
        (Clock(bank_ms=1_000, increment_ms=10, grace_ms=0), 1, 2_000),
        (Clock(bank_ms=1_000, increment_ms=0, move_ms=10, grace_ms=0), 20, 200),
        (Clock(), 20, None),
    ],
)
def test_the_longest_game(clock: Clock, plays: int, longest_ms: int | None) -> None:
    assert longest_game_ms(clock, plays) == longest_ms


def test_without_a_clock_there_is_no_end() -> None:
    found = plan(spec(time="none"), players(3, TWO))
    assert found.worst_ms is None and found.games == 24
    assert told(found)[-1] == "worst case: no end, since moves have no time limit"


def test_variants_with_players_of_their_own() -> None:
    entered = {"underdog": ["a", "b", "c"], "target": ["a", "b"]}
    found = plan(spec(), entered)
    assert [(each.players, each.pairings) for each in found.variants] == [(3, 3), (2, 1)]
    ours = plan(spec("gauntlet", challengers=("a", "c")), entered)
    assert [each.pairings for each in ours.variants] == [2, 1]


def test_told() -> None:
    assert told(plan(spec("knockout", jobs=2), players(5, TWO))) == [
        "knockout, 3 rounds: at most 32 pairings, at most 128 games",
        "  underdog: 5 bots, at most 16 pairings, at most 64 games of up to 20 plays "
        "(21 s at worst)",
        "  target: 5 bots, at most 16 pairings, at most 64 games of up to 18 plays (19 s at worst)",
        "worst case with 2 jobs: 22 min 13 s, if every move takes its whole limit and every bot is "
        "slow to start",
    ]


@pytest.mark.parametrize(
    ("duration_ms", "shown"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1_000, "1 s"),
        (1_001, "2 s"),
        (60_000, "1 min"),
        (61_000, "1 min 1 s"),
        (3_600_000, "1 h"),
        (3_661_000, "1 h 2 min"),
        (86_400_000, "1 day"),
        (200_000_000, "2 days 8 h"),
        (86_400_000 * 400, "400 days"),
    ],
)
def test_long_durations(duration_ms: int, shown: str) -> None:
    assert show_long_ms(duration_ms) == shown


def test_a_large_round_robin_is_only_counted() -> None:
    huge = plan(Spec(name="x", variants=("underdog",), games=10_000_000), players(100_000))
    assert huge.pairings == 100_000 * 99_999 // 2
