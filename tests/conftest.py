"""What holds for all tests.

Most of them are about other things than confinement, and their bots are run by the Python that runs
the tests, which confined bots may not see: they ask for level none. Tests of confinement name their
level, or take the variable away.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from referee.bots.confinement.probe import EVERYWHERE
from tests.hostile.conftest import name_what_is_lacking
from tests.postgres.serving import Server, server

# The same examples every time; how long one takes says more about the machine than about the code.
settings.register_profile(
    "referee",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("referee")
os.environ.setdefault(EVERYWHERE, "none")
# Processes of dask look at themselves a hundred times a second, which no test is about.
for name, value in {
    "WORKER__PROFILE__ENABLED": "False",
    "ADMIN__TICK__INTERVAL": "1s",
    "ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
}.items():
    os.environ.setdefault(f"DASK_DISTRIBUTED__{name}", value)
# The python3 of a machine may be a script that looks for one, at many times the cost of a bot.
os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background by a shell: what the tests start would ignore Ctrl-C as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)
pytest_terminal_summary = name_what_is_lacking
LONG = (
    *("cluster", "hostile", "web", "benchmarks", "daemon", "workshop", "postgres"),
    *("confinement", "languages", "tournament"),
)
"""Folders whose tests take long. They come first: no worker is left alone with them at the end."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        return LONG.index(folder) if folder in LONG else len(LONG)

    items.sort(key=place)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server, for all tests of this process that ask for one."""
    with server() as running:
        yield running
