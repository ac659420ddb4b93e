"""A bot and how it is confined, in; a process, out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.confinement.guard import guard
from referee.bots.confinement.levels import Level
from referee.bots.confinement.limits import tighter
from referee.bots.environment import environment
from referee.bots.manifest import Bot
from referee.bots.process import BotProcess
from referee.bots.staging import view_of


def start_bot(
    bot: Bot,
    confinement: Confinement = UNCONFINED,
    *,
    log: Path | None = None,
    keeper_cores: frozenset[int] | None = None,
    env: Mapping[str, str] | None = None,
) -> BotProcess:
    """The bot, started. `env` goes over what its manifest sets.

    Raises NoStart, or NotConfined where it cannot be confined as asked.
    """
    limits = tighter(confinement.limits, bot.limits)
    if confinement.level is Level.NONE:
        return BotProcess(
            bot.command,
            cwd=bot.folder,
            env={**environment(bot), **(env or {})},
            log=log,
            log_bytes=limits.stderr,
            keeper_cores=keeper_cores,
        )
    if bot.processes > 1:
        limits = replace(limits, processes=min(limits.processes, bot.processes))
    confined = guard(
        bot.command,
        {**bot.env, **(env or {})},
        view_of(bot),
        replace(confinement, limits=limits),
        one_process=bot.processes == 1,
    )
    return BotProcess(
        bot.command,
        log=log,
        log_bytes=limits.stderr,
        keeper_cores=keeper_cores,
        guard=confined,
    )
