"""The names that an archive holds, judged before anything is made.

A name leads nowhere but into the folder, and stands for one thing: a folder, a file or a link.
Nothing lies below a file or a link. So whoever makes the folders first, then the files, then the
links, never passes a link on the way to a name.

Where a link leads is found in these names alone: the file system is not asked, since what is there
while an archive is unpacked is not what will be there in the end.
"""

from __future__ import annotations

import enum
import posixpath
from typing import NamedTuple

MOST_LINKS = 40
"""The links that Linux follows on the way to one file."""
SHOWN = 80
"""Characters of a name in a message."""


class BadArchive(Exception):
    """An archive that is not taken; the message says why."""


class Kind(enum.Enum):
    """What a name stands for."""

    FOLDER = enum.auto()
    FILE = enum.auto()
    LINK = enum.auto()


class _End(NamedTuple):
    """Where a link leads."""

    parts: list[str]
    followed: int
    """How many links are on the way, itself included."""


class Tree:
    """Names within one folder, which is called `.` itself."""

    def __init__(self, most_names: int, most_levels: int) -> None:
        self._most_names = most_names
        self._most_levels = most_levels
        self._kinds = {".": Kind.FOLDER}
        self._ends: dict[str, _End | None] = {}
        self.links: dict[str, str] = {}
        """What each link says."""

    @property
    def folders(self) -> list[str]:
        """Each after the one that it lies in. Some are in the archive only as part of a name."""
        return [name for name, kind in self._kinds.items() if kind is Kind.FOLDER and name != "."]

    def add(self, name: str, kind: Kind, target: str = "") -> str:
        """Take a name, and a link's `target`; the name in its plain form. Raises BadArchive."""
        plain = self._plain(name)
        there = self._kinds.get(plain)
        if there is not None:
            if there is kind is Kind.FOLDER:
                return plain
            raise BadArchive(f"{shown(name)} is in it twice")
        self._make_way(plain)
        self._put(plain, kind)
        if kind is Kind.LINK:
            self.links[plain] = target
        return plain

    def file(self, name: str) -> str:
        """The plain form of a file's name. Raises BadArchive where it is no file's."""
        plain = self._plain(name)
        if self._kinds.get(plain) is not Kind.FILE:
            raise BadArchive(f"{shown(name)} is no file that comes before its second name")
        return plain

    def leads_out(self, link: str) -> bool:
        """Whether a link leads out of the folder, or through more links than the system follows.

        One that leads round in a circle does neither: nobody gets past it.
        """
        return self._end(link, 1) is None

    def _plain(self, name: str) -> str:
        plain = posixpath.normpath(name)
        if "\0" in plain:
            raise BadArchive(f"{shown(name)} is no name of a file")
        if plain.startswith(("/", "../")) or plain == "..":
            raise BadArchive(f"{shown(name)} leads out of the folder")
        if plain.count("/") >= self._most_levels:
            raise BadArchive(f"it has more than {self._most_levels} folders within one another")
        return plain

    def _make_way(self, plain: str) -> None:
        """See that a name lies in a folder, and that this one does, and so on."""
        above = posixpath.dirname(plain) or "."
        missing: list[str] = []
        while above not in self._kinds:
            missing.append(above)
            above = posixpath.dirname(above) or "."
        if self._kinds[above] is not Kind.FOLDER:
            raise BadArchive(f"{shown(plain)} lies below {shown(above)}, which is no folder")
        for each in reversed(missing):
            self._put(each, Kind.FOLDER)

    def _put(self, plain: str, kind: Kind) -> None:
        if len(self._kinds) > self._most_names:
            raise BadArchive(f"it has more than {self._most_names} files")
        self._kinds[plain] = kind

    def _end(self, link: str, depth: int) -> _End | None:
        if link not in self._ends:
            # Until it is known. Who comes by here meanwhile walks in a circle, as the system would.
            self._ends[link] = _End(link.split("/"), 1)
            self._ends[link] = self._followed(link, depth) if depth <= MOST_LINKS else None
        return self._ends[link]

    def _followed(self, link: str, depth: int) -> _End | None:
        target = self.links[link]
        if not target or target.startswith("/") or "\0" in target:
            return None
        here, followed = link.split("/")[:-1], 1
        for part in target.split("/"):
            if part == "..":
                if not here:
                    return None
                here.pop()
            elif part not in ("", "."):
                here.append(part)
                name = "/".join(here)
                if name in self.links:
                    end = self._end(name, depth + 1)
                    if end is None or followed + end.followed > MOST_LINKS:
                        return None
                    here, followed = [*end.parts], followed + end.followed
            if len(here) > self._most_levels:
                return None
        return _End(here, followed)


def shown(name: str) -> str:
    """A stranger's name as it is put into a message."""
    return repr(name) if len(name) <= SHOWN else f"{name[:SHOWN]!r}…"
