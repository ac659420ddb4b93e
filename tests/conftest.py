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
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

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
SHARED = ("tests/cluster/", "tests/postgres/", "tests/web/pages/")
"""Folders whose tests share what is dear to start: a cluster, a database server, a browser."""


class ByFile(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """A file of tests stays with one worker, and so does a folder whose tests share something."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return next((folder for folder in SHARED if file.startswith(folder)), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ByFile:
    return ByFile(config, log)


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
