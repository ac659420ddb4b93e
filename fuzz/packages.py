"""Which packages bring variants of their own is looked up once: it takes longer than all the rest.

They do not come and go while a target runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib.metadata import entry_points
from unittest.mock import patch

from referee.rules import registry
from referee.tournament import spec

_entry_points = cache(entry_points)


@contextmanager
def looked_up_once() -> Iterator[None]:
    with ExitStack() as stack:
        for module in (registry, spec):
            stack.enter_context(patch.object(module, "entry_points", _entry_points))
        yield
