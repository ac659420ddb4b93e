"""The other end of a `Child`: one request, one thing done for whoever asked, and no longer."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


def read_request(kind: type[T]) -> T:
    """What is asked for, one line of JSON. Where the asker is gone in mid-line, so is this."""
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        sys.exit(1)
    return msgspec.json.decode(line, type=kind, dec_hook=_path)


def end_with_the_asker() -> None:
    """From now on this process ends when its standard input does."""
    threading.Thread(target=_watch, daemon=True).start()


def _watch() -> None:
    await_the_end()
    os._exit(1)


def await_the_end() -> None:
    """Until whoever asked is gone, or lets go."""
    # Not through sys.stdin: its lock, held here for good, is taken once more at the very end.
    while os.read(0, 4096):
        pass


def _path(kind: type, value: Any) -> Any:
    return Path(value) if kind is Path else value
