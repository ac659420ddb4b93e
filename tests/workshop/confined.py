"""Bots that are confined for real, each in a folder that everybody may read.

As root, bots are handed to a user that nobody has. What that user could not read would be copied to
a place that stays, and tests are to leave nothing.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from referee.bots.confinement import Confinement
from referee.bots.confinement.levels import Level
from referee.bots.confinement.probe import findings, why_not

BASE = Path(__file__).parent / "check" / "bots" / "base.py"
STANDARD = Confinement(level=Level.STANDARD)


def must_offer_standard() -> None:
    """Skip, and say why, where this machine has no level `standard` or no Python at it."""
    lacking = why_not(Level.STANDARD)
    warnings = [each for each in findings(Level.STANDARD) if each.status == "warn"]
    if lacking is not None or warnings:
        reason = (lacking or warnings[0]).reason
        pytest.skip(f"this machine does not offer level standard: {reason}")


@contextmanager
def open_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="referee-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def put_bot(
    folder: Path, name: str, body: str = "", env: dict[str, str] | None = None, **keys: object
) -> Path:
    """A bot that plays its first legal move, but for what this body of its class says."""
    folder = folder / name
    folder.mkdir()
    shutil.copy(BASE, folder / "base.py")
    lines = [f"    {line}" for line in body.strip().splitlines()] or ["    pass"]
    head = ["import os, subprocess, sys, time", "from base import Base", "class Mine(Base):"]
    (folder / "bot.py").write_text("\n".join([*head, *lines, "Mine().run()", ""]))
    keys = {"name": name, "command": ["python3", "bot.py"], **keys}
    manifest = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    manifest += ["[env]", *(f"{key} = {json.dumps(value)}" for key, value in (env or {}).items())]
    (folder / "bot.toml").write_text("\n".join([*manifest, ""]))
    return folder
