"""The step `build`, as people and graders see it: built, built before, broken, out of tools."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.arena.playing import ROOT
from tests.cli.running import Done, on_terminal, referee
from tests.facts import Naming

SLOW = ("--time", "20s", "--startup", "60s")
SOURCE = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.workshop.check.bots.base import Base
Base().run()
"""
WARNS = """
import shutil, sys
print("bot.c:3: a warning\\n\\tand its line")
shutil.copy("source.py", "bot.py")
"""
FAILS = """
import sys
print("bot.c:7: error: what is this?\\n\\t7 | what", file=sys.stderr)
for number in range(40):
    print("note", number, file=sys.stderr)
sys.exit(3)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "made"
    made.mkdir()
    (made / "source.py").write_text(SOURCE)
    return made


def manifest(folder: Path, build: str, compiler: str = sys.executable) -> None:
    """A bot that is made by this script."""
    (folder / "build.py").write_text(build)
    (folder / "bot.toml").write_text(
        f'name = "made"\nbuild = ["{compiler}", "build.py"]\n'
        f'command = ["{sys.executable}", "bot.py"]\nvariants = ["difference"]\n'
    )


def check(folder: Path, *words: str) -> Done:
    cache = str(folder.parent / "cache")
    return referee(folder.parent, "check", folder.name, *SLOW, *words, XDG_CACHE_HOME=cache)


def test_it_is_built_once(folder: Path) -> None:
    manifest(folder, WARNS)
    first, again, verbose = check(folder), check(folder, "--json"), check(folder, "--verbose")
    assert (first.status, first.err) == (0, "building made\n")
    lines = first.out.splitlines()
    assert lines[0].startswith("Checking made at level none: ")
    assert re.fullmatch(
        r"pass  build               built: .* build\.py \(2 lines of output\)", lines[1]
    )
    assert lines[2].startswith("pass  start ")
    assert lines[-1].startswith("made: passed, 24 steps in ")

    assert (again.status, again.err) == (0, "")
    step = json.loads(again.out)["steps"][0]
    assert (step["name"], step["result"]) == ("build", "passed")
    assert step["detail"].startswith("nothing has changed since it was built: ")
    assert step["stderr"] == ["bot.c:3: a warning", "        and its line"]

    assert (verbose.status, verbose.err) == (0, "")
    assert verbose.out.splitlines()[2:4] == [
        "        stderr  bot.c:3: a warning",
        "                        and its line",
    ]


def test_a_build_that_fails(folder: Path) -> None:
    manifest(folder, FAILS)
    done = check(folder)
    assert (done.status, done.err) == (1, "building made\n")
    lines = done.out.splitlines()
    assert re.fullmatch(
        r"FAIL  build               the build exited with status 3: .* build\.py", lines[1]
    )
    assert lines[2:4] == [
        "        stderr  bot.c:7: error: what is this?",
        "                        7 | what",
    ]
    assert lines[22].startswith("                … 22 more lines in ")
    not_tried = "----  23 steps            not tried: "
    assert lines[23] == Naming(not_tried, "bot has to be built first (start, hello, flush, ")
    assert lines[24:] == ["made: 1 of 24 steps failed: build."]

    as_json = check(folder, "--json")
    assert (as_json.status, as_json.err) == (1, "building made\n")
    report = json.loads(as_json.out)
    assert (report["bot"], report["passed"], report["failed"]) == ("made", False, ["build"])
    assert (report["variants"], report["figures"]) == ([], None)
    first, *others = report["steps"]
    assert first["stderr"][0] == "bot.c:7: error: what is this?"
    assert {step["result"] for step in others} == {"not tried"}
    assert [step["name"] for step in others][:4] == [
        *("start", "hello", "flush", "variant difference")
    ]


def test_a_build_without_its_compiler(folder: Path) -> None:
    manifest(folder, WARNS, "no-such-compiler")
    done = check(folder)
    assert (done.status, done.err) == (1, "")
    lines = done.out.splitlines()
    assert lines[1] == "FAIL  build               the command no-such-compiler was not found"
    missing = (
        "----  23 steps            not tried: a program that the bot needs is missing (start, "
    )
    assert lines[2].startswith(missing)


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    done = referee(tmp_path, "check", "mine=no-such-bot", "--json")
    assert (done.status, done.err) == (1, "")
    report = json.loads(done.out)
    assert report["failed"] == ["build"]
    assert report["steps"][0]["detail"] == "the command no-such-bot was not found"


def test_a_terminal_hears_of_the_build(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder.parent / "cache"))
    manifest(folder, FAILS)
    status, seen = on_terminal(folder.parent, "check", "made")
    assert status == 1
    checking, building, failed = seen.split("\r\n")[:3]
    assert checking.startswith("Checking made at level none: ")
    assert building == "building made"
    assert "FAIL" in failed
