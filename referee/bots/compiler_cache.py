"""What a compiler keeps from one build of a bot to the next: the `~/.cache` of a confined build.

    archive of the last build → unpacked behind the walls → build → packed behind the walls → kept

It is for commands with which authors build their own bots, and for confined builds: at level `none`
a build has the author's own `~/.cache`. Nothing of this machine can be written to behind the walls:
`~/.cache` is memory there, within the limits of every build. Of what is packed, nothing is ever
looked into outside. It is unpacked for the same bot alone: for the same name, in the same folder,
with the very same file `bot.toml`. An edit of the sources leaves that file alone. Another bot that
takes the folder's place brings a file of its own, and begins with an empty cache.

A build does without, rather than fail, where an archive is not as it was written, too large, or
cannot be kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from referee.bots.cache import COMPILERS, SHOWN_NAME
from referee.bots.confinement.levels import Level
from referee.bots.confinement.limits import GIB, MIB
from referee.bots.confinement.walls import HOME, system_program
from referee.bots.contents import DIGITS
from referee.bots.manifest import Bot
from referee.bots.manifest_text import MANIFEST

MOST = 256 * MIB
"""Of one bot. What grows larger is thrown away, and the next build begins anew."""
MOST_IN_ALL = 2 * GIB
"""Of all bots. What was used longest ago goes first."""
ARCHIVE = "/compilers"
"""Where a build finds the archive of the last one."""
LENGTH = 16
"""Characters at the end of what a build hands out: how long the archive before them is."""
PIECE = 1 * MIB
AROUND = (
    "{tar} -xf {archive} -C {home} 2>/dev/null || {rm} -rf {home}/.cache; "
    "( {build} ); status=$?; "
    "{{ [ ! -L {home}/.cache ] && {tar} -cf {home}/.packed -C {home} .cache && "
    'size=$({wc} -c <{home}/.packed) && [ "$size" -le {most} ] && '
    '{cat} {home}/.packed && printf %{length}d "$size"; }} 2>/dev/null; '
    "exit $status"
)
"""Around the script of a build. A build that fails leaves its compiler's cache as well: the next
edit mends it."""
_SIZE = re.compile(rb" *([1-9][0-9]*)")


class CompilerCache:
    """Of one bot at one level."""

    def __init__(self, path: Path, reader: int | None) -> None:
        """The archive is this file. `reader` is the user whom bots are handed to, if any."""
        self._path = path
        self._reader = reader

    @classmethod
    def of(cls, cache: Path, bot: Bot, level: Level, reader: int | None) -> CompilerCache | None:
        """The bot's own, in the cache of built bots; None for a bot without a file `bot.toml`."""
        identity = _identity(bot)
        if identity is None:
            return None
        known_by = hashlib.sha256(os.fsencode(identity)).hexdigest()[:DIGITS]
        return cls(cache / f"{bot.name[:SHOWN_NAME]}-{known_by}-{level}{COMPILERS}", reader)

    def seen(self) -> tuple[tuple[str, str], ...]:
        """The archive of the last build and where the next one finds it; nothing where there is
        none, or not as it was written."""
        with contextlib.suppress(OSError), self._path.open("rb") as file:
            digest = hashlib.sha256()
            size = os.fstat(file.fileno()).st_size - digest.digest_size
            for piece in _pieces(file, size):
                digest.update(piece)
            if size > 0 and file.read() == digest.digest():
                return ((str(self._path), ARCHIVE),)
        return ()

    def around(self, build: str) -> str:
        """The script of a build, with the compiler's cache unpacked before it and packed after."""
        programs = {name: system_program(name) for name in ("cat", "rm", "tar", "wc")}
        return AROUND.format(
            build=build, archive=ARCHIVE, home=HOME, most=MOST, length=LENGTH, **programs
        )

    def take(self, handed_out: IO[bytes] | None) -> None:
        """Cut the archive off the end of what a build handed out, and keep it. Without one nothing
        is kept: what the last build left may be why there is none."""
        size = 0 if handed_out is None else _size_at_end(handed_out)
        # A disk may be full; the build is as good as any.
        with contextlib.suppress(OSError):
            if handed_out is None or not size:
                self._path.unlink(missing_ok=True)
            else:
                self._keep(handed_out, size)
        if handed_out is not None:
            if size:
                handed_out.truncate(handed_out.seek(-(size + LENGTH), os.SEEK_END))
            handed_out.seek(0)

    def _keep(self, handed_out: IO[bytes], size: int) -> None:
        """Whole or not at all. Raises OSError."""
        fd, name = tempfile.mkstemp(dir=self._path.parent, prefix=self._path.name)
        try:
            with os.fdopen(fd, "wb") as out:
                digest = hashlib.sha256()
                handed_out.seek(-(size + LENGTH), os.SEEK_END)
                for piece in _pieces(handed_out, size):
                    digest.update(piece)
                    out.write(piece)
                out.write(digest.digest())
                if self._reader is not None:
                    os.fchown(fd, -1, self._reader)
                    os.fchmod(fd, 0o640)
            Path(name).replace(self._path)
        except BaseException:
            Path(name).unlink()
            raise
        _keep_latest(self._path.parent)


def _identity(bot: Bot) -> str | None:
    """What tells this bot from every other one that has been in its folder.

    A file system gives the number of a file that is gone to a new one, and what unpacks an archive
    sets the time of the last edit as it likes. Nobody sets the time of the last change (ctime).
    """
    if bot.folder is None:
        return None
    try:
        file = os.lstat(bot.folder / MANIFEST)
    except OSError:
        return None
    if not stat.S_ISREG(file.st_mode):
        return None
    return f"{bot.folder}\0{bot.name}\0{file.st_dev}\0{file.st_ino}\0{file.st_ctime_ns}"


def _size_at_end(handed_out: IO[bytes]) -> int:
    """Of the archive that a build has packed of its compiler's cache; 0 where there is none."""
    whole = handed_out.seek(0, os.SEEK_END)
    handed_out.seek(max(0, whole - LENGTH))
    told = _SIZE.fullmatch(handed_out.read())
    size = int(told[1]) if told is not None else 0
    return size if size <= min(MOST, whole - LENGTH) else 0


def _pieces(file: IO[bytes], size: int) -> Iterator[bytes]:
    """The next so many bytes, or as many as there are."""
    while size > 0 and (piece := file.read(min(PIECE, size))):
        size -= len(piece)
        yield piece


def _keep_latest(cache: Path) -> None:
    """As many archives as fit in with all others, those used last."""
    room = MOST_IN_ALL
    found = [(path.stat(), path) for path in cache.glob(f"*{COMPILERS}")]
    for info, path in sorted(found, key=lambda each: each[0].st_mtime, reverse=True):
        room -= info.st_size
        if room < 0:
            path.unlink(missing_ok=True)
