"""What a bot's commands find around them: the variables they get, and the programs they name."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from referee.bots.manifest import Bot


def environment(bot: Bot) -> dict[str, str]:
    """The referee's environment and the manifest's; this Python last, for want of another."""
    env = {**os.environ, **bot.env}
    here = str(Path(sys.executable).parent)
    env["PATH"] = env.get("PATH", os.defpath) + os.pathsep + here
    return env


def missing_command(bot: Bot) -> str | None:
    """The program that this bot names and this machine does not have; None if all are there.

    A path is the bot's own business: its build may make it, and starting it tells.
    """
    path = environment(bot)["PATH"]
    for words in (bot.build, bot.command):
        if words and "/" not in words[0] and shutil.which(words[0], path=path) is None:
            return words[0]
    return None
