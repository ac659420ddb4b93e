"""Rulings: what they change in every table, and what they leave as it is."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import msgspec
import pytest

from referee.reports.html.data import NOBODY, gather
from referee.reports.html.make import source_of
from referee.reports.standings import Standings, read_standings, standings
from referee.reports.tables.csv import rulings_csv, standings_csv
from referee.reports.tables.files import write_tables
from referee.reports.tables.markdown import as_markdown
from referee.reports.tables.notes import SHOWN_RULINGS, notes
from referee.store.database import Store
from referee.store.rows import RulingRow
from tests.records import faulty, games
from tests.reports.stored import Met, make, make_real, table

AT = "2026-11-16T12:00:00.000Z"
MET = [
    *(Met("ann", "bob", "10=1F0v1"), Met("bob", "cat", "1=10f")),
    Met("ann", "cat", "1110", variant="duel"),
]


def rule(folder: Path, *rulings: RulingRow) -> Standings:
    with Store.open(folder) as store:
        for ruling in rulings:
            store.add_ruling(ruling)
        store.commit()
    return read_standings(folder)


def void(pairing: int, number: int, reason: str = "a power cut") -> RulingRow:
    return RulingRow(pairing, number, "void", None, reason, "Ada", AT)


def award(pairing: int, number: int, seat: int, reason: str = "an appeal") -> RulingRow:
    return RulingRow(pairing, number, "award", seat, reason, "Ada", AT)


def figures(found: Standings) -> list[dict[str, object]]:
    """The tables without what a ruling adds to them."""
    return [{**msgspec.to_builtins(each), "rulings": []} for each in found.tables]


def test_a_void_game_is_as_good_as_one_that_nobody_won(tmp_path: Path) -> None:
    plain = table(tmp_path / "plain", [Met("ann", "bob", "1v=01")])
    ruled = rule(make(tmp_path / "ruled", [Met("ann", "bob", "11=01")]), void(1, 2))
    with_fault, without = figures(plain), figures(ruled)
    for each in (*with_fault, *without):
        for row in each["rows"]:  # type: ignore[attr-defined]
            row["faults"] = {}
    assert with_fault == without
    assert ruled.played == 5


def test_an_awarded_game_is_a_win(tmp_path: Path) -> None:
    plain = table(tmp_path / "plain", [Met("ann", "bob", "1011=")])
    # In even numbers the seats are swapped: seat 1 is ann.
    given = make(tmp_path / "ruled", [Met("ann", "bob", "0v1==")])
    ruled = rule(given, award(1, 1, 0), award(1, 2, 0), award(1, 4, 1))
    assert figures(ruled) == figures(plain)
    assert [(each.what, each.winner) for each in ruled.rulings] == [
        ("award", "ann"),
        ("award", "bob"),
        ("award", "ann"),
    ]


@pytest.mark.parametrize("rank_by", ["elo", "points"])
def test_a_forfeit_that_is_void_gives_nobody_a_point(tmp_path: Path, rank_by: str) -> None:
    folder = make(tmp_path / "x", [Met("ann", "bob", "10F1")], rank_by=rank_by)
    before = {row.name: row for row in read_standings(folder).tables[0].rows}
    assert before["ann"].forfeits_won == 1
    assert before["bob"].faults == {"forfeit": 1}
    after = {row.name: row for row in rule(folder, void(1, 3)).tables[0].rows}
    assert after["ann"].forfeits_won == 0
    assert after["bob"].faults == {}
    assert after["ann"].unrated == after["bob"].unrated == 1
    again = {row.name: row for row in rule(folder, award(1, 3, 1)).tables[0].rows}
    assert (again["ann"].games, again["ann"].unrated) == (4, 0)
    assert again["bob"].wins == before["bob"].wins + 1


def test_a_ruling_taken_back_leaves_nothing(tmp_path: Path) -> None:
    folder = make(tmp_path / "x", MET)
    before = read_standings(folder)
    assert rule(folder, void(1, 1), award(2, 5, 0), void(3, 4)) != before
    with Store.open(folder) as store:
        for ruling in store.rulings():
            store.lift_ruling(ruling.pairing, ruling.number)
        store.commit()
    assert read_standings(folder) == before


def test_every_table_has_the_footnotes_of_its_games(tmp_path: Path) -> None:
    folder = make(tmp_path / "x", MET)
    found = rule(folder, void(3, 1), award(1, 2, 0, "*not* a | bar"))
    first = "Ruling: game 1-2 (bob – ann) is awarded to bob: *not* a | bar"
    second = "Ruling: game 3-1 (ann – cat) is void: a power cut"
    told = [[note for note in notes(each) if note.startswith("Ruling")] for each in found.tables]
    assert told == [[first], [second], [first, second]]
    assert r"- Ruling: game 1-2 (bob – ann) is awarded to bob: \*not\* a \| bar" in as_markdown(
        found
    )
    lines = list(csv.DictReader(io.StringIO(rulings_csv(found))))
    assert [(line["game"], line["winner"], line["by"]) for line in lines] == [
        ("1-2", "bob", "Ada"),
        ("3-1", "", "Ada"),
    ]
    assert standings_csv(found) == standings_csv(msgspec.structs.replace(found, rulings=[]))


def test_of_many_rulings_some_are_told(tmp_path: Path) -> None:
    folder = make(tmp_path / "x", [Met("ann", "bob", "1" * (SHOWN_RULINGS + 3))])
    found = rule(folder, *(void(1, number) for number in range(1, SHOWN_RULINGS + 3)))
    *_, last = notes(found.tables[0])
    assert last == "2 more rulings in standings.json and rulings.csv."


def test_the_files_have_the_rulings(tmp_path: Path) -> None:
    folder = make(tmp_path / "x", MET)
    names = [path.name for path in write_tables(folder, read_standings(folder), [])]
    assert "rulings.csv" not in names
    found = rule(folder, void(1, 1))
    assert (folder / "rulings.csv") in write_tables(folder, found, [])
    assert "power cut" in (folder / "rulings.csv").read_text()
    assert "power cut" in (folder / "standings.md").read_text()
    assert msgspec.json.decode((folder / "standings.json").read_bytes(), type=Standings) == found
    with Store.open(folder) as store:
        store.lift_ruling(1, 1)
        store.commit()
    write_tables(folder, read_standings(folder), [])
    assert len((folder / "rulings.csv").read_text().splitlines()) == 1


def test_a_final_can_be_awarded_to_the_other(tmp_path: Path) -> None:
    met = [
        Met("ann", "dan", "11", round=1),
        Met("bob", "cat", "11", round=1),
        Met("ann", "bob", "11", round=2),
    ]
    bots = ["ann", "bob", "cat", "dan"]
    folder = make(tmp_path / "x", met, bots=bots, format="knockout", games=2)
    assert read_standings(folder).bracket[-1].ties[-1].winner == "ann"
    found = rule(folder, award(3, 1, 1), award(3, 2, 0))
    assert found.bracket[-1].ties[-1].winner == "bob"
    # What was drawn from a result that is ruled otherwise stays drawn.
    found = rule(folder, award(1, 1, 1), award(1, 2, 0))
    assert [tie.first for tie in found.bracket[-1].ties] == ["ann"]
    assert found.bracket[-1].ties[-1].winner == "ann"


def test_the_report_shows_what_was_decided(tmp_path: Path) -> None:
    played = {("random", "highest"): games("underdog"), ("a", "b"): [faulty("timeout")]}
    folder = make_real(tmp_path / "x", played)
    rule(folder, award(1, 1, 1), void(2, 1, "</script><b>"))
    with Store.read(folder) as store:
        report = gather(source_of(store, logs={}), private=True)
    assert report.columns["result"][0] == 1
    assert report.columns["result"][-1] == NOBODY
    assert report.contents.rulings["2-1"] == "Ruling: void: </script><b>"
    assert report.contents.rulings["1-1"].startswith("Ruling: awarded to ")
    assert report.contents.faults == []
    assert any("Ruling: game 1-1" in note for note in report.contents.notes[0])


def test_the_records_stay_as_they_are(tmp_path: Path) -> None:
    folder = make_real(tmp_path / "x", {("random", "highest"): games("underdog")})
    with Store.read(folder) as store:
        before = list(store.records())
    rule(folder, void(1, 1))
    with Store.read(folder) as store:
        assert list(store.records()) == before
        assert standings(store).rulings[0].game == "1-1"
