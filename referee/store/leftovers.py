"""What is written beside its place and renamed in the end is left over where its writer is killed.

Its name says whose it was, `.NAME.PID.part`: whoever writes to the same place next removes it.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
from pathlib import Path

_PART = re.compile(r"\.(\d+)(?:\.[a-z]+)?\.part")


def part_of(place: Path) -> Path:
    """Where this process writes what is to be at a place in the end. What processes that are gone
    have left there is removed."""
    for left in place.parent.glob(f".{glob.escape(place.name)}.*.part"):
        found = _PART.fullmatch(left.name.removeprefix(f".{place.name}"))
        if found is None or _lives(int(found[1])):
            continue
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)
    return place.with_name(f".{place.name}.{os.getpid()}.part")


def beside(part: Path, what: str) -> Path:
    """Something else that this process writes for the same place."""
    return part.with_suffix(f".{what}.part")


def _lives(pid: int) -> bool:
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
