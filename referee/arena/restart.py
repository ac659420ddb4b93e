"""When a bot's process is started anew: for every game, for every pairing, or never.

A contest may say so for all bots. Otherwise each bot decides: a bot that keeps nothing from game to
game is stateless, and its process lives through many pairings.
"""

from __future__ import annotations

from typing import Literal

from referee.bots.manifest import Bot
from referee.protocol.messages import HelloReceived

Restart = Literal["pairing", "never", "game"]
"""`pairing`: a process plays the games of one pairing, block by block."""


def is_stateless(bot: Bot, hello: HelloReceived | None) -> bool:
    """Whether a bot says that it keeps nothing from game to game. Its manifest counts first."""
    if bot.stateless is not None:
        return bot.stateless
    return hello is not None and hello.stateless


def restart_of(contest: Restart | None, *, stateless: bool) -> Restart:
    """What holds for a bot, by what the contest says and by what the bot says of itself."""
    return contest or ("never" if stateless else "pairing")
