"""The three levels of confinement, the strongest first."""

from __future__ import annotations

from enum import StrEnum


class Level(StrEnum):
    """What keeps a bot from doing harm."""

    FULL = "full"
    """Bubblewrap, seccomp, resource limits, and a control group for each bot."""
    STANDARD = "standard"
    """The same without control groups: a bot is one process with threads, unless it asks for more
    in its manifest."""
    NONE = "none"
    """Nothing but the referee's own strictness."""
