"""The programs in C, compiled once for all workers of a test run."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).with_name("programs")
OPTIONS = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread")


def compiled(name: str, cache: Path) -> Path:
    """The program of a source such as `flood.c`. Skips where there is no compiler, but in CI."""
    source = PROGRAMS / name
    digest = hashlib.sha256(source.read_bytes() + (PROGRAMS / "bot.h").read_bytes())
    program = cache / f"{source.stem}-{digest.hexdigest()[:16]}"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{program.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            _compile(source, program)
    return program


def _compile(source: Path, program: Path) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None and "CI" not in os.environ:
        pytest.skip("there is no C compiler")
    made = program.with_suffix(".new")
    command = [compiler or "cc", *OPTIONS, "-o", str(made), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made.rename(program)
