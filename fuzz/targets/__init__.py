"""What is fuzzed, by name. Each module here has one function, `try_it`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

TARGETS = ("session", "records", "spec", "csv_games", "pgn_games", "manifest")


def load(name: str) -> Callable[[bytes], None]:
    """The target's function: it takes any bytes, and raises where a promise is broken."""
    try_it: Callable[[bytes], None] = import_module(f"fuzz.targets.{name}").try_it
    return try_it
