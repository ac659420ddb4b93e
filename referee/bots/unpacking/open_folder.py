"""A folder that is held open, and what is made and read in it by name.

Every part of a name is opened from the folder above it, and a link on the way is an error. So
nothing outside is reached, whoever puts a link somewhere meanwhile.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class OpenFolder:
    """Names have slashes between their parts, and no part is `..`. All methods raise OSError."""

    def __init__(self, fd: int) -> None:
        """The descriptor stays its owner's."""
        self._fd = fd
        self._above = ""
        """The folder that was used last; most names lie in the one of the name before."""
        self._above_fd = -1

    def make_folder(self, name: str) -> None:
        above, last = self._in(name)
        os.mkdir(last, 0o755, dir_fd=above)

    def make_file(self, name: str) -> int:
        """The descriptor of a new file, to be written, which its owner alone may open."""
        above, last = self._in(name)
        return os.open(last, _NEW_FILE, 0o600, dir_fd=above)

    def make_link(self, name: str, target: str) -> None:
        above, last = self._in(name)
        os.symlink(target, last, dir_fd=above)

    def make_second_name(self, name: str, file: str) -> None:
        """Another name for a file that is there."""
        source, source_last = self._in(file)
        source = os.dup(source)
        try:
            above, last = self._in(name)
            os.link(source_last, last, src_dir_fd=source, dst_dir_fd=above, follow_symlinks=False)
        finally:
            os.close(source)

    def look(self, name: str) -> os.stat_result:
        """What is there; a link is itself."""
        above, last = self._in(name)
        return os.stat(last, dir_fd=above, follow_symlinks=False)

    def read_link(self, name: str) -> str:
        """What a link says."""
        above, last = self._in(name)
        return os.readlink(last, dir_fd=above)

    def open_file(self, name: str) -> int:
        """The descriptor of a file, to be read. It may be anything but a link."""
        above, last = self._in(name)
        return os.open(last, _FILE, dir_fd=above)

    def close(self) -> None:
        """Let go of what it has opened itself."""
        if self._above_fd >= 0:
            os.close(self._above_fd)
        self._above, self._above_fd = "", -1

    def _in(self, name: str) -> tuple[int, str]:
        """The folder that a name lies in, open until the next call, and the name's last part."""
        above, _, last = name.rpartition("/")
        if not above:
            return self._fd, last
        if above != self._above or self._above_fd < 0:
            self.close()
            self._above_fd = self._opened(above)
            self._above = above
        return self._above_fd, last

    def _opened(self, name: str) -> int:
        fd = os.dup(self._fd)
        for part in name.split("/"):
            above = fd
            try:
                fd = os.open(part, _FOLDER, dir_fd=above)
            finally:
                os.close(above)
        return fd


@contextlib.contextmanager
def open_folder(path: str | os.PathLike[str]) -> Iterator[OpenFolder]:
    """A folder by its path, of which the last part is no link. Raises OSError."""
    fd = os.open(path, _FOLDER)
    folder = OpenFolder(fd)
    try:
        yield folder
    finally:
        folder.close()
        os.close(fd)
