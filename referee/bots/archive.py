"""Folders as archives: packed, and, where they come from a stranger, taken in with care.

Files, folders and links that stay inside the folder are taken, and nothing else: no name that leads
out, no device, no owner, no bit beyond "may be run". Links are made last, so that no file is ever
written through one.
"""

from __future__ import annotations

import contextlib
import io
import os
import posixpath
import select
import stat
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from referee.bots.contents import MOST_FILES, MOST_LEVELS, contents

PIECE = 64 * 1024
MOST_AT_ONCE = 1024 * 1024


class BadArchive(Exception):
    """An archive that is not taken; the message says why."""


def pack(folder: Path) -> bytes:
    """The content of a bot's folder as a tar file; the same folder gives the same bytes."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:", format=tarfile.PAX_FORMAT) as archive:
        for path in contents(folder):
            here = folder / path
            info = tarfile.TarInfo(path.as_posix())
            if here.is_symlink():
                info.type, info.linkname = tarfile.SYMTYPE, str(here.readlink())
                archive.addfile(info)
            elif here.is_dir():
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(info)
            else:
                content = here.read_bytes()
                info.size = len(content)
                info.mode = 0o755 if here.stat().st_mode & 0o100 else 0o644
                archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


@contextlib.contextmanager
def receive(fd: int, within_s: float, most_bytes: int) -> Iterator[IO[bytes] | None]:
    """All that comes until the end, in a file of its own; None if the end does not come in time.

    Raises BadArchive for more than `most_bytes`.
    """
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    deadline = time.monotonic() + within_s
    with tempfile.TemporaryFile() as file:
        while True:
            left_ms = (deadline - time.monotonic()) * 1000
            if left_ms <= 0 or not poll.poll(left_ms):
                yield None
                return
            data = os.read(fd, PIECE)
            if not data:
                break
            file.write(data)
            if file.tell() > most_bytes:
                raise BadArchive(f"it is larger than {most_bytes} bytes")
        file.seek(0)
        yield file


def unpack(file: IO[bytes], folder: Path, most_bytes: int) -> None:
    """Into an empty folder. Raises BadArchive, OSError."""
    try:
        with tarfile.open(fileobj=cast(IO[bytes], _Sips(file)), mode="r:") as archive:
            taken = _Taken(folder, most_bytes)
            for member in archive:
                taken.take(archive, member)
        taken.link()
    except (BadArchive, OSError):
        raise
    except Exception as error:  # whatever a crafted header makes of the reader
        raise BadArchive(f"it cannot be read: {type(error).__name__}") from None


class _Sips:
    """A file of which nobody takes much at once: a header may claim any length."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.tell, self.seek, self.close = file.tell, file.seek, file.close

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= MOST_AT_ONCE:
            raise BadArchive("a header in it is too long")
        return self._file.read(size)


class _Taken:
    """What has been taken of an archive so far."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder = folder
        self._bytes_left = most_bytes
        self._files_left = MOST_FILES
        self._links: list[tuple[Path, str]] = []

    def take(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        self._files_left -= 1
        if self._files_left < 0:
            raise BadArchive(f"it has more than {MOST_FILES} files")
        name = _inside(member.name)
        target = self._folder / name
        if member.isdir():
            if name != ".":
                target.mkdir(exist_ok=True)
                target.chmod(0o755)
        elif member.issym():
            self._links.append((target, member.linkname))
        elif member.islnk():
            source = self._folder / _inside(member.linkname)
            if not stat.S_ISREG(source.lstat().st_mode):
                raise BadArchive(f"{member.name} is a link to what is no file")
            target.hardlink_to(source)
        elif member.isreg() and not member.issparse():
            self._write(archive, member, target)
        else:
            raise BadArchive(f"{member.name} is no plain file, folder or link")

    def link(self) -> None:
        """Make the links, last of all, and see that none leads out."""
        for target, where in self._links:
            target.symlink_to(where)
        root = os.path.realpath(self._folder)
        for target, _ in self._links:
            if not os.path.realpath(target).startswith(root + os.sep):
                raise BadArchive(f"{target.name} leads out of the folder")

    def _write(self, archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
        self._bytes_left -= member.size
        if self._bytes_left < 0:
            raise BadArchive("its files are too large together")
        content = archive.extractfile(member)
        if content is None:
            raise BadArchive(f"{member.name} cannot be read")
        with target.open("xb") as out:
            while piece := content.read(PIECE):
                out.write(piece)
        target.chmod(0o755 if member.mode & 0o100 else 0o644)


def _inside(name: str) -> str:
    plain = posixpath.normpath(name)
    if plain.startswith(("/", "../")) or plain == ".." or "\0" in plain:
        raise BadArchive(f"{name} leads out of the folder")
    if plain.count("/") >= MOST_LEVELS:
        raise BadArchive(f"it has more than {MOST_LEVELS} folders within one another")
    return plain
