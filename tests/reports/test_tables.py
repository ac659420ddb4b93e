"""Tables as text, Markdown, CSV and JSON: what they look like, and what no name can do to them."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from rich.console import Console

from referee.ratings.rating import Cycles, Pool, WorstPair
from referee.reports.arrays import CODES
from referee.reports.standings import Cell, Row, Standings, Timing, VariantTable
from referee.reports.tables.cells import elo_cell, likelihood_cell, one_line, points_cell, signed
from referee.reports.tables.csv import crosstable_csv, standings_csv, timing_csv
from referee.reports.tables.files import write_tables, write_whole
from referee.reports.tables.json import as_json
from referee.reports.tables.markdown import as_markdown, escaped, timings_as_markdown
from referee.reports.tables.text import as_text, main_table, timing_table
from referee.tournament.formats import Meeting, Round, Tie
from tests.reports.stored import Met, table

NASTY = "a|b,c\"d'*_[x](y)<b>`#"
TIMINGS = [Timing(variant="duel", name=NASTY, moves=10, mean_us=400, median_us=150, p99_us=12_345)]


def a_row(rank: int, name: str, **more: Any) -> Row:
    """A row with something in every column."""
    plain: dict[str, Any] = {
        **{"rank": rank, "rank_best": rank, "rank_worst": rank, "name": name, "elo": 12.34},
        **{"err95": 5.6, "bound": None, "bound_elo": None, "games": 100, "wins": 50, "draws": 10},
        **{"losses": 40, "points": 55.0, "score": 0.55, "opponents": -12.34, "draw_rate": 0.1},
        **{"superiority": 0.987, "unrated": 0, "forfeits_won": 0, "bye_points": 0.0, "faults": {}},
    }
    return Row(**(plain | more))


def a_cell(first: str, second: str, wins: int, losses: int, distinct: int | None = None) -> Cell:
    games = wins + losses
    return Cell(
        first=first,
        second=second,
        games=games,
        wins=wins,
        draws=0,
        losses=losses,
        points=float(wins),
        score=wins / games,
        distinct=games if distinct is None else distinct,
    )


def a_table(rows: list[Row], cells: list[Cell], **more: Any) -> VariantTable:
    plain: dict[str, Any] = {
        **{"variant": "duel", "ranked_by": "elo", "tie_breaks": "By lot.", "rows": rows},
        **{"cells": cells, "pools": [], "advantage": None, "advantage_err95": None},
        **{"cycles": None, "prior": False},
    }
    return VariantTable(**(plain | more))


def a_tournament(*tables: VariantTable, **more: Any) -> Standings:
    plain: dict[str, Any] = {
        **{"name": "five", "format": "round-robin", "variants": ["duel"], "finished": True},
        **{"played": 100, "planned": 100, "seed": "s", "salt": "t", "level": "none", "bracket": []},
    }
    return Standings(tables=list(tables), **(plain | more))


TWO = a_tournament(
    a_table(
        [
            a_row(1, "counter", rank_worst=2, faults={"crash": 1, "timeout": 2}),
            a_row(2, "random", rank_best=1, elo=-12.34, superiority=None, opponents=12.34),
        ],
        [a_cell("counter", "random", 55, 45), a_cell("random", "counter", 45, 55)],
    )
)


def shown(standings: Standings, width: int = 120) -> list[str]:
    """What a terminal of this width shows, line by line."""
    text = io.StringIO()
    console = Console(file=text, width=width, highlight=False, markup=False, soft_wrap=True)
    for piece in as_text(standings, width):
        console.print(piece)
    return [line.rstrip() for line in text.getvalue().splitlines()]


def test_a_table_on_a_terminal() -> None:
    assert shown(TWO) == GOLDEN.splitlines()


def test_a_narrow_terminal_gets_the_columns_that_matter() -> None:
    def headings(width: int) -> list[str]:
        return re.split(r"\s{2,}|(?<=#)\s", shown(TWO, width)[2].strip())

    every = ["#", "range", "bot", "Elo", "±", "games", "W", "D", "L", "score %", "opponents"]
    every += ["draws %", "> next %", "faults"]
    assert headings(120) == every
    for width in (40, 60, 80, 100):
        assert [each for each in every if each in headings(width)] == headings(width)
        assert {"#", "bot", "Elo", "score %"} <= set(headings(width))
    assert {"range", "±", "W", "D", "L", "games"} <= set(headings(80))


@pytest.mark.parametrize("width", [40, 80, 120])
def test_tables_fit(width: int) -> None:
    names = [f"{letter}{'-of-the-longest-kind' * 2}" for letter in "abc"]
    cells = [a_cell(one, other, 3, 4) for one in names for other in names if one != other]
    rows = [a_row(number, name) for number, name in enumerate(names, start=1)]
    lines = shown(a_tournament(a_table(rows, cells)), width)
    tabular = [line for line in lines if re.match(r"\s*(\d|#) ", line)]
    assert len(tabular) == 1 + 3 + 3
    assert max(map(len, tabular)) <= width
    if width < 80:
        assert "…" in tabular[1]


def test_a_cross_table_that_does_not_fit_is_elsewhere() -> None:
    names = [f"bot{number}" for number in range(30)]
    cells = [a_cell(one, other, 3, 4) for one in names for other in names if one != other]
    rows = [a_row(number, name) for number, name in enumerate(names, start=1)]
    wide = a_tournament(a_table(rows, cells))
    told = "The cross-table of 30 bots does not fit here: see crosstable.csv or standings.md."
    assert told in shown(wide, 80)
    assert told not in shown(wide, 200)


def notes_of(**more: Any) -> str:
    (table,) = TWO.tables
    return "\n".join(shown(replace(TWO, tables=[replace(table, **more)])))


def test_notes() -> None:
    (table,) = TWO.tables
    assert "By lot." in notes_of()
    assert "virtual draw" in notes_of(prior=True)
    assert "The first seat is worth +12 ± 3 Elo." in notes_of(advantage=12.3, advantage_err95=3.1)
    pools = [Pool(players=["counter"], anchored=False), Pool(players=["random"], anchored=True)]
    assert "2 pools" in notes_of(pools=pools)
    assert "Pool 1: counter; Pool 2: random." in notes_of(pools=pools)
    perfect = replace(table.rows[0], elo=None, err95=None, bound=">", bound_elo=340.2)
    told = notes_of(rows=[perfect, table.rows[1]])
    assert ">+340" in told
    assert "counter has won every game" in told
    void = [replace(row, unrated=3) for row in table.rows]
    assert "3 games void or forfeited" in notes_of(rows=void)
    assert "unrated" in notes_of(rows=void)
    assert "unrated" not in notes_of()


def test_repeated_games_are_told() -> None:
    cells = [a_cell("counter", "random", 60, 40, 2), a_cell("random", "counter", 40, 60, 2)]
    told = notes_of(cells=cells)
    assert "2 of 100 rated games are distinct, so less is known than it seems: " in told
    assert "counter – random 2 of 100." in told
    assert "60.0*" in told
    assert "100 of 100 rated games are distinct." in notes_of()


def test_cycles_are_told() -> None:
    worst = [WorstPair(first="a", second="b", games=10, score=0.9, expected=0.5, z=2.5)]
    cyclic = Cycles(chi2=30.0, degrees=1, p=1e-7, cyclic_share=0.93, worst=worst)
    told = notes_of(cycles=cyclic)
    assert "Single numbers do not explain the results (χ² 30.0" in told
    assert "p < 0.001" in told
    assert "93 % of the differences are cyclic" in told
    assert "a – b scored 90 % where 50 % was expected" in told
    assert "results do not contradict single numbers" in notes_of(cycles=replace(cyclic, p=0.4))


def test_rounds_are_told() -> None:
    ties = (
        Tie(
            first="a",
            first_seed=1,
            second="b",
            second_seed=2,
            meetings=(Meeting(2.0, 2.0, True), Meeting(1.5, 2.5, True)),
            complete=True,
            winner="b",
            why="won replay 1",
        ),
        Tie(first="c", first_seed=3, second=None, second_seed=None, complete=True, winner="c"),
        Tie(first="d", first_seed=4, second="e", second_seed=5, meetings=(Meeting(1, 0, False),)),
    )
    knockout = replace(TWO, format="knockout", bracket=[Round(1, "semi-finals", ties)])
    lines = shown(knockout)
    at = lines.index("Semi-finals")
    assert lines[at + 1 : at + 4] == [
        "  a 2–2, 1.5–2.5 b: b (won replay 1)",
        "  c has a bye",
        "  d 1–0 e, in progress",
    ]
    assert "- a 2–2, 1.5–2.5 b: b (won replay 1)" in as_markdown(knockout)
    assert "  a 2–2, 1.5–2.5 b" in shown(replace(knockout, format="swiss"))


def test_a_running_tournament_says_so() -> None:
    running = replace(TWO, finished=False, played=7, seed=None, salt=None)
    assert shown(running)[0] == "five: round-robin; duel; 7 of 100 games; in progress"


# Names that would like to be something else.


def test_markdown_has_as_many_cells_as_headings() -> None:
    rows = [a_row(1, NASTY, faults={"crash": 2}), a_row(2, "b")]
    text = as_markdown(
        a_tournament(a_table(rows, [a_cell(NASTY, "b", 1, 1), a_cell("b", NASTY, 1, 1)]))
    )
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 4 + 4
    for grid in (lines[:4], lines[4:]):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in grid}) == 1
    assert "2 crash" in text
    assert escaped("a|b") == r"a\|b"
    assert escaped("a\nb") == r"a\\nb"
    assert timings_as_markdown(TIMINGS).count("\n") == 3


def test_csv_reads_back() -> None:
    rows = [a_row(1, NASTY, faults={"crash": 2, "forfeit": 1}), a_row(2, "b", elo=None)]
    cells = [a_cell(NASTY, "b", 1, 1)]
    both = a_tournament(a_table(rows, cells), a_table(rows, cells, variant=None))
    found = list(csv.DictReader(io.StringIO(standings_csv(both))))
    assert [line["variant"] for line in found] == ["duel", "duel", "all variants", "all variants"]
    assert found[0]["name"] == NASTY
    assert (found[0]["faults"], found[0]["crash"], found[0]["forfeit"]) == ("3", "2", "1")
    assert (found[0]["elo"], found[1]["elo"]) == ("12.34", "")
    assert set(CODES) <= set(found[0])
    assert all(None not in line and None not in line.values() for line in found)
    (crossed, _) = csv.DictReader(io.StringIO(crosstable_csv(both)))
    assert (crossed["first"], crossed["second"], crossed["distinct"]) == (NASTY, "b", "2")
    assert crossed["level"] == found[0]["level"] == both.level
    (times,) = csv.DictReader(io.StringIO(timing_csv(TIMINGS, "full")))
    assert times == {
        **{
            "variant": "duel",
            "name": NASTY,
            "moves": "10",
            "mean_us": "400",
            "median_us": "150",
            "p99_us": "12345",
            "level": "full",
        }
    }


def test_json_is_the_value() -> None:
    found = json.loads(as_json(TWO))
    assert found["tables"][0]["rows"][0]["name"] == "counter"
    assert found["tables"][0]["rows"][0]["bound"] is None
    assert found["tables"][0]["cells"][0]["distinct"] == 100


def test_a_name_gives_the_terminal_no_orders() -> None:
    red = a_tournament(a_table([a_row(1, "\x1b[31mred", faults={"crash": 1})], []))
    assert not any("\x1b" in line for line in shown(red))
    assert one_line("\x1b[31mred") == "\\x1b[31mred"


def test_time_per_move() -> None:
    text = io.StringIO()
    Console(file=text, width=80).print(timing_table(TIMINGS, 80))
    assert text.getvalue().split()[-4:] == ["10", "0.400", "0.150", "12.345"]


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (elo_cell(-0.4), "0"),
        (elo_cell(None), "–"),
        (elo_cell(None, "<", -120.0), "<-120"),
        (signed(12.5), "+12"),
        (likelihood_cell(0.99999), ">99.9"),
        (likelihood_cell(0.0), "<0.1"),
        (likelihood_cell(None), "–"),
        (points_cell(1_234_567.5), "1234567.5"),
        (points_cell(12.0), "12"),
    ],
)
def test_cells(shown: str, expected: str) -> None:
    assert shown == expected


# Files.


def test_files_are_written_and_written_again(tmp_path: Path) -> None:
    names = ["standings.md", "standings.csv", "crosstable.csv", "standings.json", "timing.csv"]
    assert write_tables(tmp_path, TWO, TIMINGS) == [tmp_path / name for name in names]
    before = {name: (tmp_path / name).read_bytes() for name in names}
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    write_tables(tmp_path, TWO, TIMINGS)
    assert {name: (tmp_path / name).read_bytes() for name in names} == before
    assert all(data.endswith(b"\n") for data in before.values())


def test_no_time_and_no_path_is_in_the_tables(tmp_path: Path) -> None:
    found = table(tmp_path, [Met("a", "b", "10" * 4)])
    write_tables(tmp_path, found, TIMINGS)
    for name in ("standings.md", "standings.csv", "crosstable.csv", "standings.json"):
        text = (tmp_path / name).read_text()
        assert str(tmp_path) not in text
        assert "2026" not in text
        assert "12345" not in text


def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("before")
    with pytest.raises(OSError, match="standings") as caught:
        write_whole(tmp_path, {"one": b"after", "no/standings": b""})
    assert caught.value.filename == str(tmp_path / "no/standings")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("one", "before")]


def test_the_live_view_draws_a_table(tmp_path: Path) -> None:
    (only,) = table(tmp_path, [Met("a", "b", "10" * 4)], finished=False).tables
    assert len(main_table(only, 80).plain.splitlines()) == 3


GOLDEN = """\
five: round-robin; duel; 100 of 100 games; seed s; salt t

#  range  bot      Elo  ±  games   W   D   L  score %  opponents  draws %  > next %  faults
1    1–2  counter  +12  6    100  50  10  40     55.0        -12     10.0      98.7       3
2    1–2  random   -12  6    100  50  10  40     55.0        +12     10.0         –       0

Faults of counter: 1 crash, 2 timeout

Score in % against each
   bot         1     2
1  counter     ·  55.0
2  random   45.0     ·

By lot.
Elo and ± (95 %) refer to the mean, which is 0; ± is taken between pairs of the same chance.
Range: ranks that the results do not exclude. > next: likelihood of being stronger than the next.
100 of 100 rated games are distinct.
Level none: the bots ran unconfined, with the rights of whoever started them.
"""
