"""Bots that have to be built, as commands meet them: built, left out, refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from referee.bots.manifest import sample_folder
from tests.cli.running import Done, referee


def entered(folder: Path, name: str, build: str, command: str = '["python3", "built.py"]') -> None:
    """A bot like `highest`, with a build."""
    (folder / name).mkdir(parents=True)
    shutil.copy(sample_folder() / "highest" / "bot.py", folder / name)
    text = f'name = "{name}"\nbuild = {build}\ncommand = {command}\n'
    (folder / name / "bot.toml").write_text(text, "utf-8")


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    """Two good bots, one that does not compile, one without its compiler."""
    folder = tmp_path / "bots"
    for name in ("good", "well"):
        entered(folder, name, '["cp", "bot.py", "built.py"]')
    entered(folder, "wrong", '["sh", "build.sh"]')
    (folder / "wrong" / "build.sh").write_text("echo wrong.c:7: what is this; exit 1", "utf-8")
    entered(folder, "poor", '["no-such-compiler", "bot.py"]')
    return folder


def play(folder: Path, *words: object) -> Done:
    return referee(folder, *words, XDG_CACHE_HOME=str(folder / "cache"))


def test_the_tournament_goes_on_without_what_cannot_be_built(tmp_path: Path, bots: Path) -> None:
    words = ("tournament", "--variant", "duel", "--bots", bots, "--games", 4, "--out", "out")
    done = play(tmp_path, *words, "--events", "events.jsonl")
    assert done.status == 0, done.err
    lines = done.err.splitlines()
    assert [line for line in lines if line.startswith("building ")] == [
        "building good",
        "building well",
        "building wrong",
    ]
    assert "poor is left out: the command no-such-compiler was not found" in lines
    at = lines.index("wrong is left out: the build exited with status 1: sh build.sh")
    assert lines[at + 1] == "  wrong.c:7: what is this"
    told = [json.loads(line) for line in (tmp_path / "events.jsonl").read_bytes().splitlines()]
    assert [event["event"] for event in told][:5] == [
        *("building", "left_out", "building", "building", "left_out")
    ]
    (started,) = [event for event in told if event["event"] == "started"]
    assert started["bots"] == ["good", "well"]
    table = json.loads((tmp_path / "out/standings.json").read_bytes())["tables"][-1]
    assert [(row["name"], row["games"]) for row in table["rows"]] == [("good", 4), ("well", 4)]

    again = play(tmp_path, "tournament", "--resume", "out", "--games", 8)
    assert again.status == 0, again.err
    assert "building" not in again.err
    assert "left out" not in again.err


def test_too_few_are_left(tmp_path: Path, bots: Path) -> None:
    shutil.rmtree(bots / "well")
    words = ("tournament", "--variant", "duel", "--bots", bots, "--out", "out")
    done = play(tmp_path, *words)
    assert done.status == 2
    assert "poor is left out" in done.err
    assert done.err.splitlines()[-1].startswith("referee: ")
    assert "Traceback" not in done.err
    assert not (tmp_path / "out").exists()


def test_a_resumed_tournament_needs_all_its_bots(tmp_path: Path, bots: Path) -> None:
    words = ("tournament", "--variant", "duel", "--games", 4, "--out", "out")
    assert play(tmp_path, *words, "--bots", bots).status == 0
    entered(tmp_path / "new", "well", '["no-such-compiler"]')
    shutil.rmtree(bots / "well")
    (tmp_path / "new" / "well").rename(bots / "well")
    done = play(tmp_path, "tournament", "--resume", "out", "--games", 8, "--allow-changes")
    assert (done.status, done.out) == (2, "")
    assert done.err == "referee: well: the command no-such-compiler was not found\n"


def test_a_match_with_what_cannot_be_built(tmp_path: Path, bots: Path) -> None:
    done = play(tmp_path, "match", bots / "good", bots / "poor")
    assert (done.status, done.out) == (2, "")
    assert done.err == "referee: poor: the command no-such-compiler was not found\n"
    done = play(tmp_path, "match", bots / "good", bots / "wrong")
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        "referee: wrong: the build exited with status 1: sh build.sh\n  wrong.c:7: what is this\n"
    )
    done = play(tmp_path, "match", bots / "good", bots / "well", "--games", 4, "--no-pin")
    assert (done.status, done.err) == (0, "")


def test_the_usual_bots_need_no_compiler(tmp_path: Path) -> None:
    done = play(tmp_path, "tournament", "--plan", "--variant", "underdog", "--json")
    assert done.status == 0, done.err
    assert "highest-c" not in done.out
