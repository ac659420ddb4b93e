"""The pages of docs/ for newcomers: every file in them is written, every command is run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from referee.bots.manifest import sample_folder
from referee.cli.app import COMMANDS
from referee.workshop.new_bot import new_bot

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NEEDS = {"In Python": "python3", "In Java": "javac", "In JavaScript": "node", "In C": "cc"}
PATIENCE_S = 300


def sections(page: str) -> dict[str, str]:
    """A page by its headings; what stands before the first has none."""
    head, *parts = re.split(r"^## ", (DOCS / page).read_text("utf-8"), flags=re.MULTILINE)
    return {"": head, **{part.partition("\n")[0]: part for part in parts}}


def follow(text: str, folder: Path) -> str:
    """Do what a text says, in this folder: write its files, run its commands. All output."""
    said = ""
    for language, name, body in FENCE.findall(text):
        if name:
            (folder / name).write_text(body, "utf-8")
        elif language == "sh":
            said += run(body, folder)
    return said


def run(script: str, folder: Path) -> str:
    path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
    cache = str(folder / "cache")
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": cache}
    done = subprocess.run(
        ["sh", "-e", "-c", script],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A place in which `referee` can be typed."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "referee"
    command.write_text(
        f"#!{sys.executable}\nfrom referee.cli import main\nmain()\n", encoding="utf-8"
    )
    command.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("heading", NEEDS)
def test_write_a_bot_in_five_minutes(heading: str, folder: Path) -> None:
    if shutil.which(NEEDS[heading]) is None:
        pytest.skip(f"the command {NEEDS[heading]} was not found")
    page = sections("write-a-bot.md")
    said = follow(page[heading], folder)
    assert re.search(r"^mine +200 +0 +0 +200 *$", said, re.MULTILINE), said
    if heading == "In Python":
        follow(page["Go on"], folder)


def test_every_language_of_the_page_has_its_section() -> None:
    page = sections("write-a-bot.md")
    known = {"", *NEEDS, "Go on", "What it remembers", "Builds", "Over ZeroMQ", "Behind walls"}
    assert set(page) == known


def test_run_a_contest(folder: Path) -> None:
    new_bot("bert", "python", parent=folder / "submissions")
    for name, sample in {"anna": "highest", "cleo": "counter"}.items():
        shutil.copytree(sample_folder() / sample, folder / "submissions" / name)
        manifest = folder / "submissions" / name / "bot.toml"
        text = manifest.read_text("utf-8").replace(f'"{sample}"', f'"{name}"')
        manifest.write_text(text, "utf-8")
    said = follow("".join(sections("run-a-contest.md").values()), folder)
    assert "friday" in said
    for name in ("anna", "bert", "cleo"):
        assert re.search(rf"^\d +\S+ +{name} +", said, re.MULTILINE), name


def test_write_a_variant(folder: Path) -> None:
    shutil.copytree(DOCS / "examples", folder / "docs" / "examples")
    said = follow("".join(sections("write-a-variant.md").values()), folder)
    assert "random against highest, goofspiel" in said


@pytest.mark.parametrize("page", ["write-a-bot.md", "run-a-contest.md", "write-a-variant.md"])
def test_no_command_is_left_out(page: str) -> None:
    text = (DOCS / page).read_text("utf-8")
    assert not re.search(r"^    referee ", text, re.MULTILINE), "commands stand in ```sh blocks"
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (DOCS / target).exists(), target


@pytest.mark.parametrize("page", ["write-a-bot.md", "run-a-contest.md", "write-a-variant.md"])
def test_a_command_in_a_sentence_is_one_too(page: str, folder: Path) -> None:
    """A bare name has to be that of a command; with more words it is run."""
    new_bot("their_bot", "python", parent=folder)
    text = (DOCS / page).read_text("utf-8")
    for command in re.findall(r"`(referee [^`\n]+)`", text):
        _, name, *words = shlex.split(command)
        assert name in {known.partition(" ")[0] for known in COMMANDS}, command
        if words:
            run(command, folder)
