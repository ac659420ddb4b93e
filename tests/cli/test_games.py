"""`referee replay` and `referee verify`: finished games in files and pipes."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from referee.record import Record, encode_record
from referee.verifying import Report
from tests.cli.running import each, referee, refuses, sentence
from tests.facts import Naming
from tests.records import Fields, faulty, fields, games


def write(path: Path, *records: Record | Fields) -> None:
    lines = (
        encode_record(record) if isinstance(record, Record) else json.dumps(record).encode()
        for record in records
    )
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def lying(record: Record) -> Fields:
    changed = fields(record)
    return changed | {"winner": 1 - changed["winner"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of records: good, bad and none at all."""
    good = games("underdog")
    write(tmp_path / "good", *good)
    write(tmp_path / "mixed", games("duel")[0], faulty("illegal"), faulty("timeout"))
    write(tmp_path / "lying", good[0], lying(good[1]), good[2])
    write(tmp_path / "lies", *[lying(good[0])] * 25)
    hostile = fields(faulty("timeout"))
    hostile["players"] = ["\x1b[31mred[/x]", ":dog:"]
    hostile["fault"]["detail"] = "two\nlines"
    write(tmp_path / "hostile", hostile, hostile | {"winner": 0, "game": "\x1b]0;x\x07"})
    write(tmp_path / "illegal", fields(good[0]) | {"moves": [[0, 99]] * 6, "spent_us": [0] * 6})
    cut = (tmp_path / "good").read_bytes()
    (tmp_path / "cut").write_bytes(cut[:-20])
    (tmp_path / "text").write_text("a won\n")
    (tmp_path / "empty").touch()
    (tmp_path / "blank").write_text("\n\n")
    return tmp_path


def test_what_is_refused(folder: Path) -> None:
    files = {
        "missing": r"missing: no such file",
        ".": r"\.: a folder, .*",
        "text": r"text: line 1: not JSON \(expecting value at column 1\)",
        "empty": r"empty: there is no record in it",
        "blank": r"blank: there is no record in it",
    }
    mistakes = {
        f"{command} {file}": ([command, file], told)
        for command in ("replay", "verify")
        for file, told in files.items()
    }
    cut = r"cut: line 6: not JSON \(.*\) \(.*last line.*\)"
    refuses(
        folder,
        {
            **mistakes,
            "cut": (["verify", "cut"], cut),
            "no file": (["verify"], r"missing argument 'FILE'; see referee verify --help"),
            "no game": (
                ["replay", "good", "99"],
                r"good: there is no game '99' in it; it holds 1, 2, 3, 4, 5, 6",
            ),
            "broken": (
                ["replay", "illegal"],
                r"illegal: game 1: moves\[0\]: 99 .* \[1, 2, .*\]",
            ),
        },
    )


def test_a_game_is_told(folder: Path) -> None:
    first, third, raw, by_fault = each(
        folder,
        [
            ["replay", "good"],
            ["replay", "good", "3"],
            ["replay", "good", "3", "--json"],
            ["replay", "mixed", faulty("illegal").game],
        ],
    )
    assert (first.status, first.err) == (0, "")
    lines = first.out.splitlines()
    assert lines[0] == "Game 1 of underdog: random against highest"
    assert lines[1] == "random and highest hold 1 to 10 each; first to 3 points."
    assert "Round 1" in lines
    assert " wins the game " in lines[-1]
    assert third.out.startswith("Game 3 of underdog: ")
    assert raw.out.encode() == encode_record(games("underdog")[2]) + b"\n"
    assert by_fault.status == 0


def test_a_file_is_verified(folder: Path) -> None:
    good, mixed, lie, lies, as_json = each(
        folder,
        [
            ["verify", "good"],
            ["verify", "mixed"],
            ["verify", "lying"],
            ["verify", "lies"],
            ["verify", "lying", "--json"],
        ],
    )
    told = "6 records, 0 mismatches (6 judged again, 0 attested by the referee)\n"
    assert good == (0, told, "")
    told = "3 records, 0 mismatches (2 judged again, 1 attested by the referee)\n"
    assert mixed == (0, told, "")
    winner = games("underdog")[1].winner
    assert winner is not None
    assert (lie.status, lie.err) == (1, "")
    assert lie.out.splitlines() == [
        f"lying:2: game 2: winner: recorded is {1 - winner}, judged {winner}",
        "3 records, 1 mismatch (2 judged again, 0 attested by the referee)",
    ]
    lines = lies.out.splitlines()
    assert (lies.status, len(lines), lines[20]) == (1, 22, "… and 5 more")
    assert as_json.status == 1
    report = msgspec.json.decode(as_json.out, type=Report)
    assert (report.records, report.judged, report.attested) == (3, 2, 0)
    (finding,) = report.mismatches
    assert (finding.line, finding.game, finding.field) == (2, "2", "winner")


def test_records_come_through_a_pipe(folder: Path) -> None:
    data = (folder / "good").read_bytes()
    assert referee(folder, "verify", "-", stdin=data).out.startswith("6 records, 0 mismatches")
    assert referee(folder, "replay", "-", "2", stdin=data).out.startswith("Game 2 of underdog")
    assert sentence(referee(folder, "verify", "-")) == Naming("-: ", "no record")


def test_a_record_gives_the_terminal_no_orders(folder: Path) -> None:
    told, verified = each(folder, [["replay", "hostile"], ["verify", "hostile"]])
    assert "\x1b" not in told.out + verified.out
    assert told.out.startswith("Game 1 of duel: \\x1b[31mred[/x] against :dog:\n")
    assert "timeout, two\\nlines." in told.out
    assert verified.status == 1
    assert verified.out.startswith("hostile:2: game \\x1b]0;x\\x07: ")
