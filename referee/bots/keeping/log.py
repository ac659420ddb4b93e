"""What is kept of a bot's stderr."""

from __future__ import annotations

import contextlib
import os
import sys


class Log:
    """A file with the head and the tail of a stream, and a line on what was left out between."""

    def __init__(self, limit: int, *, own_stderr: bool) -> None:
        """`own_stderr`: everything goes on to the keeper's own stderr, as it comes. The bot gets no
        hold of it, since whoever may write to a terminal can mostly read from it too."""
        self._limit = sys.maxsize if own_stderr else limit
        self._fd = os.dup(2) if own_stderr else -1
        self._tail = b""
        self._skipped = 0
        self._begin("")
        self.is_begun = own_stderr
        """Whether it is known where this goes."""

    def begin(self, path: str) -> None:
        """What comes from now on goes to this file, which may have as much as any other."""
        self._begin(path)
        self.is_begun = True

    def _begin(self, path: str) -> None:
        self._path = path
        self._head_left = self._limit // 2
        self._tail_bytes = self._limit - self._limit // 2

    def add(self, data: bytes) -> None:
        if self._head_left:
            head = data[: self._head_left]
            self._head_left -= len(head)
            self._write(head)
            data = data[len(head) :]
        if data:
            tail = self._tail + data
            self._skipped += max(0, len(tail) - self._tail_bytes)
            self._tail = tail[-self._tail_bytes :]

    def close(self) -> None:
        """More may come, in another file."""
        if self._skipped:
            self._write(b"\n[... %d bytes left out ...]\n" % self._skipped)
        if self._tail:
            self._write(self._tail)
        self._tail, self._skipped = b"", 0
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        self.is_begun = False

    def _write(self, data: bytes) -> None:
        # A log that cannot be written must not cost a game: the bot is drained all the same.
        with contextlib.suppress(OSError):
            if self._fd < 0:
                # No pathlib: it costs every start of a bot 10 ms.
                os.makedirs(os.path.dirname(self._path), exist_ok=True)  # noqa: PTH103, PTH120
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
                self._fd = os.open(self._path, flags, 0o644)
            os.write(self._fd, data)
