"""How slow the machine is on which the tests run: the one factor of all times that are real.

`REFEREE_TEST_PACE=4` is for a kernel that is itself a process, on a machine with much else to do:
it counts as used by a bot what others took from it.
"""

from __future__ import annotations

import os

PACE = int(os.environ.get("REFEREE_TEST_PACE", "1"))
