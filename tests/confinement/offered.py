"""Tests that need walls, and the bots that they put behind them."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.bots.confinement import Confinement
from referee.bots.confinement.levels import Level
from referee.bots.confinement.probe import best_level, why_not
from referee.bots.manifest import Bot, read_bot

LEVELS = [level for level in (Level.FULL, Level.STANDARD) if why_not(level) is None]
"""Those that this machine offers."""
BEST = best_level()


def _reason() -> str:
    lacking = why_not(Level.STANDARD)
    return "" if lacking is None else f"level standard is not offered here: {lacking.reason}"


walls = pytest.mark.skipif(BEST is Level.NONE, reason=_reason())
confined = Confinement(level=BEST)


HELLO = """
import json, os, sys
sys.stdin.readline()
print(json.dumps({"type": "hello", "protocol": 1, "name": "b"}), flush=True)
"""
PLAY = (
    HELLO
    + """
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "turn":
        move = message["legal"][0]
        note = told(message)
        print(json.dumps({"id": message["id"], "move": move, "note": note}), flush=True)
"""
)
"""A bot whose `told(message)` is its note."""


def a_bot(folder: Path, told: str, **keys: object) -> Bot:
    """A bot in Python that plays the first legal move; `told` is the body of its note."""
    folder.mkdir(parents=True, exist_ok=True)
    body = "".join(f"    {line}\n" for line in told.splitlines())
    (folder / "bot.py").write_text(f"def told(message):\n{body}{PLAY}", "utf-8")
    lines = [f'name = "{folder.name}"', 'command = ["python3", "bot.py"]']
    lines += [f"{key} = {value}" for key, value in keys.items()]
    (folder / "bot.toml").write_text("\n".join(lines) + "\n", "utf-8")
    return read_bot(folder)
