"""What the daemon says of itself: a line an event, as text for people or as JSON for programs.

Under systemd the journal adds the time and takes the level from a mark at the line's beginning.
"""

from __future__ import annotations

import contextlib
import threading
import time
from typing import IO, Literal

import msgspec

Level = Literal["info", "warning", "error"]
PRIORITIES = {"error": 3, "warning": 4, "info": 6}
"""As syslog counts them."""
OWN = ("at", "level", "event")
"""Fields of every line, which no event's may hide."""


class Journal:
    """Where the lines go."""

    def __init__(
        self,
        stream: IO[str],
        style: Literal["text", "json"] = "text",
        *,
        marked: bool = False,
    ) -> None:
        """`marked`: whoever reads it has a clock of its own and wants the level in front."""
        self._stream = stream
        self._style = style
        self._marked = marked
        self._lock = threading.Lock()

    def info(self, event: str, /, **fields: object) -> None:
        self._write("info", event, fields)

    def warning(self, event: str, /, **fields: object) -> None:
        self._write("warning", event, fields)

    def error(self, event: str, /, **fields: object) -> None:
        self._write("error", event, fields)

    def _write(self, level: Level, event: str, fields: dict[str, object]) -> None:
        if self._style == "json":
            free = {f"{key}_" if key in OWN else key: value for key, value in fields.items()}
            told = {"at": stamp(), "level": level, "event": event, **free}
            line = msgspec.json.encode(told, enc_hook=str).decode()
        else:
            values = [f"{key}={_shown(value)}" for key, value in fields.items()]
            line = " ".join([event if level == "info" else f"{level}: {event}", *values])
            line = f"<{PRIORITIES[level]}>{line}" if self._marked else f"{stamp()} {line}"
        # A daemon whose terminal has gone plays on.
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._stream.write(f"{line}\n")
            self._stream.flush()


def stamp() -> str:
    """The time, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _shown(value: object) -> str:
    """One word, or quoted; nothing that a stranger wrote breaks the line."""
    text = str(value)
    plain = text.isprintable() and not set(' "=') & set(text)
    return text if plain and text else msgspec.json.encode(text).decode()
