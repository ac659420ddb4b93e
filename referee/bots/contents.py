"""What a bot's folder holds: the content by which the bot is known, and a copy of it.

A link counts as what it says, not as what it leads to: what is inside the folder is seen in its own
place, and what is outside is not the bot's.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from pathlib import Path

LYING_ABOUT = frozenset({".git", "__pycache__"})
"""Names that make no difference to what the bot is."""
KINDS = (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)


class LeadsOut(Exception):
    """A link in the folder leads out of it; the message is its path."""


def hash_folder(folder: Path) -> str:
    """Of every name, every byte, and what may be run. Raises OSError."""
    digest = hashlib.sha256()
    for path in contents(folder):
        digest.update(os.fsencode(path) + b"\0" + _mark(folder / path))
    return digest.hexdigest()[:16]


def hash_file(path: Path) -> str:
    """Of every byte. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def copy_folder(folder: Path, to: Path) -> None:
    """The same content in another, empty place. Raises LeadsOut, OSError."""
    root = os.path.realpath(folder)
    for path in contents(folder):
        source, target = folder / path, to / path
        kind = _kind(source)
        if kind == stat.S_IFLNK:
            where = source.readlink()
            if where.is_absolute() or not _within(root, os.path.realpath(source)):
                raise LeadsOut(str(source))
            target.symlink_to(where)
        elif kind == stat.S_IFDIR:
            target.mkdir()
        else:
            shutil.copy2(source, target)


def empty(folder: Path) -> None:
    """Take everything out of it."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def open_up(folder: Path) -> None:
    """Let everybody read it, and run what the owner may run."""
    for path in (folder, *(folder / each for each in contents(folder))):
        kind = _kind(path)
        if kind != stat.S_IFLNK:
            runs = kind == stat.S_IFDIR or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if runs else 0o644)


def contents(folder: Path) -> list[Path]:
    """Its files, folders and links, relative to it, a folder before what it holds. Raises OSError.

    Pipes, sockets and devices are no content: reading one may take for ever.
    """
    found: list[Path] = []
    for place, folders, files in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if name not in LYING_ABOUT]
        here = Path(place).relative_to(folder)
        found += [here / name for name in (*folders, *files) if name not in LYING_ABOUT]
    return sorted(path for path in found if _kind(folder / path) in KINDS)


def _mark(path: Path) -> bytes:
    """What is at a path, in bytes that differ where it does."""
    kind = _kind(path)
    if kind == stat.S_IFLNK:
        return b"link " + os.fsencode(path.readlink())
    if kind == stat.S_IFDIR:
        return b"folder"
    with path.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").digest()
    return (b"program " if path.stat().st_mode & stat.S_IXUSR else b"file ") + content


def _kind(path: Path) -> int:
    return stat.S_IFMT(path.lstat().st_mode)


def _within(root: str, path: str) -> bool:
    return path == root or path.startswith(root + os.sep)


def _refuse(error: OSError) -> None:
    raise error
