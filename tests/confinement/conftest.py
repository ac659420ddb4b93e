"""What holds for all tests of confinement."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.bots import cache


@pytest.fixture(scope="session", autouse=True)
def built_anew() -> Iterator[None]:
    """What root has built for confined bots in an earlier run would not be built again."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        Path(folder).chmod(0o755)  # bots are another user's
        patch.setattr(cache, "FOR_BOTS", Path(folder))
        yield


@pytest.fixture
def open_path() -> Iterator[Path]:
    """A folder that the bots' user can enter. Those that pytest gives are closed, and whoever opens
    them has them closed again by the next run that begins beside this one."""
    with tempfile.TemporaryDirectory(prefix="open-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
