"""The cases: what a hostile bot does, and what comes of it at each level.

One table, which the tests play and docs/security.md shows. The numbers are those of the list of
cases that confinement is measured by; 31 (a bot that a short-lived thread started) and 32 (honest
bots in runtimes that need room) are no programs of their own and have tests of their own.
"""

from __future__ import annotations

from tests.hostile.cases.case import GRACE_MS, LEVELS, LIMITS, Case, Expected
from tests.hostile.cases.memory import MEMORY
from tests.hostile.cases.processes import PROCESSES
from tests.hostile.cases.reaching import REACHING
from tests.hostile.cases.staying import STAYING
from tests.hostile.cases.streams import STREAMS

__all__ = ["CASES", "GRACE_MS", "LEVELS", "LIMITS", "Case", "Expected", "outcome_rows"]

CASES = (*PROCESSES, *MEMORY, *STREAMS, *STAYING, *REACHING)


def outcome_rows() -> list[tuple[str, ...]]:
    """The table for people: numbers, behaviour, and what happens at each level."""
    return [
        (
            ", ".join(map(str, case.numbers)),
            case.behaviour,
            *(case.at(level).outcome for level in LEVELS),
        )
        for case in CASES
    ]
