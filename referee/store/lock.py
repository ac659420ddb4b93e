"""One writer a folder, by a lock that dies with its process.

`flock` on `DIR/.lock` is let go by the kernel however the process ends, so that nothing has to be
cleaned up after a SIGKILL or a power cut. The file itself stays, unless nothing came of what it was
taken for; what it says (the process and since when) only serves the sentence that refuses the next
one.

The lock belongs to the open file, and a fork shares it: a worker that outlives the writer would
keep the folder locked. So a forked child closes its copy at once; programs that are started anew
never see it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import weakref
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from referee.store.trouble import BadStore, StoreRefused

LOCK = ".lock"
_held: weakref.WeakSet[Lock] = weakref.WeakSet()


class Lock:
    """The right to write to a folder, until it is released or the process ends."""

    def __init__(self, folder: Path, made: Sequence[Path] = ()) -> None:
        """Take the lock; `made` are the folders that were made for it, the innermost first. Raises
        BadStore where another process has it, or it cannot be written."""
        self._made = list(made)
        self._file = folder / LOCK
        self._new = not self._file.exists()
        try:
            self._fd = _open_locked(folder)
            _held.add(self)
            since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, f"{os.getpid()}\n{since}\n".encode(), 0)
        except OSError as error:
            self.undo()
            raise StoreRefused(f"{folder} cannot be written: {error.strerror}") from error

    def release(self) -> None:
        if self in _held:
            _held.discard(self)
            os.close(self._fd)

    def undo(self) -> None:
        """Release it, and leave the folder as it was found, if nothing else came of it."""
        with contextlib.suppress(OSError):
            # While it is held: the next one to take it would lock a file that goes away.
            if self in _held and self._new:
                self._file.unlink()
            for each in self._made:
                each.rmdir()
        self.release()


def _open_locked(folder: Path) -> int:
    """The lock file, open and locked.

    Somebody may remove the file between its opening and its locking; a lock on a file that is no
    longer there keeps nobody out, so it is taken again.
    """
    path = folder / LOCK
    while True:
        # A folder may be somebody else's: what a link there leads to is not written over.
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _same_file(fd, path):
                return fd
            os.close(fd)
        except BlockingIOError:
            holder = _holder(fd)
            os.close(fd)
            raise BadStore(f"{folder} is being written by {holder}") from None
        except OSError:
            os.close(fd)
            raise


def _same_file(fd: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False


def _holder(fd: int) -> str:
    """Who has the lock, as far as the file tells: it is empty for a moment after the locking."""
    pid, _, since = os.pread(fd, 200, 0).decode("utf-8", "replace").strip().partition("\n")
    if not pid.isdigit():
        return "another process"
    return f"process {pid} since {since}"


def _let_go() -> None:
    """In a forked child. Closing leaves the lock with the parent; unlocking would take it away."""
    for lock in list(_held):
        with contextlib.suppress(OSError):
            lock.release()


os.register_at_fork(after_in_child=_let_go)
