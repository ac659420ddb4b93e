"""A copy of a whole data folder in one tar file, made while the daemon writes to it; and back.

What belongs together is read from one moment: while nobody can write to the house, a reader of each
database is opened, which goes on seeing that moment, and every archive that was handed in gets a
second link, which stays when the daemon drops the first. All of it is then copied at leisure.

    house.db, seasons/*/tournament.db, tournaments/*/tournament.db      copied by SQLite
    versions/, bots/, seasons/*/logs/, snapshots of tables, server.key  copied as files
    builds/, locks, sockets, what is half uploaded                      left out: made again

The last file in it, SHA256SUMS, has the hash of every other one.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sqlite3
import stat
import sys
import tarfile
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import IO, cast

from msgspec import Struct

from referee.bots.unpacking.open_folder import open_folder
from referee.bots.unpacking.tree import BadArchive, Kind, Tree, shown
from referee.store import connect
from referee.store.database import Store
from referee.store.house import books
from referee.store.house.house import House
from referee.store.house.mistakes import Conflict, HouseMistake, HouseRefused
from referee.store.house.seasons import FOLDER as SEASONS
from referee.store.house.submissions import FOLDER as VERSIONS
from referee.store.house.tournaments import FOLDER as TOURNAMENTS
from referee.store.leftovers import beside, part_of
from referee.store.lock import LOCK

SUMS = "SHA256SUMS"
KEY = "server.key"
VEIL = "veil.key"
"""What made-up names are made of. It tells nothing that the house does not, and without it the same
bots would have other names."""
BOTS = "bots"
"""What was handed in, unpacked: strangers' files, which are called as they like."""
BUILDS = "builds"
APART = {books.FILE, connect.FILE, LOCK}
"""Databases, which SQLite copies, and locks."""
PASSING = ("-wal", "-shm", "-journal", ".new", ".part", ".ipc")
"""Endings of what comes and goes."""

PIECE = 1024 * 1024
MOST_LEVELS = 200
"""Of folders within one another: those of a bot, and what they lie in."""

Told = Callable[[str], None]


class Copied(Struct, frozen=True, kw_only=True):
    """What a backup holds."""

    path: str
    seasons: dict[str, int]
    """Games by season."""
    tournaments: int
    versions: int
    """Archives of what was handed in."""
    keys: bool
    """Whether the server's secret key is in it."""
    bytes: int


def back_up(house: House, path: Path, *, keys: bool, tell: Told = lambda _text: None) -> Copied:
    """Write a backup to a new file, which nobody but its owner may read.

    Raises Conflict where it is there already, HouseRefused, BadStore.
    """
    if os.path.lexists(path):
        raise Conflict(f"{path} is there already; give another name")
    part = part_of(path)
    room = beside(part, "room")
    try:
        room.mkdir(mode=0o700)
        fd = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(fd, "wb") as file:
            with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
                copied = _Copy(house, room, tar, tell).write(path, keys=keys)
            file.flush()
            os.fsync(file.fileno())
        part.rename(path)
        connect.sync_folder(path.parent)
    except OSError as error:
        raise HouseRefused(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)
        shutil.rmtree(room, ignore_errors=True)
    return copied


