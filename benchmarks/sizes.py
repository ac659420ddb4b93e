"""The options of a benchmark: each size has a usual value and a small one.

The figures of a small run mean nothing. It shows within seconds that the benchmark still runs, so
the tests run every benchmark that way.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, TypeVar

Value = TypeVar("Value")
NOTE = "This is a small run: its figures mean nothing."


class SizeParser(argparse.ArgumentParser):
    """A parser whose defaults are the small sizes where `--small` is given."""

    def __init__(self, head: str | None) -> None:
        """`head` is the docstring of the benchmark; its first line describes it."""
        super().__init__(description=(head or "").partition("\n")[0])
        self._small: dict[str, object] = {}
        self.add_argument("--small", action="store_true", help="run for seconds, to see it run")

    def add_size(
        self,
        option: str,
        usual: Value,
        small: Value,
        *,
        read: Callable[[str], Any] = int,
        nargs: int | str | None = None,
        about: str = "",
    ) -> None:
        told = f"{about} ({usual}; small: {small})".strip()
        action = self.add_argument(option, type=read, nargs=nargs, default=usual, help=told)
        self._small[action.dest] = small

    def sizes(self) -> argparse.Namespace:
        """What the command line asks for; an option that it names wins over `--small`."""
        asked = self.parse_args()
        if not asked.small:
            return asked
        print(NOTE, flush=True)
        self.set_defaults(**self._small)
        return self.parse_args()
