"""What bots wrote to stderr, as far as a line of it helps."""

from __future__ import annotations

from pathlib import Path

from referee.cli.console import printable

LONGEST = 200


def last_line(log: Path) -> str:
    """The last line of a log that says something."""
    lines = log.read_text("utf-8", "replace").split("\n")
    return printable(next((line.strip() for line in reversed(lines) if line.strip()), "")[:LONGEST])


def newest_log(folder: Path, bot: str) -> Path | None:
    """The log of a bot that was written to last, wherever it is in a folder."""
    logs = [path for path in folder.rglob("*.stderr.txt") if path.name == f"{bot}.stderr.txt"]
    return max(logs, key=lambda path: path.stat().st_mtime, default=None)
