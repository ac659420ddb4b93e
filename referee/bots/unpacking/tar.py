"""A tar file of a stranger, into a folder: first all of it is judged, then it is made.

Files, folders and links that stay inside the folder are taken, and nothing else: no device, no
owner, no time, no bit beyond "may be run".
"""

from __future__ import annotations

import os
import re
import tarfile
from collections.abc import Iterator
from typing import IO, NamedTuple, cast

from .open_folder import OpenFolder
from .tree import BadArchive, Kind, Tree, shown

PIECE = 64 * 1024
OUT_OF_IT = "out of the folder, or through too many other links"
_ENDLESS_NUMBER = re.compile(rb"[0-9]{300}")
"""No size, time or name has so many digits. Some Pythons look through digits in a header in a time
that grows with the square of their number."""


class Most(NamedTuple):
    """What an archive may hold."""

    bytes: int
    """In all its files together."""
    names: int
    levels: int


class _File(NamedTuple):
    name: str
    start: int
    """Where its content is in the archive."""
    size: int
    runs: bool


class Judged:
    """The content of an archive, to be made. Nothing of a file's content is read for it."""

    def __init__(self, file: IO[bytes], most: Most) -> None:
        """Raises BadArchive, OSError."""
        self._bytes_left = most.bytes
        self._tree = Tree(most.names, most.levels)
        self._files: list[_File] = []
        self._second_names: list[tuple[str, str]] = []
        try:
            self._read(file, most.names)
        except (BadArchive, OSError, MemoryError):
            raise
        except Exception as error:  # whatever a crafted header makes of the reader
            raise BadArchive(f"it cannot be read: {type(error).__name__}") from None
        for link in self._tree.links:
            if self._tree.leads_out(link):
                raise BadArchive(f"the link {shown(link)} leads {OUT_OF_IT}")

    def make(self, archive: int, folder: OpenFolder) -> None:
        """In an empty folder. Raises BadArchive, OSError."""
        for name in self._tree.folders:
            folder.make_folder(name)
        for file in self._files:
            _write(archive, file, folder.make_file(file.name))
        for name, of in self._second_names:
            folder.make_second_name(name, of)
        for name, target in self._tree.links.items():
            folder.make_link(name, target)

    def _read(self, file: IO[bytes], most_members: int) -> None:
        for number, member in enumerate(members(file)):
            if number == most_members:
                raise BadArchive(f"it has more than {most_members} files")
            self._take(member)

    def _take(self, member: tarfile.TarInfo) -> None:
        if member.isdir():
            self._tree.add(member.name, Kind.FOLDER)
        elif member.issym():
            self._tree.add(member.name, Kind.LINK, member.linkname)
        elif member.islnk():
            file = self._tree.file(member.linkname)
            self._second_names.append((self._tree.add(member.name, Kind.FILE), file))
        elif member.isreg() and not member.issparse() and member.size >= 0:
            self._bytes_left -= member.size
            if self._bytes_left < 0:
                raise BadArchive("its files are too large together")
            name = self._tree.add(member.name, Kind.FILE)
            runs = bool(member.mode & 0o100)
            self._files.append(_File(name, member.offset_data, member.size, runs))
        else:
            raise BadArchive(f"{shown(member.name)} is no plain file, folder or link")


def members(file: IO[bytes]) -> Iterator[tarfile.TarInfo]:
    """What is in an archive, one after the other. Nothing of a file's content is read.

    Raises BadArchive, and whatever a crafted header makes of the reader.
    """
    with tarfile.open(fileobj=cast(IO[bytes], _Headers(file)), mode="r:") as archive:
        while (member := archive.next()) is not None:
            # It keeps all headers in memory, and a header may be long.
            archive.members.clear()  # type: ignore[attr-defined]  # typeshed has none
            yield member


def content(archive: int, name: str, start: int, size: int) -> Iterator[bytes]:
    """The content of a file in an archive, piece by piece. Raises BadArchive where it ends."""
    at, end = start, start + size
    while at < end:
        piece = os.pread(archive, min(PIECE, end - at), at)
        if not piece:
            raise BadArchive(f"it is cut off in {shown(name)}")
        yield piece
        at += len(piece)


class _Headers:
    """The file of an archive of which headers are read: a header may claim any length."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.tell, self.seek, self.close = file.tell, file.seek, file.close

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= PIECE:
            raise BadArchive("a header in it is too long")
        header = self._file.read(size)
        if _ENDLESS_NUMBER.search(header):
            raise BadArchive("a header in it has a number without end")
        return header


def _write(archive: int, file: _File, to: int) -> None:
    with os.fdopen(to, "wb") as out:
        out.writelines(content(archive, file.name, file.start, file.size))
        os.fchmod(to, 0o755 if file.runs else 0o644)
