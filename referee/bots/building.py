"""Make a bot ready to run: compile it once, and put it where it can be run.

    folder with `build` in bot.toml → build in a copy → the copy is kept → the bot runs there

What is kept (cache.py) is known by content: the hash of the bot's folder, its `bot.toml` with the
build command included. What has not changed is not built again, by whichever command and process,
and the bot's own folder stays as it is.

A build runs under a keeper, as a bot does: it cannot outlive the referee, its time is limited, and
of its output the first and the last 32 KiB are kept beside the copy, of a failed build too. It is
confined as the bot will be, within limits of its own, and then builds in memory: what it has made
comes out as an archive, of which files, folders and links that stay inside are taken. Its compiler
finds what it kept of the last build where an author builds his own bot (compiler_cache.py).
"""

from __future__ import annotations

import platform
import re
import shlex
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from referee.bots.archive import BadArchive, receive, unpack
from referee.bots.cache import SHOWN_NAME, Busy, is_kept, kept, readable_cache
from referee.bots.compiler_cache import MOST, CompilerCache
from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.confinement.guard import guard
from referee.bots.confinement.identity import servant
from referee.bots.confinement.levels import Level
from referee.bots.confinement.limits import BUILD_LIMITS
from referee.bots.confinement.walls import BOT_FOLDER, SHELL, View, system_program
from referee.bots.contents import (
    LeadsOut,
    NoBots,
    contents,
    copy_folder,
    empty,
    hash_folder,
    open_up,
)
from referee.bots.environment import environment, is_there
from referee.bots.manifest import BadBot, Bot
from referee.bots.process import BotProcess, NoStart
from referee.bots.staging import staged
from referee.clock import DEFAULT_BUILD_MS, show_ms

SHOWN_LINES = 20
"""Of the output of a failed build; all of it is in its log."""
TO_STDERR = (SHELL, "-c", 'exec "$@" >&2', "sh")
"""The keeper keeps what goes to stderr, and compilers write to either."""
SOURCE = "/source"
"""Where a confined build finds the bot's folder."""
IN_MEMORY = (
    "{cp} -R {source}/. . && "
    '( while [ "$1" != -- ]; do export "$1"; shift; done; shift; "$@" ) >&2 && '
    "exec {tar} -cf - ."
)
"""Copy, build, and hand out what there is then. The bot's variables are for the build alone: with
its PATH, what copies and packs would be its own."""
OWN = "-own"
"""Of what is built with a compiler's cache: a build that wants to can make it of more than the
content in its name. So none but the commands that build so take it."""
BUILD, PACKING = "the build", "tar, which packs what the build made,"
"""Whatever can fail."""
STATUS_S = 5.0
"""From the end of what a build hands out to its own."""
NOT_FOUND = 127
"""How a shell ends that was to run what is not there; it names the command in its last line."""
_NAMED = re.compile(r"([^\s:]+): (?:command )?not found$")

OnBuild = Callable[[str], None]
"""Hears the name of a bot whose build begins."""


class MissingCommand(BadBot):
    """A program that the bot needs is not on this machine."""


class BuildFailed(BadBot):
    """The build did not give a bot; the compiler is quoted."""


def built(
    bot: Bot,
    confinement: Confinement = UNCONFINED,
    *,
    cache: Path | None = None,
    limit_ms: int = DEFAULT_BUILD_MS,
    on_build: OnBuild | None = None,
    compiler_cache: bool = False,
) -> Bot:
    """The bot, ready to run: built, if its manifest has a `build`, with its programs there and,
    where it is confined, with its own files where it can read them.

    `compiler_cache` is for commands with which authors build their own bots: a confined build then
    finds what its compiler has kept in the last one. Nothing that others hand in is built so.

    Raises MissingCommand or BuildFailed, or BadBot where the folder or the cache is no good.
    """
    if bot.build and bot.folder is not None:
        copy = _copy(bot, confinement, cache, limit_ms, on_build, compiler_cache)
        bot = replace(bot, folder=copy, build=(), is_built=True)
    _must_be_there(bot, bot.command, confinement)
    return bot if confinement.level is Level.NONE else staged(bot, cache)


def build_log(copy: Path) -> Path:
    """Where the output of a build is kept."""
    return copy.with_name(f"{copy.name}.log")


def _must_be_there(bot: Bot, words: tuple[str, ...], confinement: Confinement) -> None:
    if not is_there(bot, words, confinement):
        told = f"{bot.name}: the command {words[0]} was not found"
        if is_there(bot, words):
            told += " where confined bots look; --expose shows them more, --sandbox none all"
        raise MissingCommand(told)


