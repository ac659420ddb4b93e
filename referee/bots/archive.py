"""Folders as archives: packed, and, where they come from a stranger, taken in with care.

All of an archive is judged before anything of it is made (unpacking/), by a process of its own
(unpacker.py): where root unpacks, that process is the bots' user, as is the build that wrote the
archive. What it has made is handed to root in the end.
"""

from __future__ import annotations

import contextlib
import os
import select
import stat
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Protocol, cast

from referee.bots.confinement.identity import servant
from referee.bots.confinement.limits import MIB, show_size
from referee.bots.contents import MOST_FILES, MOST_LEVELS, contents, empty, plain_file
from referee.bots.process import told_status
from referee.bots.unpacking.open_folder import OpenFolder, open_folder
from referee.bots.unpacking.tree import BadArchive

__all__ = ["BadArchive", "pack", "receive", "unpack"]

PIECE = 64 * 1024
UNPACKER = Path(__file__).with_name("unpacker.py")
WITHIN_S = 300.0
"""What unpacking may take: two gigabytes on a slow disk."""
MEMORY = 512 * MIB
"""Far more than the names of a hundred thousand files take."""


class Sink(Protocol):
    """Takes an archive, piece by piece."""

    def write(self, data: bytes, /) -> object: ...


def pack(folder: Path, to: Sink) -> None:
    """The content of a bot's folder as a tar file; the same folder gives the same bytes.

    A file goes through memory in pieces. Raises OSError, and what `to` raises.
    """
    with (
        tarfile.open(fileobj=cast(IO[bytes], to), mode="w|", format=tarfile.PAX_FORMAT) as archive,
        open_folder(os.path.realpath(folder)) as top,
    ):
        for path in contents(folder):
            _add(archive, top, path.as_posix())


def _add(archive: tarfile.TarFile, top: OpenFolder, name: str) -> None:
    info = tarfile.TarInfo(name)
    mode = top.look(name).st_mode
    if stat.S_ISLNK(mode):
        info.type, info.linkname = tarfile.SYMTYPE, str(Path(top.read_link(name)))
        archive.addfile(info)
    elif stat.S_ISDIR(mode):
        info.type, info.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(info)
    else:
        with plain_file(top.open_file(name), name) as file:
            info.size, info.mode = os.fstat(file.fileno()).st_size, 0o755 if mode & 0o100 else 0o644
            archive.addfile(info, file)


@contextlib.contextmanager
def receive(fd: int, within_s: float, most_bytes: int, place: Path) -> Iterator[IO[bytes] | None]:
    """All that comes until the end, in a file of its own; None if the end does not come in time.

    The file is on the disk of `place`, a folder, and has no name there: it ends with this process.
    Raises BadArchive for more than `most_bytes`.
    """
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    deadline = time.monotonic() + within_s
    with tempfile.TemporaryFile(dir=place) as file:
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
    """All of a file of the disk into an empty folder, or nothing. Raises BadArchive, OSError."""
    user = servant()
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with _handed_to(user, fd):
            _run_unpacker(file, fd, most_bytes, user)
    except BaseException:
        empty(folder)
        raise
    finally:
        os.close(fd)


@contextlib.contextmanager
def _handed_to(user: int | None, folder: int) -> Iterator[None]:
    """For a while, a folder is this user's, if any; what he has made is ours in the end."""
    if user is None:
        yield
        return
    before = os.fstat(folder)
    try:
        os.fchown(folder, user, user)
    except OSError as error:  # a container that has no such user, or whose root may do little
        told = f"its folder cannot be handed to user {user}, who unpacks it: {error.strerror}"
        raise BadArchive(told) from None
    try:
        yield
        _take_over(folder, user)
    finally:
        os.fchown(folder, before.st_uid, before.st_gid)
        os.fchmod(folder, stat.S_IMODE(before.st_mode))


def _run_unpacker(file: IO[bytes], folder: int, most_bytes: int, user: int | None) -> None:
    orders = [f"folder={folder}", f"bytes={most_bytes}", f"memory={MEMORY}"]
    orders += [f"names={MOST_FILES}", f"levels={MOST_LEVELS}"]
    if user is not None:
        orders.append(f"user={user}")
    file.seek(0)  # What was written last is on the disk then.
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(UNPACKER), *orders],
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"LANG": "C.UTF-8"},
            pass_fds=[folder],
            start_new_session=True,
            timeout=WITHIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BadArchive(f"it cannot be unpacked within {WITHIN_S:g} s") from None
    word, _, rest = done.stdout.decode().partition(" ")
    if word == "bad":
        raise BadArchive(rest)
    if word == "error":
        number, _, name = rest.partition(" ")
        raise OSError(int(number), os.strerror(int(number)), name)
    if word != "done":
        how, memory = told_status(done.returncode), show_size(MEMORY)
        raise BadArchive(f"the process that unpacks it {how}; it may have {memory} of memory")


def _take_over(folder: int, user: int) -> None:
    """Make what this user has unpacked our own: no bot of his may change it any more."""
    for _, folders, files, here in os.fwalk(".", dir_fd=folder):
        for name in (*folders, *files):
            info = os.stat(name, dir_fd=here, follow_symlinks=False)
            if info.st_uid not in (user, os.geteuid()):
                raise BadArchive("somebody else has put files where it was unpacked")
            os.chown(name, os.geteuid(), os.getegid(), dir_fd=here, follow_symlinks=False)
