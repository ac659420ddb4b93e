"""The real command in a process of its own, and what every one of its mistakes must look like."""

from __future__ import annotations

import fcntl
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
from tests.forking import COMMAND, MAIN, run
from tests.waiting import PATIENCE_S

REFEREE = [sys.executable, "-c", MAIN]
BOT = ROOT / "tests/records/bot.py"
AT_START = ("PYTHON", "LD_", "LC_", "LANG")
"""Variables that Python reads when it starts begin with one of these."""


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
    given = environment(**{MARK: (mark := uuid.uuid4().hex), **env})
    texts = list(map(str, words))
    if any(name.startswith(AT_START) for name in env):
        done = subprocess.run(
            [*REFEREE, *texts],
            input=stdin,
            capture_output=True,
            cwd=folder,
            env=given,
            timeout=PATIENCE_S,
            check=False,
        )
        status, out, err = done.returncode, done.stdout, done.stderr
    else:
        status, out, err = run(COMMAND, MAIN, *words, stdin=stdin, cwd=folder, env=given)
    assert left_of(mark) == []
    return Done(status, out.decode(), err.decode())


def each(folder: Path, commands: Sequence[Sequence[object]]) -> list[Done]:
    """Run many commands, one after the other."""
    return [referee(folder, *words) for words in commands]


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
