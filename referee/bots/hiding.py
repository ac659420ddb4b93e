"""What of this machine no bot must see, whatever folders are shown to it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from referee.bots.cache import FOR_BOTS, default_cache
from referee.bots.manifest import Bot, is_sample


def hidden_places(bots: Iterable[Bot] = ()) -> list[tuple[str, Path]]:
    """What is there, in words, and where. Sample bots are no secret; a command line has no folder
    of its own, and whoever runs one may show it the files beside."""
    places = [
        (f"the folder of the bot {bot.name}", bot.folder)
        for bot in bots
        if bot.folder is not None and bot.owns_folder and not is_sample(bot)
    ]
    caches = (default_cache(), FOR_BOTS / "referee" / "builds")
    return [*places, *(("the cache of built bots", cache) for cache in caches)]
