"""The `bot.toml` of a bot.

What must hold: it is a bot or a `BadBot`, whose sentence names the file; a bot that was read has a
name and a command that the system could run, is found by its folder as the same, and is known by
what the folder holds.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from referee.bots.contents import hash_folder
from referee.bots.manifest import BadBot, check_name, find_bot, read_bot
from referee.bots.manifest_text import MANIFEST

_place = tempfile.TemporaryDirectory(prefix="fuzz-manifest-")
_folder = Path(_place.name)


def try_it(data: bytes) -> None:
    (_folder / MANIFEST).write_bytes(data)
    try:
        bot = read_bot(_folder)
    except BadBot as bad:
        _check_sentence(str(bad))
        return
    check_name("", bot.name)
    assert bot.command
    assert all(word and "\0" not in word for word in (*bot.command, *bot.build))
    assert bot.games_at_once is None or 1 <= bot.games_at_once <= 10_000
    assert all(name and "=" not in name for name in bot.env)
    assert bot.hash == hash_folder(_folder)
    assert find_bot(str(_folder)) == bot


def _check_sentence(told: str) -> None:
    assert told.startswith(str(_folder / MANIFEST)), f"which file? {told}"
