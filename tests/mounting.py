"""Small disks for tests, mounted for real. A test is skipped where mounting is not permitted."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

FILL_S = 0.005
"""From one look for free room on a full disk to the next."""


def mount(*arguments: str) -> None:
    """Mount something, or skip the test where that is not permitted."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small disk")
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"mounting is not permitted here: {done.stderr.strip()}")


@contextlib.contextmanager
def small_disk(path: Path, size: str) -> Iterator[Path]:
    """A new disk of this size, such as `1m`, mounted at a path that is not there yet."""
    path.mkdir()
    mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path))
    try:
        yield path
    finally:
        # Processes that are just ending may still have something open there.
        subprocess.run(["umount", "--lazy", str(path)], check=True)


@contextlib.contextmanager
def filled(disk: Path) -> Iterator[None]:
    """Not a byte is free on this disk meanwhile. A thread fills what others give up there."""
    ballast = os.open(disk / "ballast", os.O_CREAT | os.O_WRONLY)
    full, ended = threading.Event(), threading.Event()

    def fill() -> None:
        while not ended.is_set():
            with contextlib.suppress(OSError):
                while True:
                    os.write(ballast, bytes(4096))
            full.set()
            ended.wait(FILL_S)

    filler = threading.Thread(target=fill)
    filler.start()
    try:
        full.wait()
        yield
    finally:
        ended.set()
        filler.join()
        os.close(ballast)
        (disk / "ballast").unlink()
