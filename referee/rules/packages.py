"""Variants of other packages: what they register as entry points.

importlib.metadata, which knows all about entry points, takes longer to import than most bots take
to start, and most machines have no such package. So the files that would name one are looked at
first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import NamedTuple

GROUP = "referee.variants"


class Claim(NamedTuple):
    """Somebody's claim to the name of a variant."""

    origin: str
    """Whose it is, for people."""
    module: str
    load: Callable[[], object]


def claims() -> list[tuple[str, Claim]]:
    """What packages claim, by name and sorted."""
    if not _elsewhere() and not any(map(_may_claim, sys.path)):
        return []
    from importlib.metadata import entry_points

    found = sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))
    origins = [
        f"the entry point {entry.value} of package {entry.dist.name if entry.dist else '?'}"
        for entry in found
    ]
    return [
        (entry.name, Claim(origin, entry.module, entry.load))
        for entry, origin in zip(found, origins, strict=True)
    ]


def _elsewhere() -> bool:
    """Whether packages may lie where no folder of the path shows them."""
    return any(
        hasattr(finder, "find_distributions") and finder is not PathFinder
        for finder in sys.meta_path
    )


def _may_claim(place: str) -> bool:
    """Whether a package at this place of the path names the group; an archive may hold any."""
    folder = Path(place).absolute()
    try:
        changed_ns = folder.stat().st_mtime_ns
        return not folder.is_dir() or _names_group(folder, changed_ns)
    except FileNotFoundError:
        return False
    except OSError:
        return True


@cache
def _names_group(folder: Path, _changed_ns: int) -> bool:
    """Looked at anew when packages have come or gone. Raises OSError."""
    files = folder.glob("*-info/entry_points.txt")
    return any(GROUP.encode() in file.read_bytes() for file in files)
