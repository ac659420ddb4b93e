"""What holds for all tests.

Most of them are about other things than confinement, and their bots are run by the Python that runs
the tests, which confined bots may not see: they ask for level none. Tests of confinement name their
level, or take the variable away.
"""

from __future__ import annotations

import os

from referee.bots.confinement.probe import EVERYWHERE
from tests.hostile.conftest import name_what_is_lacking

os.environ.setdefault(EVERYWHERE, "none")
pytest_terminal_summary = name_what_is_lacking
