"""Whom confined bots run as.

Bubblewrap that root has started is no confinement: the kernel goes on to see root, whatever number
the bot sees. A referee that root started therefore hands its bots to a user that nobody has.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from pathlib import Path

from referee.bots.contents import walk
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


def may_pass(folder: Path, user: int) -> bool:
    """Whether this user may reach what is in a folder, there or yet to be made."""
    try:
        above = [each for each in (folder, *folder.parents) if each.exists()]
        return all(_allows(each.stat(), user, stat.S_IXOTH) for each in above)
    except OSError:
        return False


def may_enter(folder: Path, user: int) -> bool:
    """Whether this user may enter this one folder, once he stands before it. Raises OSError."""
    return _allows(folder.stat(), user, stat.S_IXOTH)


def may_read(path: Path, user: int) -> bool:
    """Whether this user may read this file, or this folder with all that is in it."""
    try:
        for above in path.resolve().parents:
            if not _allows(above.stat(), user, stat.S_IXOTH):
                return False
        if not _is_open(path.stat(), user):
            return False
        return not path.is_dir() or all(_is_open(info, user) for _, info in walk(path))
    except OSError:
        return False


def _is_open(info: os.stat_result, user: int) -> bool:
    if stat.S_ISLNK(info.st_mode):
        return True
    folder = stat.S_ISDIR(info.st_mode)
    return _allows(info, user, stat.S_IROTH | (stat.S_IXOTH if folder else 0))


def _allows(info: os.stat_result, user: int, bits: int) -> bool:
    """Whether a user that owns nothing and is in one group, of its own number, may do all this."""
    given = info.st_mode >> 3 if info.st_gid == user else info.st_mode
    return given & bits == bits
