"""A copy of a whole data folder in one tar file, made while the daemon writes to it.

What belongs together is read from one moment: while nobody can write to the house, a reader of each
database is opened, which goes on seeing that moment, and every archive that was handed in gets a
second link, which stays when the daemon drops the first. All of it is then copied at leisure.

    house.db, seasons/*/tournament.db, tournaments/*/tournament.db      copied by SQLite
    versions/, bots/, seasons/*/logs/, snapshots of tables, server.key  copied as files
    builds/, locks, sockets, what is half uploaded                      left out: made again

The last file in it, SHA256SUMS, has the hash of every other one. The way back is in restoring.py.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sqlite3
import stat
import tarfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import IO, cast

from msgspec import Struct

from referee.store import connect
from referee.store.house import books
from referee.store.house.house import House
from referee.store.house.mistakes import BadHouse, Conflict, HouseRefused
from referee.store.house.seasons import FOLDER as SEASONS
from referee.store.house.submissions import FOLDER as VERSIONS
from referee.store.house.tournaments import FOLDER as TOURNAMENTS
from referee.store.leftovers import beside, part_of
from referee.store.lock import LOCK
from referee.store.trouble import DISK, HELD, result_code

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

    Raises Conflict where it is there already, BadHouse where a database is damaged, HouseRefused,
    BadStore.
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
                name = f"{folder}/{connect.FILE}"
                self._add_database(name, database)
                with self._explained(name):
                    games[folder] = database.execute("SELECT count(*) FROM game").fetchone()[0]
            self._tell("copying what was handed in")
            if (self._data / VERSIONS).is_dir():
                self._add(Path(VERSIONS))
            for archive in archives:
                self._add_file(f"{VERSIONS}/{archive.name}", archive)
            self._add_files(keys=keys)
            self._add_database(books.FILE, house)
        self._add_bytes(SUMS, listed(self._sums))
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
            with self._explained(books.FILE):
                house = stack.enter_context(closing(_reader(self._data / books.FILE)))
            for path in (self._data / VERSIONS).glob("*.tar"):
                _link(path, links / path.name)
        return stores, house, sorted(links.iterdir())

    def _add_database(self, name: str, reader: sqlite3.Connection) -> None:
        """Raises BadHouse where it is damaged: nobody is to find that out when a copy is needed."""
        path = self._room / "copy.db"
        try:
            with self._explained(name):
                with closing(sqlite3.connect(path, isolation_level=None)) as copy:
                    reader.backup(copy)
                    found = connect.damage(copy, path)
                if found is not None:
                    raise self._damaged(name, found)
            self._add_file(name, path)
        finally:
            path.unlink(missing_ok=True)

    @contextmanager
    def _explained(self, name: str) -> Iterator[None]:
        """Errors of SQLite as sentences."""
        try:
            yield
        except sqlite3.Error as error:
            if result_code(error) in DISK | HELD:
                raise HouseRefused(f"{name} cannot be copied: {error}") from error
            raise self._damaged(name, error) from error

    def _damaged(self, name: str, what: object) -> BadHouse:
        return BadHouse(f"{self._data / name} is damaged ({what}), and nothing was copied")

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


def listed(sums: dict[str, str]) -> bytes:
    """The text of SHA256SUMS. The name of a bot's file need not be UTF-8."""
    lines = (f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
    return "".join(lines).encode("utf-8", "surrogateescape")
