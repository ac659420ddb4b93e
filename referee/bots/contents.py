"""What a bot's folder holds: the content by which the bot is known, and a copy of it.

A link counts as what it says, not as what it leads to: what is inside the folder is seen in its own
place, and what is outside is not the bot's.

Whoever owns the folder may put links into it while it is read: none is followed on the way to a
name, so that nothing from elsewhere is taken for the bot's.

What strangers hand in is bounded: it is looked at before anything of it is read, and a folder that
is too deep, too large or too full is no bot's.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from referee.bots.confinement.limits import GIB, show_size
from referee.bots.unpacking.open_folder import OpenFolder, open_folder
from referee.bots.unpacking.tree import Kind, Tree

LYING_ABOUT = frozenset({".git", "__pycache__"})
"""Names that make no difference to what the bot is. A confined bot does not see them either, but
for those that its build has made: `__pycache__` holds programs, which Python runs unseen."""
DIGITS = 32
"""Of a hash: whoever writes both sides finds two that agree in half as many."""
KINDS = (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
SPECIAL = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
MOST_LEVELS = 64
"""Of folders within one another."""
MOST_FILES = 100_000
"""Files, folders and links together."""
MOST_BYTES = 2 * GIB
BLOCK_BYTES = 4096
"""The least that a file takes of a disk."""


class LeadsOut(Exception):
    """A link in the folder leads out of it; the message is its path."""


class NoBots(OSError):
    """A folder that no bot has; `strerror` says why."""

    number = errno.EINVAL

    def __init__(self, told: str, folder: Path) -> None:
        super().__init__(self.number, told, str(folder))


class TooMuch(NoBots):
    """It holds more than any bot does."""

    number = errno.EFBIG


class Special(NoBots):
    """It holds what is neither file nor folder nor link."""


def hash_folder(folder: Path) -> str:
    """Of every name, every byte, and what may be run. Raises OSError."""
    digest = hashlib.sha256()
    with open_folder(os.path.realpath(folder)) as top:
        for path in contents(folder):
            with _naming(folder / path):
                mark = _mark(top, path.as_posix())
            for part in (os.fsencode(path), mark):
                digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:DIGITS]


def hash_file(path: Path) -> str:
    """Of every byte. Raises OSError."""
    with _opened(path) as file:
        if os.fstat(file.fileno()).st_size > MOST_BYTES:
            raise TooMuch(_too_large(), path)
        return hashlib.file_digest(file, "sha256").hexdigest()[:DIGITS]


def holds_more(folder: Path) -> bool:
    """Whether something is in a folder that its hash does not know of. Raises OSError."""
    return any(path.name in LYING_ABOUT for path, _ in walk(folder))


def copy_folder(folder: Path, to: Path, *, links_out: bool = False) -> None:
    """The same content in another, empty place. Raises OSError, and LeadsOut unless `links_out`
    lets links lead wherever they lead."""
    tree = Tree(MOST_FILES, MOST_LEVELS)
    with open_folder(os.path.realpath(folder)) as source, open_folder(to) as target:
        for path in contents(folder):
            with _naming(folder / path):
                _copy(source, path.as_posix(), target, tree)
        for name, where in tree.links.items():
            if not links_out and tree.leads_out(name):
                raise LeadsOut(str(folder / name))
            target.make_link(name, where)


def _copy(source: OpenFolder, name: str, target: OpenFolder, tree: Tree) -> None:
    """One file or folder; a link is left to the tree, which judges it."""
    kind = stat.S_IFMT(source.look(name).st_mode)
    if kind == stat.S_IFLNK:
        tree.add(name, Kind.LINK, str(Path(source.read_link(name))))
    elif kind == stat.S_IFDIR:
        tree.add(name, Kind.FOLDER)
        target.make_folder(name)
    else:
        _copy_content(plain_file(source.open_file(name), name), target.make_file(name))


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Let an error name the whole path."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


def empty(folder: Path) -> None:
    """Take everything out of it."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            remove(path)
        else:
            path.unlink()


def remove(folder: Path) -> None:
    """A folder with all that is in it, as far as that can be done."""
    # Python takes a frame of its stack and a descriptor for each level, and a build may have made
    # more levels than it has of either.
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):
        subprocess.run(["rm", "-rf", "--", str(folder)], capture_output=True, check=False)


