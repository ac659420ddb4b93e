"""At which levels the hostile bots are played: at all that this machine offers.

`REFEREE_TEST_LEVEL=full` restricts them to one level, and then its absence is an error.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from referee.bots.confinement.levels import Level
from referee.bots.confinement.probe import why_not
from tests.hostile.cases import LEVELS
from tests.hostile.running import Played, play_without
from tests.hostile.scene import Scene
from tests.once import shared_folder

HERE = Path(__file__).parent
ONE_LEVEL = "REFEREE_TEST_LEVEL"


def offered() -> tuple[str, ...]:
    return tuple(level for level in LEVELS if not lacking(level))


@cache
def lacking(level: str) -> str:
    """That this machine does not offer a level, and why; empty where it does."""
    missing = why_not(Level(level))
    return "" if missing is None else f"level {level} is not offered here: {missing.reason}"


def wanted() -> tuple[str, ...]:
    """The one that the environment names, or all that are offered."""
    named = os.environ.get(ONE_LEVEL)
    if named is None:
        return offered()
    if named not in LEVELS:
        raise pytest.UsageError(f"{ONE_LEVEL} is one of {', '.join(LEVELS)}, not {named}")
    return (named,)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "level" in metafunc.fixturenames:
        metafunc.parametrize("level", wanted(), indirect=True)


@pytest.fixture
def level(request: pytest.FixtureRequest) -> str:
    told = lacking(request.param)
    if told:
        pytest.fail(told)
    return str(request.param)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.slow)


def name_what_is_lacking(terminalreporter: pytest.TerminalReporter) -> None:
    """At the end of every run, of these tests or of others."""
    for level in LEVELS:
        if told := lacking(level):
            terminalreporter.write_line(f"hostile bots: {told}", yellow=True)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared_folder(tmp_path_factory)


@pytest.fixture(scope="session")
def programs(shared: Path) -> Path:
    """Where the compiled programs are."""
    return shared / "hostile-programs"


@pytest.fixture(scope="session")
def without(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Without:
    return Without(programs, tmp_path_factory)


class Without:
    """The games of the honest bots without a hostile one; played once for each kind."""

    def __init__(self, programs: Path, factory: pytest.TempPathFactory) -> None:
        self._programs = programs
        self._factory = factory
        self._played: dict[str, Played] = {}

    def __call__(self, level: str, games: int, options: dict[str, int | str]) -> Played:
        kind = f"{level} {games} {options}"
        if kind not in self._played:
            with Scene(self._factory.mktemp("without") / "tournament").set() as scene:
                self._played[kind] = play_without(scene, self._programs, level, games, options)
        return self._played[kind]