def _copy(
    bot: Bot,
    confinement: Confinement,
    cache: Path | None,
    limit_ms: int,
    on_build: OnBuild | None,
    compiler_cache: bool,
) -> Path:
    """The folder in which this very bot is built for this kind of machine."""
    confined = confinement.level is not Level.NONE
    reader = servant() if confined else None
    cache = readable_cache(cache, reader)
    compilers: CompilerCache | None = None

    def make(folder: Path) -> None:
        _must_be_there(bot, bot.build, confinement)
        if on_build is not None:
            on_build(bot.name)
        build_log(folder).unlink(missing_ok=True)
        if confined:
            _build_confined(bot, folder, confinement, limit_ms, compilers)
        else:
            _build(bot, folder, limit_ms)

    try:
        assert bot.folder is not None
        content = bot.hash or hash_folder(bot.folder)
        name = f"{bot.name[:SHOWN_NAME]}-{content}-{platform.system()}-{platform.machine()}"
        if confined:
            # Compilers write paths down, and a confined build sees other ones.
            name += "-confined"
            if compiler_cache and not is_kept(cache, name):
                compilers = CompilerCache.of(cache, bot, confinement.level, reader)
                name += OWN if compilers is not None else ""
        return kept(cache, name, make, wait_ms=limit_ms, who=bot.name, reader=reader)
    except LeadsOut as link:
        raise BuildFailed(
            f"{link}: a link that leads out of the bot's folder; what is built needs all that it "
            "uses inside"
        ) from None
    except Busy as busy:
        raise BuildFailed(str(busy)) from None
    except NoBots as no:
        raise BadBot(f"{bot.name}: {no.filename}: {no.strerror}") from None
    except OSError as error:
        raise BadBot(f"{bot.name}: cannot be built in {cache}: {error.strerror}") from None


def _build(bot: Bot, folder: Path, limit_ms: int) -> None:
    """In a copy."""
    _copy_content(bot, folder)
    log = build_log(folder)
    command = (*TO_STDERR, *bot.build)
    try:
        process = BotProcess(command, cwd=folder, env=environment(bot), log=log.resolve())
        try:
            process.await_start(limit_ms / 1000)
            process.end_input()
            ended = _ended(process, limit_ms / 1000, limit_ms)
        finally:
            process.close()
        _must_have_worked(bot, ended, log)
        contents(folder)
    except NoStart as problem:
        raise BuildFailed(f"{bot.name}: the build could not be run: {problem}") from None
    except NoBots as no:
        told = f"the build made what cannot be kept: {no.strerror}"
        raise BuildFailed(f"{bot.name}: {told}") from None


def _build_confined(
    bot: Bot,
    folder: Path,
    confinement: Confinement,
    limit_ms: int,
    compilers: CompilerCache | None,
) -> None:
    """In memory, from a copy that the build cannot change; its outcome takes the copy's place."""
    _copy_content(bot, folder)
    open_up(folder)
    log = build_log(folder)
    inside = replace(confinement, limits=BUILD_LIMITS, freeze=False)
    view = View(((str(folder), SOURCE),), BOT_FOLDER, scratch=True)
    command, most = _in_memory(bot, compilers), BUILD_LIMITS.disk
    if compilers is not None:
        view, most = replace(view, maybe=compilers.seen()), most + MOST
    process = BotProcess(
        (),
        log=log.resolve(),
        guard=guard(command, {}, view, inside, one_process=False, build=True),
    )
    try:
        process.await_start(limit_ms / 1000)
        process.end_input()
        with receive(process.stdout, limit_ms / 1000, most, folder.parent) as archive:
            ended = _ended(process, STATUS_S if archive is not None else 0.0, limit_ms)
            process.close()
            if compilers is not None:
                compilers.take(archive)
            # Nothing but the archive goes out there: with the first byte of it the build was over.
            packed = archive is not None and archive.read(1) != b""
            _must_have_worked(bot, ended, log, PACKING if packed else BUILD)
            if archive is not None:
                archive.seek(0)
                empty(folder)
                unpack(archive, folder, BUILD_LIMITS.disk)
    except NoStart as problem:
        raise BuildFailed(f"{bot.name}: the build could not be run: {problem}") from None
    except BadArchive as bad:
        raise BuildFailed(f"{bot.name}: the build made what cannot be kept: {bad}") from None
    finally:
        process.close()


def _in_memory(bot: Bot, compilers: CompilerCache | None) -> tuple[str, ...]:
    script = IN_MEMORY.format(cp=system_program("cp"), tar=system_program("tar"), source=SOURCE)
    if compilers is not None:
        script = compilers.around(script)
    variables = (f"{name}={value}" for name, value in bot.env.items())
    return (SHELL, "-c", script, "sh", *variables, "--", *bot.build)


def _copy_content(bot: Bot, folder: Path) -> None:
    assert bot.folder is not None
    copy_folder(bot.folder, folder)
    if hash_folder(folder) != (bot.hash or hash_folder(bot.folder)):
        raise BadBot(f"{bot.name}: {bot.folder} has changed since it was read")


def _ended(process: BotProcess, within_s: float, limit_ms: int) -> tuple[int | None, str]:
    """Its exit status, None for none, and how it ended in words."""
    status = process.exit_status(within_s)
    return status, process.how_it_ended() or f"did not end within {show_ms(limit_ms)}"


def _must_have_worked(
    bot: Bot, ended: tuple[int | None, str], log: Path, what: str = BUILD
) -> None:
    status, how = ended
    said = _said(log)
    named = _NAMED.search(said)
    if status == NOT_FOUND and named is not None:
        raise MissingCommand(f"{bot.name}: the command {named[1]} was not found")
    if status != 0:
        failed = BuildFailed(f"{bot.name}: {what} {how}: {shlex.join(bot.build)}")
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
