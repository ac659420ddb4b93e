"""Tables of stored games: what is counted, what is not, and that no order of storing matters."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from referee.reports.standings import (
    Cell,
    Row,
    Standings,
    VariantTable,
    standings,
    timings,
)
from referee.reports.tables.csv import crosstable_csv, standings_csv
from referee.reports.tables.json import as_json
from referee.reports.tables.markdown import as_markdown
from referee.reports.tables.notes import headline
from referee.store.buckets import bucket_of, value_of
from referee.store.database import Store
from tests.records import faulty, games
from tests.reports.stored import Met, make, make_real, table

TRIANGLE = [Met("a", "b", "11=0" * 5), Met("b", "c", "1=10" * 5), Met("a", "c", "1110" * 5)]


def row(of: VariantTable, name: str) -> Row:
    return next(row for row in of.rows if row.name == name)


def cell(of: VariantTable, first: str, second: str) -> Cell:
    return next(cell for cell in of.cells if (cell.first, cell.second) == (first, second))


def test_games_are_counted(tmp_path: Path) -> None:
    found = table(tmp_path, TRIANGLE)
    assert (found.name, found.format, found.variants) == ("test", "round-robin", ["underdog"])
    assert (found.played, found.planned, found.finished) == (60, 60, True)
    (only,) = found.tables
    assert [row.name for row in only.rows] == ["a", "b", "c"]
    first, second, third = only.rows
    assert (first.rank, second.rank, third.rank) == (1, 2, 3)
    assert (first.games, first.wins, first.draws, first.losses) == (40, 25, 5, 10)
    assert (first.points, first.score, first.draw_rate) == (27.5, 0.6875, 0.125)
    assert first.elo is not None
    assert third.elo is not None
    assert first.elo > 0 > third.elo
    assert first.superiority is not None
    assert first.superiority > 0.5
    assert third.superiority is None
    assert (first.unrated, first.forfeits_won, first.faults) == (0, 0, {})


def test_cells_are_seen_from_both_sides(tmp_path: Path) -> None:
    (only,) = table(tmp_path, TRIANGLE).tables
    assert [(cell.first, cell.second) for cell in only.cells] == [
        *(("a", "b"), ("a", "c"), ("b", "a"), ("b", "c"), ("c", "a"), ("c", "b"))
    ]
    one, other = cell(only, "a", "b"), cell(only, "b", "a")
    assert (one.games, one.wins, one.draws, one.losses, one.points) == (20, 10, 5, 5, 12.5)
    assert (other.wins, other.draws, other.losses, other.points) == (5, 5, 10, 7.5)
    assert (one.score, other.score) == (0.625, 0.375)
    assert one.distinct == other.distinct == 20


def test_copies_of_a_game_are_one_distinct_game(tmp_path: Path) -> None:
    meetings = [Met("a", "b", "10" * 50, copies=True), Met("a", "c", "10" * 50)]
    (only,) = table(tmp_path, meetings).tables
    assert (cell(only, "a", "b").games, cell(only, "a", "b").distinct) == (100, 2)
    assert cell(only, "b", "a").repeats
    assert (cell(only, "a", "c").distinct, cell(only, "a", "c").repeats) == (100, False)


def test_the_same_game_in_two_variants_is_two_games(tmp_path: Path) -> None:
    twice = [Met("a", "b", "10" * 4, copies=True, variant=each) for each in ("duel", "deck")]
    found = table(tmp_path, twice)
    assert [each.variant for each in found.tables] == ["duel", "deck", None]
    assert [cell(each, "a", "b").distinct for each in found.tables] == [2, 2, 4]


def test_forfeits_and_void_games_are_in_no_rating(tmp_path: Path) -> None:
    plain = table(tmp_path / "plain", TRIANGLE).tables[0]
    odd = [*TRIANGLE[:2], Met("a", "c", "1110" * 5 + "FFFv")]
    with_odd = table(tmp_path / "odd", odd).tables[0]
    for name in "abc":
        before, after = row(plain, name), row(with_odd, name)
        assert (after.elo, after.err95, after.games) == (before.elo, before.err95, before.games)
        assert after.points == before.points
    assert [row(with_odd, name).unrated for name in "abc"] == [4, 0, 4]
    assert [row(with_odd, name).forfeits_won for name in "abc"] == [3, 0, 0]
    assert row(with_odd, "a").faults == {"timeout": 1}
    assert row(with_odd, "c").faults == {"timeout": 1, "forfeit": 3}
    assert cell(with_odd, "a", "c").games == 20


def test_nobody_wins_where_both_forfeit(tmp_path: Path) -> None:
    (only,) = table(tmp_path, [Met("a", "b", "10VVVF")], rank_by="points").tables
    assert [(each.name, each.points, each.unrated) for each in only.rows] == [
        *(("a", 2.0, 4), ("b", 1.0, 4))
    ]
    assert row(only, "a").faults == {"forfeit": 3}
    assert row(only, "b").faults == {"forfeit": 4}


def test_a_forfeit_is_a_point_where_points_rank(tmp_path: Path) -> None:
    meetings = [Met("a", "b", "1101"), Met("c", "d", "10FFFF"), Met("a", "c", "==")]
    by_elo = table(tmp_path / "elo", meetings).tables[0]
    assert by_elo.rows[0].name == "a"
    by_points = table(tmp_path / "points", meetings, rank_by="points").tables[0]
    assert by_points.ranked_by == "points"
    assert "forfeit" in by_points.tie_breaks
    assert [(each.rank, each.name, each.points) for each in by_points.rows] == [
        *((1, "c", 6.0), (2, "a", 4.0), (3, "d", 1.0), (4, "b", 1.0))
    ]
    assert row(by_points, "c").score == row(by_elo, "c").score == 0.5
    assert row(by_elo, "c").points == 2.0


def test_the_ranking_can_be_overridden(tmp_path: Path) -> None:
    folder = make(tmp_path, TRIANGLE)
    with Store.read(folder) as store:
        assert standings(store).tables[0].ranked_by == "elo"
        assert standings(store, rank_by="points").tables[0].ranked_by == "points"


def test_pairs_of_two_pairings_stay_apart(tmp_path: Path) -> None:
    """The first pair of one variant and the first pair of another are not one pair."""
    results = "11100100" * 5
    once = table(tmp_path / "once", [Met("a", "b", results * 2)]).tables[0]
    both = [Met("a", "b", results, variant=variant) for variant in ("duel", "deck")]
    over_all = table(tmp_path / "twice", both).tables[-1]
    assert over_all.variant is None
    for name in "ab":
        assert row(over_all, name) == row(once, name)


def test_a_variant_has_the_bots_that_play_it(tmp_path: Path) -> None:
    meetings = [Met("a", "b", "10", variant="duel"), Met("a", "c", "1=", variant="deck")]
    found = table(tmp_path, meetings)
    assert [sorted(row.name for row in each.rows) for each in found.tables[:2]] == [
        ["a", "b", "c"],
        ["a", "b", "c"],
    ]
    assert row(found.tables[0], "c").games == 0


def test_a_tournament_in_progress(tmp_path: Path) -> None:
    meetings = [Met("a", "b", "10", games=100), Met("a", "c", "", games=100)]
    found = table(tmp_path, meetings, finished=False)
    assert (found.played, found.planned, found.finished) == (2, 200, False)
    assert found.seed is found.salt is None
    assert row(found.tables[0], "c").games == 0
    assert table(tmp_path / "over", TRIANGLE).seed == "a seed"


@pytest.mark.parametrize("rank_by", ["elo", "points"])
def test_no_order_of_storing_matters(rank_by: str, tmp_path: Path) -> None:
    meetings = [
        Met("c", "a", "11=0v1F=10" * 3),
        Met("b", "c", "1=10f" * 6),
        Met("a", "b", "0111" * 5, copies=True),
        Met("b", "a", "=10=" * 5, variant="duel"),
    ]
    seen = set()
    for seed in (None, 1, 2, 3):
        found = table(tmp_path / str(seed), meetings, shuffle=seed, rank_by=rank_by)
        texts = as_markdown(found), standings_csv(found), crosstable_csv(found), as_json(found)
        seen.add(texts)
    assert len(seen) == 1


def test_real_games(tmp_path: Path) -> None:
    records = games("underdog")
    folder = make_real(
        tmp_path,
        {("random", "highest"): records, ("a", "b"): [faulty("timeout"), faulty("void")]},
    )
    with Store.read(folder) as store:
        found = standings(store)
    underdog, duel, _ = found.tables
    mine = sum(record.points()[record.players.index("random")] for record in records)
    assert row(underdog, "random").points == mine
    assert row(underdog, "random").games == 6
    assert row(duel, "a").faults == {"timeout": 1, "illegal": 1}
    assert (row(duel, "a").games, row(duel, "a").unrated) == (1, 1)
    assert row(duel, "b").wins == 1


def test_times_are_kept_apart(tmp_path: Path) -> None:
    with Store.read(make(tmp_path, [Met("a", "b", "10" * 50)])) as store:
        found = timings(store)
        text = as_json(standings(store))
    assert [(each.variant, each.name, each.moves) for each in found] == [
        ("underdog", "a", 200),
        ("underdog", "b", 200),
    ]
    # Half of the moves took 100 µs; of the others, half took 40 and half 3,000.
    assert found[0].median_us == value_of(bucket_of(100))
    assert found[0].p99_us == value_of(bucket_of(3_000))
    assert b"_us" not in text


def test_the_rounds_of_a_knockout(tmp_path: Path) -> None:
    meetings = [
        *(Met("a", "d", "1110"), Met("b", "c", "10FF")),
        *(Met("a", "b", "10==", round=2), Met("a", "b", "0000", round=2, replay=1)),
    ]
    found = table(tmp_path, meetings, bots="abcd", format="knockout", games=4)
    semi, final = found.bracket
    assert [(tie.first, tie.second, tie.winner) for tie in semi.ties] == [
        *(("a", "d", "a"), ("b", "c", "b"))
    ]
    assert (semi.ties[1].first_points, semi.ties[1].second_points) == (3.0, 1.0)
    (tie,) = final.ties
    assert (tie.winner, len(tie.meetings)) == ("b", 2)


def ranks(table: VariantTable) -> list[tuple[int, int, int, str]]:
    """Of those that have one."""
    return [(*row.ranks, row.name) for row in table.rows if row.rank is not None]


def test_a_knockout_is_ranked_by_how_far_a_bot_came(tmp_path: Path) -> None:
    """Not by Elo: who lost the final has won more of its games than the champion."""
    meetings = [
        *(Met("d", "e", "1000"), Met("a", "e", "1101", round=2), Met("b", "c", "0000", round=2)),
        Met("a", "c", "110=", round=3),
    ]
    found = table(tmp_path / "played", meetings, bots="abcde", format="knockout", games=4)
    assert found.champion == "a"
    assert ranks(found.tables[0]) == [
        *((1, 1, 1, "a"), (2, 2, 2, "c")),
        *((3, 3, 4, "e"), (3, 3, 4, "b"), (5, 5, 5, "d")),
    ]
    assert {row.superiority for row in found.tables[0].rows} == {None}
    assert headline(found).startswith("won by a; knockout; ")
    assert [cell.first for cell in found.tables[0].cells][:2] == ["a", "a"]
    with Store.read(tmp_path / "played") as store:
        asked = standings(store, rank_by="elo").tables[0].rows
    assert [row.rank_worst for row in asked] == [5] * 5


def test_a_knockout_of_two_variants_has_one_order(tmp_path: Path) -> None:
    meetings = [
        Met("a", "b", "1110", variant="duel"),
        Met("a", "b", "0100", variant="underdog"),
        Met("a", "b", "11=1", variant="duel", replay=1),
        Met("a", "b", "1000", variant="underdog", replay=1),
    ]
    found = table(tmp_path / "t", meetings, format="knockout", games=4)
    assert found.champion == "a"
    assert [ranks(each) for each in found.tables] == [[(1, 1, 1, "a"), (2, 2, 2, "b")]] * 3


TWO_VARIANTS = [
    Met("a", "b", "1101", variant="duel"),
    Met("a", "c", "1111", variant="duel"),
    Met("b", "c", "1001", variant="duel"),
    Met("a", "b", "0110", variant="underdog"),
]


def test_a_disqualified_bot_has_no_rank(tmp_path: Path) -> None:
    found = table(
        tmp_path / "t", TWO_VARIANTS[:3], values={"disqualified": '{"a": "it was not its own"}'}
    )
    (only,) = found.tables
    assert [(row.rank, row.name) for row in only.rows][2] == (None, "a")
    assert [rank for rank, *_ in ranks(only)] == [1, 2]
    assert all(best <= rank <= worst <= 2 for rank, best, worst, _ in ranks(only))
    assert only.cells[-1].first == "a"
    assert "| – | – | a |" in as_markdown(found)
    assert ",,,a," in standings_csv(found)


def test_over_all_variants_a_bot_that_skips_one_has_no_rank(tmp_path: Path) -> None:
    found = table(tmp_path / "t", TWO_VARIANTS, plays={"c": ["duel"]})
    duel, _, both = found.tables
    assert [row.name for row in both.rows if row.rank is None] == ["c"]
    assert both.partial == ["c"]
    assert len(ranks(duel)) == 3
    assert as_markdown(found).count(": c.") == 1
    nobody = table(tmp_path / "n", TWO_VARIANTS, plays={each: ["duel"] for each in "abc"})
    assert len(ranks(nobody.tables[-1])) == 3, "where nobody plays all, all have ranks"


def test_swiss_rounds_to_come_are_planned(tmp_path: Path) -> None:
    meetings = [Met("a", "c", "1110"), Met("b", "d", "10")]
    terms = {"bots": "abcd", "format": "swiss", "rounds": 3, "games": 4}
    found = table(tmp_path / "begun", meetings, finished=False, **terms)
    assert (found.played, found.planned) == (6, 24)


def test_a_knockout_in_progress(tmp_path: Path) -> None:
    """Whom nobody has beaten yet shares the first places."""
    meetings = [Met("a", "d", "1110"), Met("b", "c", "", games=4)]
    found = table(tmp_path, meetings, bots="abcd", format="knockout", games=4, finished=False)
    assert found.champion is None
    (first, *_, last) = ranks(found.tables[0])
    assert first[:3] == (1, 1, 3)
    assert last == (3, 3, 4, "d")


DEGENERATE: dict[str, list[Met]] = {
    "no games": [Met("a", "b", "", games=10)],
    "all draws": [Met("a", "b", "====")],
    "one game": [Met("a", "b", "1")],
    "only forfeits": [Met("a", "b", "FFFF")],
    "only void": [Met("a", "b", "vv")],
    "perfect": [Met("a", "b", "1111"), Met("b", "c", "1111"), Met("a", "c", "1111")],
    "disconnected": [Met("a", "b", "10=1"), Met("c", "d", "1001")],
    "two that never scored": [Met("a", "b", "1111"), Met("a", "c", "1111")],
    "one idle": [Met("a", "b", "10"), Met("a", "c", "", games=4)],
}


@pytest.mark.parametrize("rank_by", ["elo", "points"])
@pytest.mark.parametrize("name", DEGENERATE)
def test_a_degenerate_table_is_a_table(name: str, rank_by: str, tmp_path: Path) -> None:
    found = table(tmp_path, DEGENERATE[name], rank_by=rank_by, advantage=True)
    (only,) = found.tables
    assert min(row.ranks for row in only.rows)[0] == 1
    for each in only.rows:
        rank, best, worst = each.ranks
        assert best <= rank <= worst <= len(only.rows)
        assert each.elo is None or each.bound is None
    for text in (as_markdown(found), standings_csv(found), as_json(found).decode()):
        assert "nan" not in text.lower().replace("tournament", "")
        assert "inf" not in text.lower()
    assert msgspec.json.decode(as_json(found), type=Standings) == found


def test_one_bot_and_none(tmp_path: Path) -> None:
    (alone,) = table(tmp_path / "one", [], bots=["a"]).tables
    assert [(row.rank, row.name, row.elo, row.score) for row in alone.rows] == [
        (1, "a", None, None)
    ]
    (empty,) = table(tmp_path / "none", []).tables
    assert (empty.rows, empty.cells) == ([], [])
