"""Bots of every language, built once for a whole run; skipped where a toolchain is missing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from referee.bots.building import MissingCommand, built
from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.manifest import Bot, sample_folder
from referee.clock import DEFAULT_BUILD_MS
from referee.workshop.new_bot import LANGUAGES, TEMPLATES
from tests.hostile.pace import PACE

PORTS = {
    language: sample_folder() / f"highest-{language}"
    for language in LANGUAGES
    if language != "python"
}
"""The sample bots that play like `highest`, by language."""
BEGIN, END = "--- protocol ---", "--- end of protocol ---"


def ready(bot: Bot, factory: pytest.TempPathFactory, confinement: Confinement = UNCONFINED) -> Bot:
    """The bot, built; all workers of a test run share the cache. CI has every toolchain."""
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    try:
        limit_ms = DEFAULT_BUILD_MS * PACE
        return built(bot, confinement, cache=shared / "builds", limit_ms=limit_ms)
    except MissingCommand as missing:
        if "CI" in os.environ:
            raise
        pytest.skip(str(missing))


def protocol_block(folder: Path) -> str:
    """What stands between the two marks in one of the files of a folder."""
    texts = [path.read_text("utf-8") for path in sorted(folder.iterdir()) if path.is_file()]
    (text,) = [text for text in texts if BEGIN in text]
    assert text.count(BEGIN) == text.count(END) == 1
    return text[text.index(BEGIN) : text.index(END)]


def template(language: str) -> Path:
    return TEMPLATES / language
