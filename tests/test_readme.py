"""What the README shows is true: its bot plays, its commands and its tables name what is there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import typer.main

from referee import all_variants, play_match, sample_bots
from referee.cli import app

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")


def test_the_bot_of_the_readme_plays_every_variant(tmp_path: Path) -> None:
    (bot,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    path = tmp_path / "my_bot.py"
    path.write_text(bot)
    for variant in all_variants():
        command = f"mine={shlex.quote(sys.executable)} {shlex.quote(str(path))}"
        result = play_match(command, "random", variant=variant, games=4, seed="readme")
        assert result.games == 4
        assert result.fault_counts == {"mine": {}, "random": {}}


def test_every_command_is_in_the_readme() -> None:
    group = typer.main.get_command(app)
    for name in getattr(group, "commands", {}):
        assert f"`referee {name}" in README, name


def test_every_variant_and_sample_bot_is_in_the_readme() -> None:
    for name in [*all_variants(), *sample_bots()]:
        assert f"`{name}`" in README, name


def test_every_link_leads_somewhere() -> None:
    here = Path(__file__).parent.parent
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (here / target).exists(), target


def test_the_demo_prints_what_the_readme_shows() -> None:
    """Names, columns and order of the lines; figures differ from run to run."""
    command = re.search(
        r"^  referee match (\S+) (\S+) --variant (\S+) --games (\d+)$", README, re.M
    )
    assert command is not None
    first, second, variant, games = command.groups()
    makefile = (Path(__file__).parent.parent / "Makefile").read_text("utf-8")
    assert f"referee match {first} {second} --variant {variant} --games {games}\n" in makefile
    shown = README.partition(command[0])[2].splitlines()[1:7]
    script = "from referee.cli import main; main()"
    words = ["match", first, second, "--variant", variant, "--games", games, "--no-pin"]
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True)
    for told, seen in zip(shown, done.stdout.splitlines(), strict=True):
        assert re.sub(r"[\d.]+", "0", told).split()[:3] == re.sub(r"[\d.]+", "0", seen).split()[:3]
