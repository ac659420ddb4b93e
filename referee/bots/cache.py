"""Folders that are made once and kept: built bots, and copies that a stranger may read.

A folder is known by its name, which has the content's hash in it, so what is there is right for
ever. It counts once a file beside it says that it is whole, which is written last; of all processes
that want it, one makes it and the others wait.

What root makes here for bots that are handed to another user may come from places that root alone
can read. So of all others, that user's group alone may enter a folder, and the cache.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from referee.bots.confinement.identity import may_pass
from referee.bots.contents import remove
from referee.bots.manifest import BadBot
from referee.clock import show_ms

LOOK_S = 0.05
SHOWN_NAME = 20
"""Of a bot's name in that of its folder: a file's name may have 255 bytes."""
UNUSED_S = 30 * 86_400
"""After which a folder is taken away when another one is made."""
COMPILERS = ".compilers"
"""How the files end in which compilers' own caches are kept (compiler_cache.py)."""
FOR_BOTS = Path("/var/cache")
"""Where root keeps what the user may read to whom bots are handed."""


class Busy(BadBot):
    """Another process makes it, and takes too long."""


def default_cache() -> Path:
    """Where folders are kept, as the desktop's conventions have it."""
    caches = os.environ.get("XDG_CACHE_HOME", "")
    home = Path(caches) if Path(caches).is_absolute() else Path.home() / ".cache"
    return home / "referee" / "builds"


def readable_cache(wanted: Path | None, by: int | None) -> Path:
    """The cache that was asked for or is usual; another where this user has to read and cannot."""
    cache = wanted or default_cache()
    if by is not None and not may_pass(cache, by):
        return FOR_BOTS / "referee" / "builds"
    return cache


def kept(
    cache: Path,
    name: str,
    make: Callable[[Path], None],
    *,
    wait_ms: int,
    who: str,
    reader: int | None = None,
) -> Path:
    """The folder of this name. If it is not there, `make` fills an empty one.

    With a `reader`, nobody else but its owner may enter it. Raises Busy where another process takes
    longer than `wait_ms`, OSError, and what `make` raises.
    """
    folder = cache / name
    whole = folder.with_name(f"{name}.whole")
    if not cache.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        _let_in(cache, reader)
    elif reader is not None and cache.parent.name == "referee":
        # Our own, from a time when everybody could enter it.
        _let_in(cache, reader)
    if _is_whole(whole):
        if reader is not None:
            _let_in(folder, reader)
        return folder
    _tidy(cache)
    with _alone(cache / f"{name}.lock", wait_ms, who):
        if not _is_whole(whole):
            remove(folder)
            try:
                folder.mkdir(mode=0o700)
                _let_in(folder, reader)
                make(folder)
            except BaseException:
                remove(folder)
                raise
            whole.touch()
    return folder


def is_kept(cache: Path, name: str) -> bool:
    """Whether it is there; if so, it counts as used today."""
    return _is_whole(cache / f"{name}.whole")


def forget(cache: Path, name: str) -> None:
    """Take a folder away, as if it had never been made."""
    (cache / f"{name}.whole").unlink(missing_ok=True)
    remove(cache / name)


def forget_content(cache: Path, bot: str, content: str) -> None:
    """Take away all that was ever made of a bot with this content, half made or whole."""
    # The marks first: what is not whole is used by nobody.
    for path in sorted(of_content(cache, bot, content), key=Path.is_dir):
        if path.is_dir():
            remove(path)
        else:
            with contextlib.suppress(OSError):
                path.unlink()


def of_content(cache: Path, bot: str, content: str) -> list[Path]:
    """All that was made of a bot with this content: folders, and the files beside them."""
    begins = f"{bot[:SHOWN_NAME]}-{content}-"
    try:
        return [path for path in cache.iterdir() if path.name.startswith(begins)]
    except FileNotFoundError:
        return []


def _let_in(folder: Path, reader: int | None) -> None:
    """Everybody, or of all others this one group."""
    info = folder.stat()
    group, mode = (info.st_gid, 0o755) if reader is None else (reader, 0o750)
    if info.st_gid != group:
        os.chown(folder, -1, group)
    if info.st_mode & 0o7777 != mode:
        folder.chmod(mode)


def _is_whole(mark: Path) -> bool:
    """Whether the folder of this mark is there; from now on it counts as used today."""
    try:
        os.utime(mark)
    except OSError:
        # One that belongs to somebody else is used all the same.
        return mark.exists()
    return True


def _tidy(cache: Path) -> None:
    """Take away what nobody has used for long."""
    long_ago = time.time() - UNUSED_S
    for mark in cache.glob("*.whole"):
        with contextlib.suppress(OSError):
            if mark.stat().st_mtime < long_ago:
                mark.unlink()
                remove(mark.with_suffix(""))
                for left in (".lock", ".log"):
                    mark.with_suffix(left).unlink(missing_ok=True)
    for archive in cache.glob(f"*{COMPILERS}*"):
        with contextlib.suppress(OSError):
            if archive.stat().st_mtime < long_ago:
                archive.unlink()


@contextlib.contextmanager
def _alone(path: Path, wait_ms: int, who: str) -> Iterator[None]:
    deadline = time.monotonic() + wait_ms / 1000
    with path.open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    limit = show_ms(wait_ms)
                    told = f"{who}: another process builds it, and did not end within {limit}"
                    raise Busy(told) from None
                time.sleep(LOOK_S)
        yield
