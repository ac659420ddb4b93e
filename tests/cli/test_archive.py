"""`referee archive`, and `verify` and `replay` of what it makes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from referee.store.house import House
from tests.cli.running import environment, refuses, succeeds
from tests.cli.running import referee as run
from tests.records import games
from tests.reports.stored import make_real
from tests.store.housing import contents

KILLED = """
import os, signal
from referee.reports.archive import make
make.Path.rename = lambda path, to: os.kill(os.getpid(), signal.SIGKILL)
from referee.cli import main
main()
"""
PLAYED = {
    ("random", "highest"): [
        replace(each, game=f"1-{number}") for number, each in enumerate(games("underdog"), start=1)
    ]
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tournament, and a house with a season of the same games and one without any."""
    make_real(tmp_path / "t", PLAYED)
    with House.open(tmp_path / "referee-data") as house:
        season = house.seasons.start("{}", by="test")
        make_real(house.seasons.folder(season), PLAYED)
        house.seasons.close(season.name, by="test")
        house.seasons.start("{}", "later", by="test")
        house.submissions.keep("random", None, b"a folder", "first try")
    return tmp_path


def test_a_season_is_archived_judged_again_and_read(folder: Path) -> None:
    done = run(folder, "archive", "1")
    assert (done.status, done.out) == (0, "archive-1\n")
    many = len(PLAYED["random", "highest"])
    assert done.err.startswith(f"{many} games, in 1 piece, ")
    assert f"{many} records, 0 mismatches" in succeeds(folder, "verify", "archive-1")
    piece = "archive-1/games/0001.jsonl.gz"
    assert f"{many} records, 0 mismatches" in succeeds(folder, "verify", piece)
    assert succeeds(folder, "replay", "archive-1", "1-2", "--json") == succeeds(
        folder, "replay", piece, "1-2", "--json"
    )
    facts = json.loads((folder / "archive-1/facts.json").read_bytes())
    assert facts["season"] == "1"
    assert facts["players"][0]["entrant"]["label"] == "first try"


def test_a_tournament_is_archived_from_its_folder(folder: Path) -> None:
    done = run(folder, "archive", "./t", "--out", "t.tar", "--json", "--piece", 2)
    assert done.status == 0
    told = json.loads(done.out)
    assert (told["path"], told["games"]) == ("t.tar", len(PLAYED["random", "highest"]))
    assert (folder / "t.tar").stat().st_size == told["bytes"]


def test_what_cannot_be_archived_is_said_in_a_sentence(folder: Path) -> None:
    (folder / "empty.gz").write_bytes(b"\x1f\x8bnothing")
    refuses(
        folder,
        {
            "unknown": (("archive", "2"), ".* season '2'; .* 1, later"),
            "no games": (("archive", "later"), ".* season later .* games .*"),
            "no data": (("archive", "1", "--data", "gone"), r"gone holds no house.db: .*"),
            "there": (("archive", "1", "--out", "t"), "t is there already; .*"),
            "zip": (("archive", "1", "--out", "x.zip"), "x.zip: an archive is a folder, .*"),
            "path": (
                ("archive", "./tournaments/duel"),
                "tournaments/duel .*: it does not exist",
            ),
            "nowhere": (("archive", "1", "--out", "a/b"), ".* folder a"),
            "cut": (("verify", "empty.gz"), "empty.gz: the compressed file is cut .*"),
            "folder": (("verify", "t"), "t is a tournament, where a file of records is due: .*"),
        },
        state=contents,
    )


def test_what_a_killed_archive_has_left_is_removed_by_the_next(folder: Path) -> None:
    words = ["archive", "1", "--out", "a1", "--words", "0"]
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, *words], cwd=folder, env=environment(), check=False
    )
    assert killed.returncode == -signal.SIGKILL
    (left,) = folder.glob(".a1.*.part")
    (folder / f".a1.{os.getpid()}.part").mkdir()  # Of one that lives.
    (folder / ".a1.note.part").touch()
    done = run(folder, *words)
    assert done.status == 0, done.err
    assert not left.exists()
    others = sorted(each.name for each in folder.glob(".a1*"))
    assert others == sorted([f".a1.{os.getpid()}.part", ".a1.note.part"])
