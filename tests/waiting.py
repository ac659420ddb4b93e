"""How tests wait for other processes: until something holds, never for a while.

A pause that is long enough on a quiet machine is too short on a busy one, so no test sleeps and
hopes. It names what has to become true, and waits with one patience that all tests share.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE_S = 120.0
"""Many times what anything takes on a busy machine: only a failing test waits that long."""
SHORTEST_S, LONGEST_S = 0.005, 0.1
"""Pauses between two looks grow: a look may cost more than what it looks for."""


def wait_for(
    look: Callable[[], T | None],
    what: str | Callable[[], object] = "what was to happen",
    *,
    meanwhile: Callable[[], object] | None = None,
) -> T:
    """What `look` finds, as soon as it finds something that is true.

    `what` is the end of the sentence "waited in vain for …"; a function is called when the wait has
    failed, so that it can quote a log as it is by then. `meanwhile` is done between two looks,
    instead of a pause.
    """
    give_up = time.monotonic() + PATIENCE_S
    pause_s = SHORTEST_S
    while not (found := look()):
        if time.monotonic() > give_up:
            told = what() if callable(what) else what
            raise AssertionError(f"waited {PATIENCE_S:.0f} s in vain for {told}")
        if meanwhile is not None:
            meanwhile()
        else:
            time.sleep(pause_s)
            pause_s = min(1.2 * pause_s, LONGEST_S)
    return found
