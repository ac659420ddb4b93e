"""A data folder made of a backup (copying.py): checked, and whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tarfile
from pathlib import Path, PurePosixPath

from referee.store import connect
from referee.store.database import Store
from referee.store.house.copying import SUMS, listed
from referee.store.house.house import House
from referee.store.house.mistakes import Conflict, HouseMistake, HouseRefused
from referee.store.leftovers import part_of

PIECE = 1024 * 1024


def restore(path: Path, data: Path) -> dict[str, int]:
    """Make a data folder of a backup, whole or not at all; the games of each season in it.

    Raises Conflict where there is something in the folder, HouseMistake where the file is no
    backup or not as it was written.
    """
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise Conflict(f"{data} is there already and not empty; a backup goes into a new folder")
    new = part_of(data)
    try:
        data.parent.mkdir(parents=True, exist_ok=True)
        new.mkdir(mode=0o700)
        try:
            with tarfile.open(path, "r:") as tar:
                unpacked = _Unpacked(tar, new.absolute())
            _check_sums(path, unpacked)
        except (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError) as error:
            raise HouseMistake(f"{path} is no backup, or is cut off: {error}") from None
        found = _opened(new)
        with contextlib.suppress(FileNotFoundError):
            data.rmdir()
        new.rename(data)
        connect.sync_folder(data.parent)
    except OSError as error:
        where = error.filename or path
        raise HouseRefused(f"{where}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return found


class _Unpacked:
    """The files, folders and links of a backup, in a new folder.

    Nothing is written outside the folder, whoever made the backup. The standard library sees to
    that from Python 3.11.4 on, Debian 12 has 3.11.2: the members are checked here. Links are made
    last, so that no file is written through one. A link that leads out of the folder is left out.
    """

    def __init__(self, tar: tarfile.TarFile, folder: Path) -> None:
        self.folder = folder
        self.sums: dict[str, str] = {}
        """The hash of every file, by its name in the backup."""
        self._links: dict[Path, str] = {}
        for member in tar:
            self._write(tar, member)
        self._link()

    def _write(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        name = PurePosixPath(member.name)
        if name.is_absolute() or ".." in name.parts:
            raise tarfile.TarError(f"{name} in it leads out of the folder")
        path = self.folder / name
        again = path in self._links or os.path.lexists(path)
        if again and not (member.isdir() and path.is_dir()):
            raise tarfile.TarError(f"{name} is in it twice")
        path.parent.mkdir(parents=True, exist_ok=True)
        if member.isdir():
            path.mkdir(exist_ok=True)
        elif member.issym():
            self._links[path] = member.linkname
        elif member.isreg() and not member.issparse():
            self.sums[name.as_posix()] = _write_file(tar, member, path)
        else:
            raise tarfile.TarError(f"{name} in it is no plain file, folder or link")

    def _link(self) -> None:
        made = set()
        for path, target in self._links.items():
            if os.path.lexists(path):
                raise tarfile.TarError(f"{path.relative_to(self.folder)} is in it twice")
            # Where it leads by its words alone, and below where it leads by way of others.
            within = os.path.normpath(path.relative_to(self.folder).parent / target)
            if not within.startswith(("/", "..")):
                path.symlink_to(target)
                made.add(path)
        # Without one link, another can lead elsewhere.
        while out := {path for path in made if not self._holds(path)}:
            for path in out:
                path.unlink()
            made -= out

    def _holds(self, path: Path) -> bool:
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.folder))


def _write_file(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> str:
    """Its hash. Only its owner may write to the file, and it runs as whoever starts it."""
    content = tar.extractfile(member)
    assert content is not None, f"{member.name} is a plain file"
    digest = hashlib.sha256()
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(fd, "wb") as file:
        while piece := content.read(PIECE):
            digest.update(piece)
            file.write(piece)
        os.fchmod(fd, (member.mode & 0o755) | 0o600)
    os.utime(path, (member.mtime, member.mtime))
    return digest.hexdigest()


def _check_sums(path: Path, unpacked: _Unpacked) -> None:
    """That the backup holds the files that were written to it, and no other."""
    if unpacked.sums.pop(SUMS, None) is None:
        raise HouseMistake(f"{path} is no backup, or is cut off: it has no {SUMS}")
    listing = unpacked.folder / SUMS
    differing = _lines(listing.read_bytes()) ^ _lines(listed(unpacked.sums))
    if differing:
        name = os.fsdecode(min(line.partition(b"  ")[2] for line in differing))
        raise HouseMistake(f"{path} is damaged: {name} in it is not what was written")
    listing.unlink()


def _lines(text: bytes) -> set[bytes]:
    return set(text.split(b"\n"))


def _opened(folder: Path) -> dict[str, int]:
    """That everything in it can be opened; the games of each season."""
    with House.open(folder, create=False) as house:
        found: dict[str, int] = {}
        for season in house.seasons.all():
            place = house.seasons.folder(season)
            if (place / connect.FILE).exists():
                with Store.open(place) as store:
                    found[season.name] = sum(store.counts().values())
        return found
