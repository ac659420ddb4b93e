"""Whom confined bots run as.

Bubblewrap that root has started is no confinement: the kernel goes on to see root, whatever number
the bot sees. A referee that root started therefore hands its bots to a user that nobody has.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path

from referee.mistake import REFUSED, Mistake

FIRST, LAST = 64123, 64999
"""Numbers that Debian gives to nobody."""


class NoUser(Mistake):
    """Root has nobody to hand its bots to."""

    status = REFUSED


def servant() -> int | None:
    """The user and group that bots are handed to; None where they keep the referee's own.

    Raises NoUser.
    """
    if os.getuid() != 0 and os.geteuid() != 0:
        return None
    for number in range(FIRST, LAST + 1):
        if not _is_taken(number):
            return number
    raise NoUser(f"every user from {FIRST} to {LAST} is taken, and bots must not run as root")


def _is_taken(number: int) -> bool:
    for find in (pwd.getpwuid, grp.getgrgid):
        try:
            find(number)
        except KeyError:
            continue
        return True
    return False


def may_pass(folder: Path) -> bool:
    """Whether a stranger may reach what is in a folder, there or yet to be made."""
    try:
        above = [each for each in (folder, *folder.parents) if each.exists()]
        return all(_mode(each) & stat.S_IXOTH for each in above)
    except OSError:
        return False


def may_read(path: Path) -> bool:
    """Whether a stranger may read this file, or this folder with all that is in it."""
    try:
        if not all(_mode(above) & stat.S_IXOTH for above in path.resolve().parents):
            return False
        return all(_is_open(each) for each in _with_contents(path))
    except OSError:
        return False


def _with_contents(path: Path) -> Iterator[Path]:
    yield path
    if path.is_dir():
        for place, folders, files in os.walk(path):
            yield from (Path(place, name) for name in (*folders, *files))


def _is_open(path: Path) -> bool:
    if path.is_symlink():
        return True
    mode = _mode(path)
    needed = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(mode) else 0)
    return mode & needed == needed


def _mode(path: Path) -> int:
    return path.stat().st_mode
