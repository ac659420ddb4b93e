"""What a bot's commands find around them: the variables they get, and the programs they name."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.confinement.levels import Level
from referee.bots.confinement.walls import search_path
from referee.bots.manifest import Bot


def environment(bot: Bot) -> dict[str, str]:
    """The referee's environment and the manifest's; this Python last, for want of another.

    Without PYTHONUNBUFFERED: it hides a missing flush where it is set, and there alone. Without
    PGPASSWORD, which is for the tournament's store.
    """
    env = {**os.environ}
    for name in ("PYTHONUNBUFFERED", "PGPASSWORD"):
        env.pop(name, None)
    env |= bot.env
    here = str(Path(sys.executable).parent)
    env["PATH"] = env.get("PATH", os.defpath) + os.pathsep + here
    return env


def is_there(bot: Bot, words: Sequence[str], confinement: Confinement = UNCONFINED) -> bool:
    """Whether the system would find the program of a command that runs in the bot's folder.

    A path is not looked at: starting it tells more.
    """
    if "/" in words[0]:
        return True
    if confinement.level is not Level.NONE:
        return shutil.which(words[0], path=search_path(confinement.expose)) is not None
    folder = bot.folder or Path()
    entries = environment(bot)["PATH"].split(os.pathsep)
    path = os.pathsep.join(str(folder / entry) for entry in entries)
    return shutil.which(words[0], path=path) is not None


def missing_command(bot: Bot) -> str | None:
    """The program that has to be there first and is not; None if it is."""
    words = bot.build or bot.command
    return None if is_there(bot, words) else words[0]
