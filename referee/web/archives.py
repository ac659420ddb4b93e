"""A bot's folder as a stranger sends it: a tar or zip file, as one plain tar.

What comes out has files, folders and links with plain names, in order, and nothing else of the
archive: no owner, no time, no other kind of thing. So the same folder gives the same bytes, by
whatever it was packed. Where all of it lies in one folder, that folder is the bot. Nothing is ever
written to the disk here, and no more is unpacked than is taken: every byte counts, those of links
and of names too, and so does every folder.

This runs in a process of its own (upload_reader.py), which imports the standard library alone.
"""

from __future__ import annotations

import gzip
import io
import posixpath
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from typing import NamedTuple

from referee.bots.manifest_text import MANIFEST, BadManifest, parse_manifest

MOST_FILES = 5_000
LONGEST_NAME = 400
LONGEST_LINK = 400
"""Of bytes."""
LONGEST_HEADER = 16 * 1024
"""Of what a tar file says of one file beside its name. Some versions of Python take a time that
grows with the square of its length."""
LONGEST_TOLD = 200
"""Of what a reader says of an archive, which may quote names in it."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Of others a few bytes may make megabytes, at a cost that a bot's folder is not worth."""
_MOST_ENTRIES = 10 * MOST_FILES
"""Of a zip file, before any is looked at."""
_GZIP = b"\x1f\x8b"
_ZIP = b"PK"
_ZIP_ENTRY = b"PK\x01\x02"


class BadUpload(Exception):
    """An archive that is not taken; the message says why."""


class _Entry(NamedTuple):
    name: str
    content: bytes
    runs: bool
    link: str
    """Where a link leads; empty for a file."""


class Packed(NamedTuple):
    """A folder that can be handed in."""

    name: str
    """Of the bot, as its manifest has it."""
    content: bytes
    """A plain tar."""


def repack(archive: bytes, most_bytes: int) -> Packed:
    """Raises BadUpload."""
    if not archive:
        raise BadUpload("the archive is empty")
    try:
        entries = list(_entries(archive, most_bytes))
    except (BadUpload, MemoryError):
        raise
    except Exception as bad:  # whatever a crafted archive makes of the reader
        told = str(bad)[:LONGEST_TOLD] or type(bad).__name__
        raise BadUpload(f"the archive cannot be read: {told}") from None
    found = {entry.name: entry for entry in _without_top(entries)}
    if MANIFEST not in found or found[MANIFEST].link:
        raise BadUpload(f"the folder has no {MANIFEST}")
    return Packed(_name(found[MANIFEST].content), _tar(found))


def _entries(archive: bytes, most_bytes: int) -> Iterator[_Entry]:
    if archive.startswith(_ZIP):
        entries = _of_zip(archive, most_bytes)
    else:
        if archive.startswith(_GZIP):
            archive = _gunzip(archive, most_bytes)
        entries = _of_tar(archive)
    left = most_bytes
    for number, entry in enumerate(entries, start=1):
        if number > MOST_FILES:
            raise _too_many()
        if entry is None:
            continue
        left -= len(entry.content) + len(entry.link)
        if left < 0:
            raise _too_much(most_bytes)
        yield entry._replace(name=_plain(entry.name))


def _gunzip(archive: bytes, most_bytes: int) -> bytes:
    """With room for the headers of many small files."""
    most = most_bytes + MOST_FILES * 2048
    with gzip.GzipFile(fileobj=io.BytesIO(archive)) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise _too_much(most_bytes)
    return content


def _too_much(most_bytes: int) -> BadUpload:
    return BadUpload(f"its files have more than {most_bytes:,} bytes together")


def _too_many() -> BadUpload:
    return BadUpload(f"it has more than {MOST_FILES:,} files and folders")


def _of_tar(archive: bytes) -> Iterator[_Entry | None]:
    """None stands for a folder."""
    with tarfile.open(fileobj=_Headers(archive), mode="r:") as file:
        for member in file:
            if member.isdir():
                yield None
            elif member.issym():
                yield _Entry(member.name, b"", False, _link(member.name, member.linkname))
            elif member.isreg() and not member.issparse():
                content = archive[member.offset_data : member.offset_data + member.size]
                if len(content) != member.size:
                    raise BadUpload("the archive cannot be read: it breaks off")
                yield _Entry(member.name, content, bool(member.mode & 0o100), "")
            else:
                raise BadUpload(f"{member.name[:80]!r} is no plain file, folder or link")


