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
