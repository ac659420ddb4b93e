"""Make a bot ready to run: compile it once, in a copy of its folder.

    folder with `build` in bot.toml → copy in the cache → build runs there → the bot runs there

The cache is keyed by content: the name of a copy has the hash of every file of the bot's folder,
its `bot.toml` with the build command among them. What has not changed is not built again, by
whichever command and process, and the bot's own folder stays as it is.

A build runs under a keeper, as a bot does: it cannot outlive the referee, its time is limited, and
of its output the first and the last 32 KiB are kept beside the copy, of a failed build too.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from referee.bots.environment import environment, missing_command
from referee.bots.manifest import BadBot, Bot, bot_files, hash_folder
from referee.bots.process import BotProcess, NoStart
from referee.clock import DEFAULT_BUILD_MS, show_ms

SHOWN_LINES = 20
"""Of the output of a failed build; all of it is in its log."""
TO_STDERR = ("sh", "-c", 'exec "$@" >&2', "sh")
"""The keeper keeps what goes to stderr, and compilers write to either."""


NOT_FOUND = "exited with status 127"
"""How a shell ends that was to run what is not there; it names the command in its last line."""
_NAMED = re.compile(r"([^\s:]+): (?:command )?not found$")


class MissingCommand(BadBot):
    """A program that the bot needs is not on this machine."""


class BuildFailed(BadBot):
    """The build did not give a bot; the compiler is quoted."""

    def __init__(self, sentence: str, log: Path) -> None:
        super().__init__(sentence)
        self.quoted = _said(log)


def default_cache() -> Path:
    """Where built bots are kept, as the desktop's conventions have it."""
    caches = os.environ.get("XDG_CACHE_HOME", "")
    home = Path(caches) if Path(caches).is_absolute() else Path.home() / ".cache"
    return home / "referee" / "builds"


def built(bot: Bot, *, cache: Path | None = None, limit_ms: int = DEFAULT_BUILD_MS) -> Bot:
    """The bot, ready to run: built, if its manifest has a `build`, and with its programs there.

    Raises MissingCommand or BuildFailed, or BadBot where the cache cannot be used.
    """
    missing = missing_command(bot)
    if missing is not None:
        raise MissingCommand(f"{bot.name}: the command {missing} was not found")
    if not bot.build or bot.folder is None:
        return bot
    copy = _copy_of(bot, cache)
    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        with _alone(copy):
            if not copy.is_dir():
                _build(bot, copy, limit_ms)
    except OSError as error:
        raise BadBot(f"{bot.name}: cannot be built in {copy.parent}: {error.strerror}") from None
    return replace(bot, folder=copy, build=())


def is_built(bot: Bot, *, cache: Path | None = None) -> bool:
    """Whether there is nothing left to build."""
    return not bot.build or bot.folder is None or _copy_of(bot, cache).is_dir()


def _copy_of(bot: Bot, cache: Path | None) -> Path:
    """The folder in which this very bot is built for this kind of machine."""
    assert bot.folder is not None
    content = bot.hash or hash_folder(bot.folder)
    name = f"{bot.name}-{content}-{platform.system()}-{platform.machine()}"
    return (cache or default_cache()) / name


def build_log(copy: Path) -> Path:
    """Where the output of a build is kept."""
    return copy.with_name(f"{copy.name}.log")


@contextlib.contextmanager
def _alone(copy: Path) -> Iterator[None]:
    """Of all processes that want this copy, one builds it and the others wait."""
    with copy.with_name(f"{copy.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(bot: Bot, copy: Path, limit_ms: int) -> None:
    """Build aside and move the result into its place, so that what is there is whole."""
    assert bot.folder is not None
    aside = copy.with_name(f"{copy.name}.part")
    shutil.rmtree(aside, ignore_errors=True)
    files = list(
        bot_files(bot.folder)
    )  # All before the first is copied: the cache may be among them.
    aside.mkdir()
    for path in files:
        target = aside / path.relative_to(bot.folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    log = build_log(copy)
    log.unlink(missing_ok=True)
    try:
        ended = _run(bot, aside, log, limit_ms)
        missing = _not_found(log) if ended == NOT_FOUND else None
        if missing is not None:
            raise MissingCommand(f"{bot.name}: the command {missing} was not found")
        if ended is not None:
            raise BuildFailed(f"{bot.name}: the build {ended}: {shlex.join(bot.build)}", log)
        aside.rename(copy)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _run(bot: Bot, folder: Path, log: Path, limit_ms: int) -> str | None:
    """Run the build; what went wrong, or None."""
    command = (*TO_STDERR, *bot.build)
    process = BotProcess(command, cwd=folder, env=environment(bot), log=log.resolve())
    try:
        process.await_start(limit_ms / 1000)
        process.end_input()
        ended = process.how_it_ended(limit_ms / 1000)
    except NoStart as problem:
        return f"could not be run: {problem}"
    finally:
        process.close()
    if ended is None:
        return f"did not end within {show_ms(limit_ms)}"
    return None if ended == "exited with status 0" else ended


def _not_found(log: Path) -> str | None:
    """The command that a shell says is not there."""
    found = _NAMED.search(_said(log))
    return found[1] if found else None


def _said(log: Path) -> str:
    """The first lines of a log."""
    try:
        lines = log.read_text("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    shown = lines[:SHOWN_LINES]
    if len(lines) > SHOWN_LINES:
        shown.append(f"… {len(lines) - SHOWN_LINES} more lines in {log}")
    return "\n".join(shown)
