"""`referee rule`, on the folder of a tournament and on the data of a daemon."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from referee.daemon.scoreboard import FILE, Snapshot
from referee.reports.standings import read_standings
from referee.reports.tables.files import write_tables
from referee.store.database import Store
from referee.store.house import House
from tests.cli.running import referee as run
from tests.cli.running import refuses, sentence, succeeds
from tests.facts import Naming
from tests.records import games
from tests.reports.stored import make_real
from tests.store.housing import contents

PLAYED = {("random", "highest"): games("underdog")}
WHY = ["--reason", "the host was out of memory"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tournament, and a house with a season of the same games."""
    made = make_real(tmp_path / "t", PLAYED)
    write_tables(made, read_standings(made), [])
    with House.open(tmp_path / "referee-data") as house:
        season = house.seasons.start("{}", by="test")
        make_real(house.seasons.folder(season), PLAYED)
    return tmp_path


def test_a_ruling_in_a_folder_is_in_its_tables_at_once(folder: Path) -> None:
    told = succeeds(folder, "rule", "1-1", "void", *WHY, "--folder", "t", "--by", "Ada")
    assert told == "Game 1-1 (random – highest) is void\n"
    note = "Ruling: game 1-1 (random – highest) is void: the host was out of memory"
    assert note in succeeds(folder, "standings", "t")
    assert note in (folder / "t/standings.md").read_text("utf-8")
    (ruling,) = read_standings(folder / "t").rulings
    assert ruling.by == "Ada"
    told = succeeds(
        folder, "rule", "1-1", "award", 1, "--reason", "no, it was not", "--folder", "t"
    )
    assert told == "Game 1-1 (random – highest) is awarded to highest\n"
    told = succeeds(folder, "rule", "1-1", "lift", "--reason", "withdrawn", "--folder", "t")
    assert told == "Game 1-1 (random – highest) counts as its record says\n"
    assert "Ruling" not in succeeds(folder, "standings", "t", "--markdown")


def test_verify_finds_what_it_found_before(folder: Path) -> None:
    export = succeeds(folder, "export", "t")
    succeeds(folder, "rule", "1-1", "void", *WHY, "--folder", "t")
    assert succeeds(folder, "export", "t") == export
    (folder / "games.jsonl").write_text(export)
    succeeds(folder, "verify", "games.jsonl")


def test_a_ruling_on_a_season_is_in_its_tables_if_no_daemon_runs(folder: Path) -> None:
    told = succeeds(folder, "rule", "1/1-2", "award", 0, *WHY)
    assert told == "Game 1-2 (highest – random) is awarded to highest\n"
    season = folder / "referee-data/seasons/1"
    assert [ruling.winner for ruling in read_standings(season).rulings] == ["highest"]
    snapshot = msgspec.json.decode((season / FILE).read_bytes(), type=Snapshot)
    assert [ruling.game for ruling in snapshot.rulings] == ["1-2"]
    with House.open(folder / "referee-data") as house:
        house.seasons.close("1", by="test")
    succeeds(folder, "rule", "1-2", "void", *WHY)
    assert [ruling.winner for ruling in read_standings(season).rulings] == [None]


def test_a_ruling_waits_for_the_daemon_that_runs(folder: Path) -> None:
    with House.open(folder / "referee-data") as house:
        house.take_charge()
        row = house.seasons.named("1")
        with Store.open(house.seasons.folder(row)) as store:
            told = succeeds(folder, "rule", "1-2", "void", *WHY)
            assert told.endswith("The daemon that runs takes it into the tables\n")
            assert store.rulings() == []
            assert house.rulings.apply(row, store) == 1
            assert [ruling.number for ruling in store.rulings()] == [2]


def test_what_is_refused(folder: Path) -> None:
    House.open(folder / "empty").close()
    last = len(PLAYED["random", "highest"])
    refuses(
        folder,
        {
            "no reason": (["rule", "1-1", "void", "--folder", "t"], r".* needs a reason: .*"),
            "by": (["rule", "1-1", "void", *WHY, "--by", "\ufffe"], r"a name has characters .*"),
            "no game": (["rule", "first", "void", *WHY], r"a game is called by .* not 'first'"),
            "not played": (
                ["rule", f"1-{last + 1}", "void", *WHY, "--folder", "t"],
                rf".* no game 1-{last + 1} in t",
            ),
            "huge": (["rule", f"{10**9}-1", "void", *WHY], r"a game is called by .*"),
            "nothing to lift": (
                ["rule", "1-1", "lift", *WHY],
                r"there is no ruling on game 1/1-1",
            ),
            "nothing to lift there": (
                ["rule", "1-1", "lift", *WHY, "--folder", "t"],
                r"there is no ruling on game 1-1",
            ),
            "no seat": (["rule", "1-1", "award", *WHY], r"a game is awarded to seat 0 or .*"),
            "a third seat": (["rule", "1-1", "award", "2", *WHY], r"a game is awarded to .*"),
            "void with a seat": (
                ["rule", "1-1", "void", "1", *WHY],
                r"a seat .* award .*",
            ),
            "another word": (["rule", "1-1", "undo", *WHY], r"invalid value .*undo.*"),
            "a season in a folder": (
                ["rule", "1/1-1", "void", *WHY, "--folder", "t"],
                r"a season is named, and t is one tournament: say 1-1",
            ),
            "no season": (["rule", "9/1-1", "void", *WHY], r".* season '9'; .* 1"),
            "none at all": (
                ["rule", "1-1", "void", *WHY, "--data", "empty"],
                r".* no season .*",
            ),
            "no house": (["rule", "1-1", "void", *WHY, "--data", "t"], r"t holds no house.db.*"),
            "no folder": (
                ["rule", "1-1", "void", *WHY, "--folder", "x"],
                r"x is not .* folder .*",
            ),
        },
        contents,
    )


def test_a_tournament_that_is_played_is_left_alone(folder: Path) -> None:
    with Store.open(folder / "t"):
        told = sentence(run(folder, "rule", "1-1", "void", *WHY, "--folder", "t"))
    assert told == Naming("t is being written", f"process {os.getpid()}")
