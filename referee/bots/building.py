"""Make a bot ready to run: compile it once, in a copy of its folder.

    folder with `build` in bot.toml → copy in the cache → build runs there → the bot runs there

The cache is keyed by content: the name of a copy has the hash of the bot's folder, its `bot.toml`
with the build command included. What has not changed is not built again, by whichever command and
process, and the bot's own folder stays as it is. A copy counts once a file in it says that it is
whole, which is written last.

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
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec.structs import replace

from referee.bots.contents import LeadsOut, copy_folder, hash_folder
from referee.bots.environment import environment, is_there
from referee.bots.manifest import BadBot, Bot
from referee.bots.process import BotProcess, NoStart, told_status
from referee.clock import DEFAULT_BUILD_MS, show_ms

SHOWN_LINES = 20
"""Of the output of a failed build; all of it is in its log."""
SHOWN_NAME = 20
"""Of a bot's name in that of its copy: a file's name may have 255 bytes."""
TO_STDERR = ("sh", "-c", 'exec "$@" >&2', "sh")
"""The keeper keeps what goes to stderr, and compilers write to either."""
WHOLE = ".whole"
"""The file that says so."""
LOOK_S = 0.05
NOT_FOUND = 127
"""How a shell ends that was to run what is not there; it names the command in its last line."""
_NAMED = re.compile(r"([^\s:]+): (?:command )?not found$")

OnBuild = Callable[[str], None]
"""Hears the name of a bot whose build begins."""


class MissingCommand(BadBot):
    """A program that the bot needs is not on this machine."""


class BuildFailed(BadBot):
    """The build did not give a bot; the compiler is quoted."""


def default_cache() -> Path:
    """Where built bots are kept, as the desktop's conventions have it."""
    caches = os.environ.get("XDG_CACHE_HOME", "")
    home = Path(caches) if Path(caches).is_absolute() else Path.home() / ".cache"
    return home / "referee" / "builds"


def built(
    bot: Bot,
    *,
    cache: Path | None = None,
    limit_ms: int = DEFAULT_BUILD_MS,
    on_build: OnBuild | None = None,
) -> Bot:
    """The bot, ready to run: built, if its manifest has a `build`, and with its programs there.

    Raises MissingCommand or BuildFailed, or BadBot where the folder or the cache is no good.
    """
    if bot.build and bot.folder is not None:
        copy = _copy(bot, cache or default_cache(), limit_ms, on_build)
        bot = replace(bot, folder=copy, build=())
    _must_be_there(bot, bot.command)
    return bot


def build_log(copy: Path) -> Path:
    """Where the output of a build is kept."""
    return copy.with_name(f"{copy.name}.log")


def _must_be_there(bot: Bot, words: tuple[str, ...]) -> None:
    if not is_there(bot, words):
        raise MissingCommand(f"{bot.name}: the command {words[0]} was not found")


def _copy(bot: Bot, cache: Path, limit_ms: int, on_build: OnBuild | None) -> Path:
    """The folder in which this very bot is built for this kind of machine."""
    assert bot.folder is not None
    try:
        content = bot.hash or hash_folder(bot.folder)
        name = f"{bot.name[:SHOWN_NAME]}-{content}-{platform.system()}-{platform.machine()}"
        copy = cache / name
        whole = copy / WHOLE
        if whole.exists():
            return copy
        _must_be_there(bot, bot.build)
        cache.mkdir(parents=True, exist_ok=True)
        with _alone(bot, cache / f"{name}.lock", limit_ms):
            if not whole.exists():
                if on_build is not None:
                    on_build(bot.name)
                _build(bot, copy, content, limit_ms)
                whole.touch()
        return copy
    except LeadsOut as link:
        raise BuildFailed(
            f"{link}: a link that leads out of the bot's folder; what is built needs all that it "
            "uses inside"
        ) from None
    except OSError as error:
        raise BadBot(f"{bot.name}: cannot be built in {cache}: {error.strerror}") from None


@contextlib.contextmanager
def _alone(bot: Bot, path: Path, limit_ms: int) -> Iterator[None]:
    """Of all processes that want this copy, one builds it and the others wait, as long as a build
    may take."""
    deadline = time.monotonic() + limit_ms / 1000
    with path.open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise BuildFailed(
                        f"{bot.name}: another process builds it, and did not end within "
                        f"{show_ms(limit_ms)}"
                    ) from None
                time.sleep(LOOK_S)
        yield


def _build(bot: Bot, copy: Path, content: str, limit_ms: int) -> None:
    """Copy the folder and build there. What is no bot in the end is taken away again."""
    assert bot.folder is not None
    shutil.rmtree(copy, ignore_errors=True)
    log = build_log(copy)
    log.unlink(missing_ok=True)
    try:
        copy.mkdir()
        copy_folder(bot.folder, copy)
        if hash_folder(copy) != content:
            raise BadBot(f"{bot.name}: {bot.folder} has changed since it was read")
        _run(bot, copy, log, limit_ms)
    except BaseException:
        shutil.rmtree(copy, ignore_errors=True)
        raise


def _run(bot: Bot, copy: Path, log: Path, limit_ms: int) -> None:
    command, told = (*TO_STDERR, *bot.build), shlex.join(bot.build)
    try:
        process = BotProcess(command, cwd=copy, env=environment(bot), log=log.resolve())
        try:
            process.await_start(limit_ms / 1000)
            process.end_input()
            status = process.exit_status(limit_ms / 1000)
        finally:
            process.close()
    except NoStart as problem:
        raise BuildFailed(f"{bot.name}: the build could not be run: {problem}") from None
    said = _said(log)
    named = _NAMED.search(said)
    if status == NOT_FOUND and named is not None:
        raise MissingCommand(f"{bot.name}: the command {named[1]} was not found")
    if status != 0:
        limit = f"did not end within {show_ms(limit_ms)}"
        how = limit if status is None else told_status(status)
        failed = BuildFailed(f"{bot.name}: the build {how}: {told}")
        failed.quoted = said
        raise failed


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
