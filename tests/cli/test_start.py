"""What commands import before there is something to see. `make bench-start` has the time it takes.

A match and a tournament are looked at when they start their first process, before any bot runs: the
one that forks keepers, or the first worker.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.arena.playing import ROOT
from tests.cli.running import environment

COMMAND = """
import atexit, sys
from referee.cli import main

def look(event=None, _arguments=None):
    if not seen and event in (None, "subprocess.Popen"):
        seen.extend(sys.modules)
        print("imported", *seen, file=sys.stderr)

seen = []
sys.addaudithook(look)
atexit.register(look)
main()
"""
TELL = "import sys; print('imported', *sys.modules, file=sys.stderr)"
NEVER = "numpy starlette uvicorn jinja2 zmq asyncio ssl http.client importlib.metadata"
PLAYING = f"{NEVER} rich ctypes referee.web referee.daemon referee.reports.standings"
MATCH = ["match", "random", "highest", "--sandbox=none", "--games=2"]
TOURNAMENT = ["tournament", "--bot=random", "--bot=highest", "--sandbox=none", "--games=2"]
COMMANDS = {
    "version": (["--version"], f"{NEVER} typer rich msgspec inspect referee.cli.app"),
    "help": (["--help"], f"{NEVER} msgspec ctypes sqlite3 referee.match"),
    "match help": (["match", "--help"], f"{NEVER} ctypes sqlite3 referee.match referee.arena"),
    "match": (MATCH, f"{PLAYING} sqlite3"),
    "tournament": (TOURNAMENT, f"{PLAYING} referee.store.house"),
}
"""By a name: a command, and what it has no use for."""


def imported(folder: Path, *words: str) -> set[str]:
    """What a Python with these arguments had imported when it said so."""
    done = subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        cwd=folder,
        env=environment(),
        check=True,
        text=True,
    )
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("imported "))
    return set(line.split()[1:])


@pytest.mark.parametrize(("words", "unused"), COMMANDS.values(), ids=COMMANDS)
def test_a_command_imports_what_it_uses(tmp_path: Path, words: list[str], unused: str) -> None:
    assert not imported(tmp_path, "-c", COMMAND, *words) & set(unused.split())


def test_a_worker_imports_what_it_uses(tmp_path: Path) -> None:
    program = f"import referee.tournament.worker; {TELL}"
    unused = f"{PLAYING} typer sqlite3 tarfile"
    assert not imported(tmp_path, "-c", program) & set(unused.split())


def test_the_process_that_forks_keepers_imports_what_it_uses(tmp_path: Path) -> None:
    folder = str(ROOT / "referee" / "bots")
    program = f"import sys; sys.path.append({folder!r}); import keeping.fork_server; {TELL}"
    unused = "typing json re pathlib subprocess dataclasses"
    assert not imported(tmp_path, "-I", "-S", "-c", program) & set(unused.split())


def test_what_is_imported_is_seen(tmp_path: Path) -> None:
    found = imported(tmp_path, "-c", COMMAND, *MATCH)
    assert {"typer", "msgspec", "referee.match", "referee.arena.slot"} <= found
