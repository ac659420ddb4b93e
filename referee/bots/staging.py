"""What a confined bot sees of its own files, in a place where it may read them.

A bot's folder is seen as it is. Of a bot that is a command line, the files and folders are seen
that the command names, each under its own path, and nothing else of where it stands. What the user
that bots are handed to may not read is seen in a copy.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec.structs import replace

from referee.bots.cache import SHOWN_NAME, kept, readable_cache
from referee.bots.confinement.identity import may_read, servant
from referee.bots.confinement.walls import BOT_FOLDER, View
from referee.bots.contents import LeadsOut, copy_file, copy_folder, hash_file, hash_folder, open_up
from referee.bots.manifest import BadBot, Bot

SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib", "/proc/", "/sys/", "/dev/")
"""What every bot sees, or none."""
WAIT_MS = 60_000


def staged(bot: Bot, cache: Path | None = None) -> Bot:
    """The bot with all that is its own where it can read it. Raises BadBot."""
    copy_what_is_closed = servant() is not None
    cache = readable_cache(cache, by_others=copy_what_is_closed)
    try:
        if bot.folder is None or not bot.owns_folder:
            return replace(bot, sees=_named_files(bot, cache, copy=copy_what_is_closed))
        if copy_what_is_closed and not may_read(bot.folder):
            return replace(bot, folder=_readable(bot, bot.folder, cache))
    except LeadsOut as link:
        raise BadBot(
            f"{link}: a link that leads out of the bot's folder; a confined bot sees what is inside"
        ) from None
    except OSError as error:
        raise BadBot(f"{bot.name}: cannot be copied to {cache}: {error.strerror}") from None
    return bot


def view_of(bot: Bot) -> View:
    """What the bot sees of its own."""
    if bot.folder is not None and bot.owns_folder:
        return View(((str(bot.folder), BOT_FOLDER),), BOT_FOLDER)
    return View(bot.sees, str(bot.folder or Path.cwd()))


def _named_files(bot: Bot, cache: Path, *, copy: bool) -> tuple[tuple[str, str], ...]:
    seen: dict[str, str] = {}
    here = bot.folder or Path.cwd()
    for place, word in enumerate(bot.command):
        path = Path(os.path.normpath(here / word))  # a link is seen under its own name
        if (place == 0 and "/" not in word) or str(path).startswith(SYSTEM) or not _is_there(path):
            continue
        source = path.resolve()
        if copy and not may_read(source):
            source = _readable(bot, source, cache)
        seen[str(path)] = str(source)
    return tuple((source, inside) for inside, source in seen.items())


def _is_there(path: Path) -> bool:
    try:
        return path.is_file() or path.is_dir()
    except OSError:
        return False


def _readable(bot: Bot, source: Path, cache: Path) -> Path:
    """A copy that everybody may read, of a folder or of one file."""

    def make(folder: Path) -> None:
        if source.is_dir():
            copy_folder(source, folder)
        else:
            copy_file(source, folder / source.name)
        copied = hash_folder(folder) if source.is_dir() else hash_file(folder / source.name)
        if copied != content:
            raise BadBot(f"{bot.name}: {source} has changed since it was read")
        open_up(folder)

    content = hash_folder(source) if source.is_dir() else hash_file(source)
    name = f"{bot.name[:SHOWN_NAME]}-{content}-to-read"
    folder = kept(cache, name, make, wait_ms=WAIT_MS, who=bot.name)
    return folder if source.is_dir() else folder / source.name
