"""`--help`, `--version`, and docs/commands.md, which is made from the same text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import typer

from referee.cli.app import COMMANDS, build_app, first_words
from referee.cli.console import printable
from referee.testing.commands import commands, page, undocumented
from referee.version import __version__
from tests.arena.playing import ROOT
from tests.cli.running import each, environment, refuses

PAGE = ROOT / "docs/commands.md"
ANEW = "python -m referee.testing.commands docs/commands.md"


def test_help_has_an_example_and_every_option(tmp_path: Path) -> None:
    known = commands(build_app())
    told = each(tmp_path, [[*name.split(), "--help"] for name in known])
    for (name, command), done in zip(known.items(), told, strict=True):
        assert (done.status, done.err) == (0, "")
        assert f"referee {name}" in done.out.partition("Example")[2]
        for parameter in command.params:
            assert all(word in done.out for word in parameter.opts if word.startswith("--"))
        assert "Traceback" not in done.out


def test_the_command_itself(tmp_path: Path) -> None:
    version, long, short, nothing = each(tmp_path, [["--version"], ["--help"], ["-h"], []])
    assert version == (0, f"referee {__version__}\n", "")
    assert long == short
    assert (long.status, long.err) == (0, "")
    for name in commands(build_app()):
        assert f" {name.split()[0]} " in long.out
    assert nothing.status in (0, 2)
    assert "Usage: referee" in nothing.out + nothing.err
    refuses(
        tmp_path,
        {
            "command": (["mach"], r"no such command 'mach'.*; see referee --help"),
            "option": (["--fast"], r"no such option: --fast.*; see referee --help"),
        },
    )


def test_commands_are_listed_as_they_are() -> None:
    """The list is shown without importing them."""
    for name, command in commands(build_app()).items():
        assert COMMANDS[name][1] == " ".join(command.help.partition("\n\n")[0].split())
    assert commands(build_app(listed=True)).keys() == COMMANDS.keys()


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), f"write it anew by: {ANEW}"


def test_everything_is_documented() -> None:
    assert undocumented() == []
    text = page()
    for name, command in commands(build_app()).items():
        assert f"\n## referee {name}\n" in text
        for parameter in command.params:
            assert parameter.help in text


def test_the_page_is_the_same_on_every_terminal(tmp_path: Path) -> None:
    for width in ("40", "300"):
        env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": width, "FORCE_COLOR": "1"}
        target = tmp_path / width
        module = [sys.executable, "-m", "referee.testing.commands"]
        subprocess.run([*module, str(target)], env=env, cwd=tmp_path, check=True)
        assert target.read_bytes() == PAGE.read_bytes()


def test_what_is_missing_is_found() -> None:
    bare = typer.Typer()

    @bare.command("one")
    def one(word: str, fast: bool = typer.Option(False, help="Faster.")) -> None:
        pass

    @bare.command("two")
    def two(word: str = typer.Argument(help="A word.")) -> None:
        """Do it.

        referee two: this is no example
        """

    assert undocumented(bare) == [
        "one: summary",
        "one: example",
        "one: help of WORD",
        "two: example",
    ]


def test_a_line_stays_one_line() -> None:
    assert printable("a\nb\x1b[31m\u202e ±é…") == "a\\nb\\x1b[31m\\u202e ±é…"


EACH_BY_ITSELF = """
import json, os, sys

failed = []
for name in json.loads(sys.argv[1]):
    child = os.fork()
    if child == 0:
        from referee.cli.app import build_app
        build_app(name)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        failed.append(name)
print(json.dumps(failed))
"""


def test_every_command_imports_all_that_it_uses() -> None:
    """Other tests fork from a process that has imported every command."""
    words = [sys.executable, "-c", EACH_BY_ITSELF, json.dumps(sorted(first_words()))]
    done = subprocess.run(words, capture_output=True, env=environment(), check=True)
    assert json.loads(done.stdout) == [], done.stderr.decode()
