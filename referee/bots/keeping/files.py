"""How many files a bot has made.

Its file systems are memory, and limited in bytes; a name and what the kernel keeps for it take some
more, which no limit counts: by the hundred thousand, empty files are hundreds of megabytes, and
seconds to sweep up. A file with one byte in it takes a page. So there may be as many files as there
are pages, whether anything is in them or not, and some more for folders.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

from .kin import threads

FREE = 1024
"""Files that there may be in any place, however small it is."""


class Files:
    """Those in the folders where a bot can write, each a file system of its own."""

    def __init__(self, bot: int, folders: Sequence[str]) -> None:
        self._bot = bot
        self._folders = folders
        self._open: list[int] = []
        self._before: dict[int, int] = {}
        """Files that were there when the pairing began, by descriptor."""

    def too_many(self) -> bool:
        """Whether there are more than there may be. tmpfs counts a link to a file as one, too."""
        if not self._open:
            self._open = opened(self._bot, self._folders)
        for fd in self._open:
            room = os.statvfs(fd)
            made = room.f_files - room.f_ffree - self._before.get(fd, 0)
            if made > room.f_blocks + FREE:
                return True
        return False

    def begin_pairing(self) -> None:
        """Files that are there now do not count any more."""
        for fd in self._open:
            room = os.statvfs(fd)
            self._before[fd] = room.f_files - room.f_ffree

    def are_few(self, share: int) -> bool:
        """Whether files and bytes take no more than this share, a tenth for 10, of their room."""
        for fd in self._open:
            room = os.statvfs(fd)
            files, used = room.f_files - room.f_ffree, room.f_blocks - room.f_bfree
            if files * share > room.f_blocks + FREE or used * share > room.f_blocks:
                return False
        return True

    def close(self) -> None:
        """What is held open here outlives the bot."""
        for fd in self._open:
            os.close(fd)
        self._open = []


def opened(bot: int, folders: Sequence[str]) -> list[int]:
    """These folders as the bot sees them, by whichever of its threads still lives.

    Held from the beginning: the first thread may end before the others, and the way in with it.
    """
    for thread in threads(bot):
        found: list[int] = []
        with contextlib.suppress(OSError):
            for folder in folders:
                place = f"/proc/{bot}/task/{thread}/root{folder}"
                found.append(os.open(place, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))
            return found
        for fd in found:
            os.close(fd)
    return []
