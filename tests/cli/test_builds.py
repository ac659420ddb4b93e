"""Bots that have to be built, as commands meet them: built, left out, refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from referee.arena.core import own_cores
from referee.bots.manifest import sample_folder
from tests.cli.running import Done, referee

WRONG = [
    "referee: wrong: the build exited with status 1: sh build.sh",
    "  wrong.c:7: what is this",
]
"""What is told of the bot that does not compile."""


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
    # Side by side, in any order.
    assert sorted(line for line in lines if line.startswith("building ")) == [
        "building good",
        "building well",
        "building wrong",
    ]
    assert "poor is left out: the command no-such-compiler was not found" in lines
    at = lines.index("wrong is left out: the build exited with status 1: sh build.sh")
    assert lines[at + 1] == "  wrong.c:7: what is this"
    told = [json.loads(line) for line in (tmp_path / "events.jsonl").read_bytes().splitlines()]
    assert sorted((event["event"], event["bot"]) for event in told[:5]) == [
        *(("building", name) for name in ("good", "well", "wrong")),
        *(("left_out", name) for name in ("poor", "wrong")),
    ]
    (started,) = [event for event in told if event["event"] == "started"]
    assert started["bots"] == ["good", "well"]
    table = json.loads((tmp_path / "out/standings.json").read_bytes())["tables"][-1]
    assert [(row["name"], row["games"]) for row in table["rows"]] == [("good", 4), ("well", 4)]

    assert "poor was left out: the command no-such-compiler was not found." in done.out
    assert "poor" in (tmp_path / "out/standings.md").read_text("utf-8")

    shutil.rmtree(tmp_path / "cache")
    (bots / "good" / "bot.py").write_text("not a bot", "utf-8")
    finished = play(tmp_path, "tournament", "--resume", "out", "--allow-changes")
    assert finished.status == 0, "everything is played: nothing is left to build"
    assert "building" not in finished.err
    shutil.copy(sample_folder() / "highest" / "bot.py", bots / "good")
    again = play(tmp_path, "tournament", "--resume", "out", "--games", 6, "--allow-changes")
    assert "building good" in again.err
    again = play(tmp_path, "tournament", "--resume", "out", "--games", 8)
    assert again.status == 0, again.err
    assert "building" not in again.err
    assert "left out" not in again.err


WAITS = """
touch '{here}/{name}'
for _ in $(seq 1200); do
    [ -e '{here}/{other}' ] && exec cp bot.py built.py
    sleep 0.05
done
exit 1
"""
"""A build that waits until the other one has begun, for a minute at most."""


@pytest.mark.skipif(own_cores() < 2, reason="as many are built at a time as there are cores")
@pytest.mark.parametrize(
    "words",
    [
        ("tournament", "--bots", ".", "--games", 2, "--variant", "duel"),
        ("match", "one", "two", "--games", 2, "--variant", "duel"),
        ("watch", "one", "two", "--pause", "0s", "--variant", "duel"),
    ],
    ids=lambda words: words[0],
)
def test_bots_are_built_side_by_side(tmp_path: Path, words: tuple[object, ...]) -> None:
    """Each build waits until the other one has begun."""
    bots = tmp_path / "bots"
    for name, other in (("one", "two"), ("two", "one")):
        entered(bots, name, '["sh", "build.sh"]')
        script = WAITS.format(here=tmp_path, name=name, other=other)
        (bots / name / "build.sh").write_text(script, "utf-8")
    done = referee(bots, *words, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert (done.status, sorted(done.err.splitlines())[:2]) == (0, ["building one", "building two"])


def test_too_few_are_left(tmp_path: Path, bots: Path) -> None:
    shutil.rmtree(bots / "well")
    words = ("tournament", "--variant", "duel", "--bots", bots, "--out", "out")
    done = play(tmp_path, *words)
    assert done.status == 2
    assert "poor is left out" in done.err
    assert done.err.splitlines()[-1].startswith("referee: ")
    assert "Traceback" not in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--format", "gauntlet"), "poor is left out, and the gauntlet is played against it"),
        (("--anchor", "poor=0"), "poor is left out, and the ratings are anchored to it"),
    ],
)
def test_what_the_tournament_is_about_cannot_be_left_out(
    tmp_path: Path, bots: Path, words: tuple[str, ...], why: str
) -> None:
    named = [word for name in ("poor", "good", "well") for word in ("--bot", bots / name)]
    done = play(tmp_path, "tournament", "--variant", "duel", "--out", "out", *named, *words)
    assert done.status == 2
    assert done.err.splitlines()[-1] == f"referee: {why}"
    assert not (tmp_path / "out").exists()


def test_a_stranger_does_not_speak_to_the_terminal(tmp_path: Path, bots: Path) -> None:
    entered(bots, "loud", r'["sh", "-c", "exit 1; \u001b[2J"]')
    done = play(tmp_path, "tournament", "--variant", "duel", "--bots", bots, "--games", 2)
    assert done.status == 0, done.err
    assert "loud is left out: the build exited with status 1: sh -c 'exit 1; \\x1b[2J'" in done.err
    assert "\x1b" not in done.out + done.err


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
    done = play(tmp_path, "match", bots / "good", bots / "wrong")
    assert (done.status, done.out) == (2, "")
    lines = done.err.splitlines()
    assert sorted(lines[:2]) == ["building good", "building wrong"]
    assert lines[2:] == WRONG
    words = ("match", bots / "good", bots / "well", "--games", 4, "--no-pin")
    done = play(tmp_path, *words)
    assert (done.status, done.err) == (0, "building well\n")
    done = play(tmp_path, *words)
    assert (done.status, done.err) == (0, "")
    done = play(tmp_path, "match", bots / "poor", bots / "good")
    assert (done.status, done.out) == (2, "")
    assert done.err == "referee: poor: the command no-such-compiler was not found\n"


@pytest.mark.parametrize("command", ["match", "watch"])
def test_neither_bot_can_be_built(tmp_path: Path, bots: Path, command: str) -> None:
    """One sentence for each, in the order of the bots, and what its compiler said."""
    poor = "referee: poor: the command no-such-compiler was not found"
    for names, told in (("poor wrong", [poor, *WRONG]), ("wrong poor", [*WRONG, poor])):
        done = play(tmp_path, command, *(bots / name for name in names.split()))
        assert (done.status, done.out) == (2, "")
        assert done.err.splitlines() == ["building wrong", *told]


def test_the_usual_bots_need_no_compiler(tmp_path: Path) -> None:
    done = play(tmp_path, "tournament", "--plan", "--variant", "underdog", "--json")
    assert done.status == 0, done.err
    assert "highest-c" not in done.out