class _Copy:
    """A backup being written."""

    def __init__(self, house: House, room: Path, tar: tarfile.TarFile, tell: Told) -> None:
        self._house = house
        self._data = house.data
        self._room = room
        self._tar = tar
        self._tell = tell
        self._sums: dict[str, str] = {}

    def write(self, path: Path, *, keys: bool) -> Copied:
        games: dict[str, int] = {}
        with ExitStack() as stack:
            stores, house, archives = self._moment(stack)
            for folder, database in stores.items():
                self._tell(f"copying {folder}")
                self._add_database(f"{folder}/{connect.FILE}", database)
                games[folder] = database.execute("SELECT count(*) FROM game").fetchone()[0]
            self._tell("copying what was handed in")
            if (self._data / VERSIONS).is_dir():
                self._add(Path(VERSIONS))
            for archive in archives:
                self._add_file(f"{VERSIONS}/{archive.name}", archive)
            self._add_files(keys=keys)
            self._add_database(books.FILE, house)
        self._add_bytes(SUMS, _listed(self._sums))
        return Copied(
            path=str(path),
            seasons={
                folder.removeprefix(f"{SEASONS}/"): number
                for folder, number in games.items()
                if folder.startswith(f"{SEASONS}/")
            },
            tournaments=sum(folder.startswith(f"{TOURNAMENTS}/") for folder in games),
            versions=len(archives),
            keys=KEY in self._sums,
            bytes=self._tar.offset,
        )

    def _moment(
        self, stack: ExitStack
    ) -> tuple[dict[str, sqlite3.Connection], sqlite3.Connection, list[Path]]:
        """Readers and archives of one moment: nobody writes to the house while they are taken."""
        stores: dict[str, sqlite3.Connection] = {}
        links = part_of(self._data / VERSIONS)
        links.mkdir(mode=0o700)
        stack.callback(shutil.rmtree, links, ignore_errors=True)
        with self._house.changing():
            for kind in (SEASONS, TOURNAMENTS):
                for path in sorted((self._data / kind).glob(f"*/{connect.FILE}")):
                    reader = stack.enter_context(closing(connect.open_for_reading(path)))
                    stores[f"{kind}/{path.parent.name}"] = reader
            house = stack.enter_context(closing(_reader(self._data / books.FILE)))
            for path in (self._data / VERSIONS).glob("*.tar"):
                _link(path, links / path.name)
        return stores, house, sorted(links.iterdir())

    def _add_database(self, name: str, reader: sqlite3.Connection) -> None:
        path = self._room / "copy.db"
        try:
            with closing(sqlite3.connect(path, isolation_level=None)) as copy:
                reader.backup(copy)
            self._add_file(name, path)
        except sqlite3.Error as error:
            raise HouseRefused(f"{name} cannot be copied: {error}") from error
        finally:
            path.unlink(missing_ok=True)

    def _add_files(self, *, keys: bool) -> None:
        for folder, inner, names in os.walk(self._data):
            within = Path(folder).relative_to(self._data)
            inner[:] = sorted(each for each in inner if not _passing(within / each, keys=keys))
            for each in [*inner, *sorted(names)]:
                if not _passing(within / each, keys=keys):
                    # Logs and unpacked folders come and go while the daemon works.
                    with contextlib.suppress(FileNotFoundError):
                        self._add(within / each)

    def _add(self, name: Path) -> None:
        path = self._data / name
        found = path.lstat()
        member = tarfile.TarInfo(name.as_posix())
        member.mode, member.mtime = stat.S_IMODE(found.st_mode), int(found.st_mtime)
        if stat.S_ISREG(found.st_mode):
            self._add_file(name.as_posix(), path)
        elif stat.S_ISLNK(found.st_mode):
            member.type, member.linkname = tarfile.SYMTYPE, str(path.readlink())
            self._tar.addfile(member)
        elif stat.S_ISDIR(found.st_mode):
            member.type = tarfile.DIRTYPE
            self._tar.addfile(member)

    def _add_file(self, name: str, path: Path) -> None:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            member = tarfile.TarInfo(name)
            member.size, member.mtime = found.st_size, int(found.st_mtime)
            member.mode = stat.S_IMODE(found.st_mode)
            reading = _Hashed(file, found.st_size)
            self._tar.addfile(member, cast(IO[bytes], reading))
            self._sums[name] = reading.digest.hexdigest()

    def _add_bytes(self, name: str, data: bytes) -> None:
        path = self._room / "text"
        path.write_bytes(data)
        self._add_file(name, path)


