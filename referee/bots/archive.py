"""What a confined build hands out: an archive from a stranger, taken in with care.

Files, folders and links that stay inside the folder are taken, and nothing else: no name that leads
out, no device, no owner, no bit beyond "may be run". Links are made last, so that no file is ever
written through one.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import select
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

PIECE = 64 * 1024
MOST_FILES = 100_000


class BadArchive(Exception):
    """An archive that is not taken; the message says why."""


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


def unpack(file: IO[bytes], folder: Path) -> None:
    """Into an empty folder. Raises BadArchive, OSError."""
    links: list[tuple[Path, str]] = []
    try:
        with tarfile.open(fileobj=file, mode="r:") as archive:
            for count, member in enumerate(archive):
                if count >= MOST_FILES:
                    raise BadArchive(f"it has more than {MOST_FILES} files")
                name = _inside(member.name)
                target = folder / name
                if member.isdir():
                    target.mkdir(parents=True, exist_ok=True)
                elif member.issym():
                    _inside(posixpath.join(posixpath.dirname(name), member.linkname))
                    links.append((target, member.linkname))
                elif member.isreg() or member.islnk():
                    _write(archive, member, target)
                else:
                    raise BadArchive(f"{member.name} is no file, folder or link")
    except (tarfile.TarError, EOFError, UnicodeError, ValueError) as error:
        raise BadArchive(str(error)) from None
    for target, where in links:
        target.symlink_to(where)


def _inside(name: str) -> str:
    plain = posixpath.normpath(name)
    if plain.startswith(("/", "../")) or plain == ".." or "\0" in plain:
        raise BadArchive(f"{name} leads out of the folder")
    return plain


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    content = archive.extractfile(member)
    if content is None:
        raise BadArchive(f"{member.name} cannot be read")
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("xb") as out:
        while piece := content.read(PIECE):
            out.write(piece)
    target.chmod(0o755 if member.mode & 0o100 else 0o644)
