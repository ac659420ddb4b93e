"""Starts writers as processes, and never leaves one behind."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextmanager
def writer(what: str, folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running writer and the first line it said. It is killed at the end, if not before."""
    command = [sys.executable, "-m", "tests.store.writer", what, str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def rest(process: subprocess.Popen[str]) -> list[str]:
    """The other lines, when the process has ended. The last may be cut off."""
    assert process.stdout is not None
    lines = process.stdout.read().splitlines(keepends=True)
    process.wait()
    return [line.strip() for line in lines if line.endswith("\n")]


def house_worker(what: str, data: Path) -> subprocess.Popen[str]:
    """A process that works on a house, as `house_worker.py` has it; the caller ends it."""
    command = [sys.executable, "-m", "tests.store.house_worker", what, str(data)]
    return subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
