"""A bot and how it is confined, in; a process, out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.confinement.guard import guard
from referee.bots.confinement.identity import servant
from referee.bots.confinement.levels import Level
from referee.bots.confinement.limits import Limits, show_size, tighter
from referee.bots.confinement.walls import LINK_FOLDER
from referee.bots.environment import environment
from referee.bots.manifest import ZMQ, Bot
from referee.bots.process import BotProcess, NoStart, Share
from referee.bots.staging import view_of
from referee.links.endpoint import LocalEndpoint


def start_bot(
    bot: Bot,
    confinement: Confinement = UNCONFINED,
    *,
    log: Path | None = None,
    keeper_cores: frozenset[int] | None = None,
    env: Mapping[str, str] | None = None,
    share: Share | None = None,
) -> BotProcess:
    """The bot, started. `env` goes over what its manifest sets.

    Raises NoStart, or NotConfined where it cannot be confined as asked.
    """
    limits = limits_of(bot, confinement)
    endpoint = open_endpoint(bot, confinement)
    given = dict(env or {})
    if confinement.level is Level.NONE:
        if endpoint is not None:
            given |= endpoint.variables()
        return BotProcess(
            bot.command,
            cwd=bot.folder,
            env={**environment(bot), **given},
            log=log,
            log_bytes=limits.stderr,
            keeper_cores=keeper_cores,
            endpoint=endpoint,
            share=share,
        )
    view = view_of(bot)
    if endpoint is not None:
        given |= endpoint.variables(LINK_FOLDER)
        view = replace(view, files=(*view.files, (str(endpoint.folder), LINK_FOLDER)))
    try:
        confined = guard(
            bot.command,
            {**bot.env, **given},
            view,
            replace(confinement, limits=limits),
            one_process=allowed_processes(bot, confinement) == 1,
        )
    except BaseException:
        if endpoint is not None:
            endpoint.close()
        raise
    return BotProcess(
        bot.command,
        log=log,
        log_bytes=limits.stderr,
        keeper_cores=keeper_cores,
        guard=confined,
        endpoint=endpoint,
        share=share,
    )


def limits_of(bot: Bot, confinement: Confinement) -> Limits:
    """What this bot may use: no more than it is given, nor than its manifest asks for."""
    limits = tighter(confinement.limits, bot.limits)
    if confinement.level is not Level.NONE and bot.processes > 1:
        limits = replace(limits, processes=min(bot.processes, limits.processes))
    return limits


def few_told(bot: Bot, confinement: Confinement) -> str:
    """The end of a sentence on a bot that does not come up: of what it has less than is usual. A
    runtime that gets no thread, or no memory, may wait for it in silence."""
    if confinement.level is Level.NONE:
        return ""
    limits, usual = limits_of(bot, confinement), Limits()
    found: list[str] = []
    if limits.processes < usual.processes:
        found.append(f"{limits.processes} processes and threads")
    if limits.memory < usual.memory:
        found.append(f"{show_size(limits.memory)} of memory")
    return f"; it may have {' and '.join(found)} at most, is that enough?" if found else ""


def allowed_processes(bot: Bot, confinement: Confinement) -> int:
    """How many it may run at a time where it is confined: what it asked for, within its limit."""
    return min(bot.processes, tighter(confinement.limits, bot.limits).processes)


def several_processes(bots: Iterable[Bot], confinement: Confinement) -> dict[str, int]:
    """Who asked for more than one in its manifest, and how many it may run where it is confined.
    Unconfined, nobody counts."""
    if confinement.level is Level.NONE:
        return {}
    allowed = {bot.name: allowed_processes(bot, confinement) for bot in bots}
    return {name: number for name, number in allowed.items() if number > 1}


def is_all_counted(bot: Bot, confinement: Confinement) -> bool:
    """Whether the CPU clock of a bot counts whatever it uses: that of its control group, or of its
    one process."""
    if confinement.level is Level.STANDARD:
        return allowed_processes(bot, confinement) == 1
    return confinement.level is Level.FULL


def open_endpoint(bot: Bot, confinement: Confinement = UNCONFINED) -> LocalEndpoint | None:
    """Where the bot is to connect; None for one that speaks over its pipes. Raises NoStart."""
    if bot.transport != ZMQ:
        return None
    try:
        return LocalEndpoint(None if confinement.level is Level.NONE else servant())
    except OSError as error:
        raise NoStart(f"no socket to connect to: {error.strerror}") from None
