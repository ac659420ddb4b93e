"""What a confined bot sees of its own files, in a place where it may read them.

A bot's folder is seen as its hash knows it: where something else lies in it, a copy without that is
seen. Of a bot that is a command line, the files and folders are seen that the command names, each
under its own path, and nothing else of where it stands. What the user that bots are handed to may
not read is seen in a copy.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec.structs import replace

from referee.bots.cache import SHOWN_NAME, forget, is_kept, kept, readable_cache
from referee.bots.confinement.identity import may_read, servant
from referee.bots.confinement.walls import BOT_FOLDER, View
from referee.bots.contents import (
    LeadsOut,
    NoBots,
    copy_file,
    copy_folder,
    hash_file,
    hash_folder,
    holds_more,
    open_up,
)
from referee.bots.manifest import BadBot, Bot, is_sample

SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib", "/proc/", "/sys/", "/dev/")
"""What every bot sees, or none."""
WAIT_MS = 60_000


def staged(bot: Bot, cache: Path | None = None) -> Bot:
    """The bot with all that is its own where it can read it. Raises BadBot."""
    reader = servant()
    copies = _Copies(bot, readable_cache(cache, reader), reader)
    try:
        if bot.folder is None or not bot.owns_folder:
            return replace(bot, sees=_named_files(bot, copies))
        whole = bot.is_built or is_sample(bot) or not holds_more(bot.folder)
        return replace(bot, folder=copies.readable(bot.folder, whole=whole))
    except LeadsOut as link:
        raise BadBot(
            f"{link}: a link that leads out of the bot's folder; a confined bot sees what is inside"
        ) from None
    except NoBots as no:
        raise BadBot(f"{bot.name}: {no.filename}: {no.strerror}") from None
    except OSError as error:
        told = f"cannot be copied to {copies.cache}: {error.strerror}"
        raise BadBot(f"{bot.name}: {told}") from None


def view_of(bot: Bot) -> View:
    """What the bot sees of its own."""
    if bot.folder is not None and bot.owns_folder:
        return View(((str(bot.folder), BOT_FOLDER),), BOT_FOLDER)
    return View(bot.sees, str(bot.folder or Path.cwd()))


def _named_files(bot: Bot, copies: _Copies) -> tuple[tuple[str, str], ...]:
    seen: dict[str, str] = {}
    here = bot.folder or Path.cwd()
    for place, word in enumerate(bot.command):
        path = Path(os.path.normpath(here / word))  # a link is seen under its own name
        if (place == 0 and "/" not in word) or str(path).startswith(SYSTEM) or not _is_there(path):
            continue
        source = path.resolve()
        seen[str(path)] = str(copies.readable(source))
    return tuple((source, inside) for inside, source in seen.items())


def _is_there(path: Path) -> bool:
    try:
        return path.is_file() or path.is_dir()
    except OSError:
        return False


class _Copies:
    """Of what is not to be seen as it is. One that fails leaves none behind."""

    def __init__(self, bot: Bot, cache: Path, reader: int | None) -> None:
        """`reader` is the user that bots are handed to; None where they keep the referee's own."""
        self._bot = bot
        self.cache = cache
        self._reader = reader
        self._made: list[str] = []

    def readable(self, source: Path, *, whole: bool = True) -> Path:
        """A file or a folder, or a copy that the reader may read; one of what its hash is of, if it
        is not to be seen `whole`. Raises OSError, LeadsOut, BadBot."""
        seen = self._reader is None or may_read(source, self._reader)
        if whole and seen:
            return source
        try:
            # What could be seen as it is may have links to the system: only names are left out.
            return self._copied(source, "as-hashed" if seen else "to-read", links_out=seen)
        except BaseException:
            for name in self._made:
                forget(self.cache, name)
            raise

    def _copied(self, source: Path, why: str, *, links_out: bool) -> Path:
        def make(folder: Path) -> None:
            if source.is_dir():
                copy_folder(source, folder, links_out=links_out)
            else:
                copy_file(source, folder / source.name)
            copied = hash_folder(folder) if source.is_dir() else hash_file(folder / source.name)
            if copied != content:
                raise BadBot(f"{self._bot.name}: {source} has changed since it was read")
            if self._reader is not None:
                open_up(folder)

        who = self._bot.name
        content = hash_folder(source) if source.is_dir() else hash_file(source)
        name = f"{who[:SHOWN_NAME]}-{content}-{why}"
        if not is_kept(self.cache, name):
            self._made.append(name)
        folder = kept(self.cache, name, make, wait_ms=WAIT_MS, who=who, reader=self._reader)
        return folder if source.is_dir() else folder / source.name
