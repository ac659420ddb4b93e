"""Compressed files and tar files of the same bytes whenever and by whomever they are made."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from pathlib import Path

LEVEL = 6


def compressed(data: bytes) -> bytes:
    """As gzip has it, without a name and a time."""
    packed = io.BytesIO()
    with gzip.GzipFile("", "wb", LEVEL, packed, mtime=0) as file:
        file.write(data)
    return packed.getvalue()


def write_tar(folder: Path, path: Path, name: str) -> None:
    """All files of a folder, by name, as the files of a folder of that name."""
    with path.open("xb") as file:
        with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for each in sorted(each for each in folder.rglob("*") if each.is_file()):
                member = tarfile.TarInfo(f"{name}/{each.relative_to(folder).as_posix()}")
                member.size, member.mode = each.stat().st_size, 0o644
                with each.open("rb") as content:
                    tar.addfile(member, content)
        file.flush()
        os.fsync(file.fileno())
