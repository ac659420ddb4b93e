"""The real command in a process of its own, and what every one of its mistakes must look like."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from referee.clock import BadTime, read_duration_ms
from tests.arena.playing import MARK, ROOT, left_of
from tests.waiting import PATIENCE_S

REFEREE = [sys.executable, "-c", "from referee.cli import main; main()"]
BOT = ROOT / "tests/records/bot.py"
ONE_AFTER_ANOTHER = """
import gc, json, os, sys, tempfile
import typer
from referee.cli import build_app, main

# What typer imports for the first command that it reads need not be imported for each.
typer.main.get_command(build_app()).make_context("referee", ["variants"])
gc.freeze()  # Nor need each of them tidy it all up.
done = []
for words in json.load(sys.stdin):
    files = tempfile.TemporaryFile(), tempfile.TemporaryFile()
    child = os.fork()
    if child == 0:
        os.dup2(files[0].fileno(), 1)
        os.dup2(files[1].fileno(), 2)
        sys.argv[1:] = words
        main()
    _, status = os.waitpid(child, 0)
    texts = []
    for file in files:
        file.seek(0)
        texts.append(file.read().decode())
    done.append([os.waitstatus_to_exitcode(status), *texts])
json.dump(done, sys.stdout)
"""


Mistakes = Mapping[str, tuple[Sequence[object], str]]
"""By name: the words of a command, and a pattern of the sentence that refuses it."""


class Done(NamedTuple):
    status: int
    out: str
    err: str


def environment(**more: str) -> dict[str, str]:
    """Without what would tell the command of a terminal that is not there."""
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    return {**kept, "PYTHONPATH": str(ROOT), "TERM": "xterm", **more}


def referee(folder: Path, *words: object, stdin: bytes = b"", **env: str) -> Done:
    """Run the command in this folder, and see that nothing of it is left."""
    return Done(*_run(folder, [*REFEREE, *map(str, words)], stdin, env))


def each(folder: Path, commands: Sequence[Sequence[object]]) -> list[Done]:
    """Run many commands, each in a process of its own that need not import everything anew."""
    told = json.dumps([[str(word) for word in words] for words in commands]).encode()
    status, out, err = _run(folder, [sys.executable, "-c", ONE_AFTER_ANOTHER], told, {})
    assert (status, err) == (0, ""), err
    return [Done(*done) for done in json.loads(out)]


def _run(
    folder: Path, command: list[str], stdin: bytes, env: dict[str, str]
) -> tuple[int, str, str]:
    mark = uuid.uuid4().hex
    done = subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        cwd=folder,
        env=environment(**{MARK: mark, **env}),
        timeout=PATIENCE_S,
        check=False,
    )
    assert left_of(mark) == []
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def succeeds(folder: Path, *words: object) -> str:
    """What the command printed; it did so without a word on stderr."""
    done = referee(folder, *words)
    assert (done.status, done.err) == (0, ""), done.err
    return done.out


def sentence(done: Done, status: int = 2) -> str:
    """The one sentence in which a command refuses; it has printed nothing else."""
    assert (done.status, done.out) == (status, ""), done
    assert done.err.startswith("referee: "), done.err
    assert done.err.endswith("\n")
    assert done.err.count("\n") == 1, done.err
    return done.err.removeprefix("referee: ").removesuffix("\n")


def refuses(
    folder: Path, mistakes: Mistakes, state: Callable[[Path], object] | None = None
) -> None:
    """That each of these commands is refused in these words, and that nothing is written."""
    state = state or _state
    before = state(folder)
    done = each(folder, [words for words, _ in mistakes.values()])
    for (name, (_, pattern)), found in zip(mistakes.items(), done, strict=True):
        told = sentence(found)
        assert re.fullmatch(pattern, told), f"{name}: {told}"
    assert state(folder) == before


def no_duration(text: str) -> str:
    """A pattern of what begins with the refusal of this duration."""
    with pytest.raises(BadTime) as bad:
        read_duration_ms(text)
    return f"{re.escape(str(bad.value))}.*"


def _state(folder: Path) -> dict[Path, tuple[int, int]]:
    """What is in a folder, how long it is, and when it was written."""
    found = {path: path.stat() for path in folder.rglob("*")}
    return {path: (stat.st_size, stat.st_mtime_ns) for path, stat in found.items()}


def planned(name: str, *plan: str) -> str:
    """A bot that plays by a plan, as a word of the command line."""
    return f"{name}={shlex.join([sys.executable, '-S', str(BOT), *plan])}"


def on_terminal(folder: Path, *words: object, width: int = 80) -> tuple[int, str]:
    """Run the command on a terminal of this width: its status, and all that the terminal got."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    process = subprocess.Popen(
        [*REFEREE, *map(str, words)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env=environment(),
    )
    os.close(theirs)
    seen = b""
    try:
        while data := os.read(ours, 65_536):
            seen += data
    except OSError:  # Linux says so when the last writer is gone.
        pass
    finally:
        os.close(ours)
    return process.wait(PATIENCE_S), seen.decode()
