"""Where a command writes the records of its games."""

from __future__ import annotations

import errno
import os
import sys
import time
from pathlib import Path
from typing import IO

from referee.match import BadMatch
from referee.record import Record, encode_record

FLUSH_S = 1.0


class RecordsFile:
    """A file of records, or standard output.

    Whether it can be written is asked before the first game, so that no game is played for nothing.
    It is opened with the first record, so that a match that cannot be played overwrites nothing.
    """

    def __init__(self, path: str | None) -> None:
        """`-` is standard output, None is nowhere. Raises BadMatch, or OSError where the system
        does not allow it."""
        self._path = path
        self._file: IO[bytes] | None = None
        self._flushed = 0.0
        if path not in (None, "-"):
            _check(Path(path))

    def __enter__(self) -> RecordsFile:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._path == "-":
                sys.stdout.buffer.flush()
            elif self._file is not None:
                self._file.close()
        except OSError as error:
            raise self._named(error) from None

    def add(self, record: Record) -> None:
        if self._path is None:
            return
        try:
            if self._file is None:
                if self._path == "-":
                    self._file = sys.stdout.buffer
                else:
                    self._file = open(self._path, "wb")  # noqa: SIM115  # __exit__ closes it
            self._file.write(encode_record(record) + b"\n")
            if time.monotonic() - self._flushed > FLUSH_S:
                self._file.flush()
                self._flushed = time.monotonic()
        except OSError as error:
            raise self._named(error) from None

    def _named(self, error: OSError) -> OSError:
        error.filename = "standard output" if self._path == "-" else self._path
        return error


def _check(path: Path) -> None:
    """Raises BadMatch or OSError where no file of this name can be written."""
    if path.is_dir():
        raise BadMatch(f"records cannot be written to {path}: it is a folder")
    if not path.parent.is_dir():
        raise BadMatch(f"records cannot be written to {path}: there is no folder {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