def room_of(folder: Path) -> int:
    """What a folder takes of a disk, in bytes: everything in it counts as whole blocks."""
    sizes = (info.st_size if stat.S_ISREG(info.st_mode) else 0 for _, info in walk(folder))
    return BLOCK_BYTES + sum(max(1, -(-size // BLOCK_BYTES)) * BLOCK_BYTES for size in sizes)


def open_up(folder: Path) -> None:
    """Let everybody who may enter it read all that is in it, and run what the owner may run."""
    for path in (folder / each for each in contents(folder)):
        kind = _kind(path)
        if kind != stat.S_IFLNK:
            runs = kind == stat.S_IFDIR or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if runs else 0o644)


def contents(folder: Path) -> list[Path]:
    """Its files, folders and links, relative to it, a folder before what it holds. Raises OSError.

    Nothing is read here, so what is too much is known before anybody waits for it (TooMuch). Pipes,
    sockets and devices are refused (Special): reading one may take for ever, and through walls that
    let nothing be written they are a way all the same, to whoever holds the other end.
    """
    found: list[Path] = []
    size = 0
    for number, (path, info) in enumerate(walk(folder, LYING_ABOUT), start=1):
        kind = stat.S_IFMT(info.st_mode)
        size += info.st_size if kind == stat.S_IFREG else 0
        if number > MOST_FILES:
            raise TooMuch(f"more than {MOST_FILES} files and folders in it", folder)
        if size > MOST_BYTES:
            raise TooMuch(_too_large(), folder)
        if len(path.parts) > MOST_LEVELS:
            raise TooMuch(f"more than {MOST_LEVELS} folders within one another in it", folder)
        if kind not in KINDS:
            what = SPECIAL.get(kind, "something else")
            raise Special(f"{path} in it is {what}; a bot is files, folders and links", folder)
        found.append(path)
    return sorted(found)


def walk(folder: Path, but: frozenset[str] = frozenset()) -> Iterator[tuple[Path, os.stat_result]]:
    """Everything in a folder, relative to it, but for these names. Raises OSError.

    However deep it is: os.walk takes a frame of the stack for each level.
    """
    unseen = [Path()]
    while unseen:
        here = unseen.pop()
        with os.scandir(folder / here) as entries:
            for entry in entries:
                if entry.name not in but:
                    info = entry.stat(follow_symlinks=False)
                    yield here / entry.name, info
                    if stat.S_ISDIR(info.st_mode):
                        unseen.append(here / entry.name)


def copy_file(source: Path, target: Path) -> None:
    """Whoever owns the folder may put a link in place of a file meanwhile: it is not followed."""
    with open_folder(os.path.realpath(target.parent)) as folder:
        _copy_content(_opened(source), folder.make_file(target.name))


def _copy_content(file: BufferedReader, to: int) -> None:
    """And what others may do with it."""
    with file, os.fdopen(to, "wb") as out:
        shutil.copyfileobj(file, out)
        out.flush()
        os.fchmod(to, stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o777)


def _opened(path: Path) -> BufferedReader:
    """A file, and no link. Raises OSError."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    return plain_file(fd, str(path))


def plain_file(fd: int, name: str) -> BufferedReader:
    """Raises OSError where something else was opened."""
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is no file any more", name)
    return os.fdopen(fd, "rb")


def _mark(top: OpenFolder, name: str) -> bytes:
    """What is at a name, in bytes that differ where it does."""
    kind = stat.S_IFMT(top.look(name).st_mode)
    if kind == stat.S_IFLNK:
        return b"link " + os.fsencode(Path(top.read_link(name)))
    if kind == stat.S_IFDIR:
        return b"folder"
    with plain_file(top.open_file(name), name) as file:
        content = hashlib.file_digest(file, "sha256").digest()
        mode = os.fstat(file.fileno()).st_mode
    return (b"program " if mode & stat.S_IXUSR else b"file ") + content


def _kind(path: Path) -> int:
    return stat.S_IFMT(path.lstat().st_mode)


def _too_large() -> str:
    return f"larger than {show_size(MOST_BYTES)} in all"
