"""`referee standings` and `referee export`, as commands: what they print, write and refuse."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from pathlib import Path

import pytest

from referee.record import encode_record, read_record
from referee.store.database import Store
from referee.verifying import verify
from tests.cli.running import (
    REFEREE,
    Mistakes,
    each,
    environment,
    on_terminal,
    referee,
    sentence,
    succeeds,
)
from tests.records import faulty, fields, games, with_notes
from tests.reports.stored import Met, make, make_real

FILES = ["standings.md", "standings.csv", "crosstable.csv", "standings.json", "timing.csv"]
TWO_VARIANTS = [
    *(Met("ann", "bob", "11=0" * 5), Met("bob", "cat", "1=10" * 5)),
    Met("ann", "cat", "1110" * 5, variant="duel"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tournament with results, one with real games, and things that are neither."""
    make(tmp_path / "two", TWO_VARIANTS)
    make(tmp_path / "running", TWO_VARIANTS[:1], finished=False)
    noted = with_notes()
    make_real(
        tmp_path / "real",
        {
            ("random", "highest"): games("underdog"),
            ("a", "b"): [noted, faulty("illegal, both at once"), faulty("void"), faulty("timeout")],
        },
    )
    with Store.create(tmp_path / "odd", {"spec": "{}"}, []):
        pass
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    return tmp_path


def test_what_is_refused(folder: Path) -> None:
    no_variant = r".*no variant 'chess' in this tournament; it has underdog, duel"
    mistakes: Mistakes = {
        "nothing there": (["standings", "nowhere"], r".*nowhere.*"),
        "no tournament": (["export", "empty"], r".*empty.*"),
        "no spec": (["standings", "odd"], r"odd: its spec cannot be read: .*"),
        "no records": (["export", "two"], r"two: the record of game 1-1 cannot be read: .*"),
        "a file": (["standings", "file"], r".*file.*"),
        "no variant": (["standings", "two", "--variant", "chess"], no_variant),
        "no variant to export": (["export", "two", "-v", "chess"], no_variant),
        "no bot": (
            ["export", "two", "--bot", "dan"],
            r".*no bot 'dan' in this tournament; it has ann, bob, cat",
        ),
        "two formats": (
            ["standings", "two", "--json", "--csv"],
            r"only one of --json, --csv, --markdown and --write can be given; see .*",
        ),
        "a part of the files": (
            ["standings", "two", "--write", "-v", "duel"],
            r"--write writes all tables; leave --variant and --timing out; see .*",
        ),
    }
    done = each(folder, [words for words, _ in mistakes.values()])
    for (name, (_, pattern)), found in zip(mistakes.items(), done, strict=True):
        assert re.fullmatch(pattern, sentence(found)), f"{name}: {found.err}"


def test_tables_are_printed(folder: Path) -> None:
    text, as_json, as_csv, markdown, one, points = (
        done.out
        for done in each(
            folder,
            [
                ["standings", "two"],
                ["standings", "two", "--json"],
                ["standings", "two", "--csv"],
                ["standings", "two", "--markdown"],
                ["standings", "two", "-v", "duel", "--csv"],
                ["standings", "two", "-v", "duel", "--json", "--rank-by", "points"],
            ],
        )
    )
    lines = text.splitlines()
    assert lines[0] == "test: round-robin; underdog, duel; 60 of 60 games; seed a seed; salt a salt"
    assert {"underdog", "duel", "all variants"} <= set(lines)
    assert "median" not in text
    assert [table["variant"] for table in json.loads(as_json)["tables"]] == [
        "underdog",
        "duel",
        None,
    ]
    assert len(list(csv.DictReader(io.StringIO(as_csv)))) == 9
    assert markdown.startswith("# test\n")
    assert {line["variant"] for line in csv.DictReader(io.StringIO(one))} == {"duel"}
    (table,) = json.loads(points)["tables"]
    assert (table["variant"], table["ranked_by"]) == ("duel", "points")


def test_the_time_per_move_is_asked_for(folder: Path) -> None:
    text, as_csv = (
        done.out
        for done in each(
            folder, [["standings", "two", "--timing"], ["standings", "two", "--timing", "--csv"]]
        )
    )
    assert text.split()[:3] == ["variant", "bot", "moves"]
    assert "rank" not in text
    lines = list(csv.DictReader(io.StringIO(as_csv)))
    assert [(line["variant"], line["name"]) for line in lines] == [
        *(("duel", "ann"), ("duel", "cat"), ("underdog", "ann"), ("underdog", "bob")),
        ("underdog", "cat"),
    ]


def test_a_screen_gets_both_and_what_fits(folder: Path) -> None:
    status, seen = on_terminal(folder, "standings", "running", width=80)
    assert status == 0
    assert "10 of 20 games" not in seen
    assert "20 of 20 games; in progress" in seen
    assert "a seed" not in seen
    assert "a salt" not in seen
    assert "median ms" in seen


def test_files_are_made_again(folder: Path) -> None:
    assert succeeds(folder, "standings", "two", "--write") == ""
    before = {name: (folder / "two" / name).read_bytes() for name in FILES}
    for name in FILES:
        (folder / "two" / name).unlink()
    assert succeeds(folder, "standings", "two", "--write") == ""
    assert {name: (folder / "two" / name).read_bytes() for name in FILES} == before
    assert json.loads(before["standings.json"]) == json.loads(
        succeeds(folder, "standings", "two", "--json")
    )


def test_an_export_holds_every_game_and_no_note(folder: Path) -> None:
    public, private = (
        done.out.encode().splitlines()
        for done in each(folder, [["export", "real"], ["export", "real", "--private"]])
    )
    noted = with_notes()
    original = [
        *games("underdog"),
        *(noted, faulty("illegal, both at once"), faulty("void"), faulty("timeout")),
    ]
    assert private == [encode_record(record) for record in original]
    assert noted.notes
    shown = [read_record(line) for line in public]
    assert all(record.notes == {} for record in shown)
    for line, record in zip(public, original, strict=True):
        assert json.loads(line) == fields(record) | {"notes": {}}


def test_an_export_is_verified(folder: Path) -> None:
    exported = succeeds(folder, "export", "real").encode()
    report = verify(exported.splitlines(keepends=True))
    assert (report.records, report.mismatches) == (10, [])
    done = referee(folder, "verify", "-", stdin=exported)
    assert done.out.startswith("10 records, 0 mismatches")


def test_a_part_is_exported(folder: Path) -> None:
    some, other = (
        done.out.splitlines()
        for done in each(
            folder, [["export", "real", "--bot", "highest"], ["export", "real", "-v", "duel"]]
        )
    )
    assert len(some) == 6
    assert all("highest" in json.loads(line)["players"] for line in some)
    assert other == []


def test_a_reader_that_has_had_enough(folder: Path) -> None:
    process = subprocess.Popen(
        [*REFEREE, "export", "real"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment(),
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait() == 141
    process.stderr.close()
