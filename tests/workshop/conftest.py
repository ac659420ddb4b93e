"""A place for bots that are confined."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workshop.confined import must_offer_standard, open_folder


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for confined bots; the test is skipped where there can be none."""
    must_offer_standard()
    with open_folder() as folder:
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        yield folder
