"""A data folder made of a backup (copying.py): checked, and whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tarfile
from pathlib import Path
from typing import IO, NamedTuple

from referee.bots.unpacking.open_folder import open_folder
from referee.bots.unpacking.tar import content, members
from referee.bots.unpacking.tree import BadArchive, Kind, Tree, shown
from referee.store import connect
from referee.store.database import Store
from referee.store.house import books
from referee.store.house.copying import SUMS, listed
from referee.store.house.house import House
from referee.store.house.mistakes import Conflict, HouseMistake, HouseRefused
from referee.store.house.seasons import FOLDER as SEASONS
from referee.store.house.tournaments import FOLDER as TOURNAMENTS
from referee.store.leftovers import part_of
from referee.store.postgres.address import ADDRESS

_BESIDE = ("-journal", "-wal", "-shm")
MOST_LEVELS = 200
"""Of folders within one another: those of a bot, and what they lie in."""


_CRAFTED = (EOFError, ValueError, OverflowError, RecursionError)
"""What a crafted header makes of the reader."""


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
            with path.open("rb") as file:
                unpacked = _Unpacked(file, new.absolute())
            _check_sums(path, unpacked)
            _must_be_plain(new)
        except BadArchive as bad:
            raise HouseMistake(f"{path} is no backup: {bad}") from None
        except (tarfile.TarError, *_CRAFTED) as error:
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


class _File(NamedTuple):
    """A file of a backup."""

    start: int
    """Where its content is in the backup."""
    size: int
    mode: int
    mtime: float


class _Unpacked:
    """The files, folders and links of a backup, in a new folder.

    Nothing is written outside the folder, whoever made the backup: all names in it are judged
    before anything is made. A link that leads out of the folder is left out.
    """

    def __init__(self, backup: IO[bytes], folder: Path) -> None:
        self.folder = folder
        self.sums: dict[str, str] = {}
        """The hash of every file, by its name in the backup."""
        self._tree = Tree(sys.maxsize, MOST_LEVELS)
        self._files: dict[str, _File] = {}
        for member in members(backup):
            self._take(member)
        links = {
            name: target
            for name, target in self._tree.links.items()
            if not self._tree.leads_out(name)
        }
        with open_folder(folder) as top:
            for name in self._tree.folders:
                top.make_folder(name)
            for name, file in self._files.items():
                self.sums[name] = _write_file(backup.fileno(), name, file, top.make_file(name))
            for name, target in links.items():
                top.make_link(name, target)

    def _take(self, member: tarfile.TarInfo) -> None:
        if member.isdir():
            self._tree.add(member.name, Kind.FOLDER)
        elif member.issym():
            self._tree.add(member.name, Kind.LINK, member.linkname)
        elif member.isreg() and not member.issparse() and member.size >= 0:
            file = _File(member.offset_data, member.size, member.mode, member.mtime)
            self._files[self._tree.add(member.name, Kind.FILE)] = file
        else:
            raise BadArchive(f"{shown(member.name)} in it is no plain file, folder or link")


def _write_file(backup: int, name: str, file: _File, to: int) -> str:
    """Its hash. Only its owner may write to the file, and it runs as whoever starts it."""
    digest = hashlib.sha256()
    with os.fdopen(to, "wb") as out:
        for piece in content(backup, name, file.start, file.size):
            digest.update(piece)
            out.write(piece)
        out.flush()
        os.fchmod(to, (file.mode & 0o755) | 0o600)
        os.utime(to, (file.mtime, file.mtime))
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


def _must_be_plain(folder: Path) -> None:
    """That its databases are files, and nothing beside them says otherwise: SQLite believes what it
    finds there, and a store looks for its games on the server that is named. Raises BadArchive.
    """
    for place in (
        folder,
        folder / SEASONS,
        *folder.glob(f"{SEASONS}/*"),
        folder / TOURNAMENTS,
        *folder.glob(f"{TOURNAMENTS}/*"),
    ):
        ours = (place / connect.FILE, place / books.FILE)
        beside = [Path(f"{each}{ending}") for each in ours for ending in _BESIDE]
        links = [each for each in (place, *ours) if each.is_symlink()]
        for each in (*links, place / ADDRESS, *beside):
            if os.path.lexists(each):
                name = each.relative_to(folder)
                raise BadArchive(f"{shown(str(name))} in it is part of none")


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
