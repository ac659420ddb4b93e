"""What bots of a season or of a tournament have written to stderr, kept within bounds."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

LOG_BYTES = 200_000_000
"""What all logs of a season, or of a tournament, may hold; the oldest go first."""


def trim_logs(folder: Path) -> None:
    """Remove the oldest logs in the folder of a season or tournament, beyond what they may hold."""
    found = []
    for path in (folder / "logs").rglob("*.txt"):
        with suppress(FileNotFoundError):  # A worker puts full logs aside.
            status = path.stat()
            found.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= LOG_BYTES:
            break
        path.unlink(missing_ok=True)
        total -= size