class _Headers(io.BytesIO):
    """A tar file of which tarfile reads the headers alone, none of them longer than it may be."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or not 0 <= size <= LONGEST_HEADER:
            raise BadUpload(f"a header in it has more than {LONGEST_HEADER:,} bytes")
        return super().read(size)


def _of_zip(archive: bytes, most_bytes: int) -> Iterator[_Entry | None]:
    """None stands for a folder."""
    if archive.count(_ZIP_ENTRY) > _MOST_ENTRIES:
        raise _too_many()
    left = most_bytes
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        for member in file.infolist():
            mode = member.external_attr >> 16
            if member.is_dir():
                yield None
                continue
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFLNK):
                raise BadUpload(f"{member.filename[:80]!r} is no plain file, folder or link")
            if member.compress_type not in _METHODS:
                raise BadUpload(
                    f"{member.filename[:80]!r} is compressed in a way that is not taken: "
                    "zip files are stored or deflated"
                )
            with file.open(member) as opened:  # A header may claim any length.
                content = opened.read((LONGEST_LINK if stat.S_ISLNK(mode) else left) + 1)
            left -= len(content)
            if stat.S_ISLNK(mode):
                link = _link(member.filename, content.decode())
                yield _Entry(member.filename, b"", False, link)
            elif left < 0:
                raise _too_much(most_bytes)
            else:
                yield _Entry(member.filename, content, bool(mode & 0o100), "")


def _link(name: str, target: str) -> str:
    if len(target.encode("utf-8", "surrogateescape")) > LONGEST_LINK:
        raise BadUpload(f"the link {name[:80]!r} leads nowhere: that is no path")
    return target


def _plain(name: str) -> str:
    plain = posixpath.normpath(name)
    if plain.startswith(("/", "../")) or plain in ("..", ".") or "\0" in plain or "\\" in plain:
        raise BadUpload(f"{name[:80]!r} leads out of the folder")
    if len(plain) > LONGEST_NAME:
        raise BadUpload(f"{plain[:40]!r}… has a name of more than {LONGEST_NAME} characters")
    return plain


def _without_top(entries: list[_Entry]) -> list[_Entry]:
    """Without the folder that all of them lie in, if there is one and it is the bot."""
    tops = {entry.name.partition("/")[0] for entry in entries}
    if len(tops) != 1 or any("/" not in entry.name for entry in entries):
        return entries
    top = tops.pop() + "/"
    return [entry._replace(name=entry.name.removeprefix(top)) for entry in entries]


def _name(manifest: bytes) -> str:
    try:
        name = parse_manifest(manifest).get("name")
    except BadManifest as error:
        raise BadUpload(f"{MANIFEST} cannot be read: {error}") from None
    if not isinstance(name, str):
        raise BadUpload(f"{MANIFEST} has no name")
    return name


def _tar(entries: dict[str, _Entry]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:", format=tarfile.PAX_FORMAT) as file:
        for folder in _folders(entries):
            info = tarfile.TarInfo(folder)
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            file.addfile(info)
        for name, entry in sorted(entries.items()):
            info = tarfile.TarInfo(name)
            if entry.link:
                info.type, info.linkname = tarfile.SYMTYPE, entry.link
                file.addfile(info)
            else:
                info.size, info.mode = len(entry.content), 0o755 if entry.runs else 0o644
                file.addfile(info, io.BytesIO(entry.content))
    return packed.getvalue()


def _folders(entries: dict[str, _Entry]) -> list[str]:
    """Those that the names lead through; each counts, whether the archive names it or not."""
    found: set[str] = set()
    for name in entries:
        parts = name.split("/")[:-1]
        found |= {"/".join(parts[:deep]) for deep in range(1, len(parts) + 1)}
        if len(found) + len(entries) > MOST_FILES:
            raise _too_many()
    if clash := sorted(found & entries.keys()):
        raise BadUpload(f"{clash[0]!r} is a file and a folder")
    return sorted(found)
