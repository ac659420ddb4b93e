"""A version that was handed in, as the house keeps it: its author's folder and how to start it.

Paths in the database are relative to the data folder, which may move.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from referee.bots.manifest import Bot
from referee.store.house.house import House

FOLDER = "bots"
"""Of the data folder: what was handed in, by the number of its version."""
CACHE = "builds"
"""Of the data folder: what was built of it, by content."""


def definition_of(bot: Bot, data: Path) -> str:
    """A bot as the house keeps it. Its folder is within the data folder."""
    assert bot.folder is not None
    within = bot.folder.resolve().relative_to(data.resolve())
    return msgspec.json.encode(replace(bot, folder=within), enc_hook=str).decode()


def bot_of(definition: str, data: Path) -> Bot:
    """The bot again, where the data folder is now."""
    bot = msgspec.json.decode(definition, type=Bot, dec_hook=_path)
    assert bot.folder is not None
    return replace(bot, folder=(data / bot.folder).resolve())


def contents_in_use(house: House, but: int | None = None) -> tuple[str, ...]:
    """By what the builds are known of all versions that can play, but for this one."""
    return tuple(
        bot_of(version.definition, house.data).hash
        for version in house.versions.all()
        if version.definition and version.kept and version.id != but
    )


def _path(kind: type, value: Any) -> Any:
    return Path(value) if kind is Path else value