class _Hashed:
    """A file as long as it was found, whatever is appended to it or cut off, and its hash."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file = file
        self._left = size
        self.digest = hashlib.sha256()

    def read(self, size: int) -> bytes:
        wanted = min(size, self._left)
        data = self._file.read(wanted).ljust(wanted, b"\0")
        self._left -= len(data)
        self.digest.update(data)
        return data


def _passing(name: Path, *, keys: bool) -> bool:
    """Whether a file or a folder is none that is copied as it is."""
    if name.parts[0] == BOTS:
        return False
    if len(name.parts) == 1:
        secret = name.suffix == ".key" and name.name != VEIL
        if name.name in (BUILDS, VERSIONS) or (secret and not keys):
            return True
    return name.name in APART or name.name.endswith(PASSING)


def _link(path: Path, link: Path) -> None:
    """A second name for an archive; a copy where the file system has no such names. One that is not
    kept any more may go at this moment, and is not needed."""
    with contextlib.suppress(FileNotFoundError):
        try:
            os.link(path, link)
        except FileNotFoundError:
            raise
        except OSError:
            shutil.copyfile(path, link)


def _reader(path: Path) -> sqlite3.Connection:
    """The house as it is at this moment."""
    database = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None
    )
    try:
        database.execute("BEGIN")
        database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        database.close()
        raise
    return database


def _listed(sums: dict[str, str]) -> bytes:
    """The text of SHA256SUMS. The name of a bot's file need not be UTF-8."""
    lines = (f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
    return "".join(lines).encode("utf-8", "surrogateescape")


# The way back.


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
        except BadArchive as bad:
            raise HouseMistake(f"{path} is no backup: {bad}") from None
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

    Nothing is written outside the folder, whoever made the backup: all names in it are judged
    before anything is made. A link that leads out of the folder is left out.
    """

    def __init__(self, tar: tarfile.TarFile, folder: Path) -> None:
        self.folder = folder
        self.sums: dict[str, str] = {}
        """The hash of every file, by its name in the backup."""
        self._tree = Tree(sys.maxsize, MOST_LEVELS)
        self._files: dict[str, tarfile.TarInfo] = {}
        for member in tar:
            self._take(member)
        links = {
            name: target
            for name, target in self._tree.links.items()
            if not self._tree.leads_out(name)
        }
        with open_folder(folder) as top:
            for name in self._tree.folders:
                top.make_folder(name)
            for name, member in self._files.items():
                self.sums[name] = _write_file(tar, member, top.make_file(name))
            for name, target in links.items():
                top.make_link(name, target)

    def _take(self, member: tarfile.TarInfo) -> None:
        if member.isdir():
            self._tree.add(member.name, Kind.FOLDER)
        elif member.issym():
            self._tree.add(member.name, Kind.LINK, member.linkname)
        elif member.isreg() and not member.issparse():
            self._files[self._tree.add(member.name, Kind.FILE)] = member
        else:
            raise BadArchive(f"{shown(member.name)} in it is no plain file, folder or link")


def _write_file(tar: tarfile.TarFile, member: tarfile.TarInfo, to: int) -> str:
    """Its hash. Only its owner may write to the file, and it runs as whoever starts it."""
    digest = hashlib.sha256()
    with os.fdopen(to, "wb") as file:
        content = tar.extractfile(member)
        assert content is not None, f"{member.name} is a plain file"
        while piece := content.read(PIECE):
            digest.update(piece)
            file.write(piece)
        file.flush()
        os.fchmod(to, (member.mode & 0o755) | 0o600)
        os.utime(to, (member.mtime, member.mtime))
    return digest.hexdigest()


def _check_sums(path: Path, unpacked: _Unpacked) -> None:
    """That the backup holds the files that were written to it, and no other."""
    if unpacked.sums.pop(SUMS, None) is None:
        raise HouseMistake(f"{path} is no backup, or is cut off: it has no {SUMS}")
    listing = unpacked.folder / SUMS
    differing = _lines(listing.read_bytes()) ^ _lines(_listed(unpacked.sums))
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
