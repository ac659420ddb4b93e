"""What the README shows is true: its bot plays, its commands and its tables name what is there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import typer.main

from referee import all_variants, play_match, sample_bots
from referee.bots.manifest import Bot
from referee.cli.app import build_app
from tests.workshop.check.checking import check

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
PROTOCOL = (Path(__file__).parent.parent / "protocol.md").read_text("utf-8")


def test_the_bot_of_the_readme_plays_every_variant(tmp_path: Path) -> None:
    (bot,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    path = tmp_path / "my_bot.py"
    path.write_text(bot)
    for variant in all_variants():
        command = f"mine={shlex.quote(sys.executable)} {shlex.quote(str(path))}"
        result = play_match(command, "random", variant=variant, games=4, seed="readme")
        assert result.games == 4
        assert result.fault_counts == {"mine": {}, "random": {}}


def test_the_bots_of_the_readme_and_the_protocol_pass_the_check(tmp_path: Path) -> None:
    for page in (README, PROTOCOL):
        (bot, *_) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
        path = tmp_path / "my_bot.py"
        path.write_text(bot)
        report = check(
            Bot(name="mine", command=(sys.executable, str(path))), variants=None, time_ms=10_000
        )
        assert report.failed == []


def test_every_command_is_in_the_readme() -> None:
    group = typer.main.get_command(build_app())
    for name in getattr(group, "commands", {}):
        assert f"`referee {name}" in README, name


def test_every_variant_and_sample_bot_is_in_the_readme() -> None:
    for name in [*all_variants(), *sample_bots()]:
        assert f"`{name}`" in README, name


def test_every_link_leads_somewhere() -> None:
    here = Path(__file__).parent.parent
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (here / target).exists(), target


def test_the_demo_prints_what_the_readme_shows(tmp_path: Path) -> None:
    """Columns, bots and the files written; figures differ from run to run."""
    command = re.search(r"^  referee (tournament --variant \S+)$", README, re.M)
    assert command is not None
    makefile = (Path(__file__).parent.parent / "Makefile").read_text("utf-8")
    assert f"@$(BIN)/referee {command[1]}\n" in makefile
    shown = README.partition(command[0])[2].partition("```")[0].splitlines()[1:]
    script = "from referee.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, *command[1].split()],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
    )
    told, seen = shown[: shown.index("…")], done.stdout.splitlines()
    told[0], seen[0] = (re.sub(r"\b[0-9a-f]{16,32}\b", "…", line) for line in (told[0], seen[0]))
    assert told[0] == seen[0], "all but seed and salt"
    assert told[2].split() == seen[2].split(), "the columns"
    bots = {line.split()[2] for line in told[3:]}
    assert bots == {line.split()[2] for line in seen[3 : 3 + len(bots)]}
    assert shown[shown.index("…") + 1].split() == seen[-1].split()
