"""One contest is played for all tests, and each that changes something gets a copy."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web import contest
from tests.web.serving import Web, serving


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> contest.Contest:
    return contest.make(tmp_path_factory.mktemp("contest") / "data")


@pytest.fixture(scope="module")
def shared(
    played: contest.Contest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Web, contest.Contest]]:
    """A web process for tests that change nothing."""
    data = tmp_path_factory.mktemp("shared") / "data"
    shutil.copytree(played.data, data)
    with serving(data) as web:
        yield web, played.copied_to(data)


@pytest.fixture
def own(played: contest.Contest, tmp_path: Path) -> contest.Contest:
    """A contest to change."""
    data = tmp_path / "data"
    shutil.copytree(played.data, data)
    return played.copied_to(data)
