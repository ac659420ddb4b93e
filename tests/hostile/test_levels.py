"""Which levels the other tests of this folder have played at. One that is lacking has a name."""

from __future__ import annotations

import os

import pytest

from tests.hostile.cases import LEVELS
from tests.hostile.conftest import ONE_LEVEL, lacking, wanted


@pytest.mark.parametrize("name", LEVELS)
def test_level_is_offered(name: str) -> None:
    """Skips with the reason where this machine does not offer it, so that the summary says so."""
    if told := lacking(name):
        pytest.skip(told)
    if ONE_LEVEL not in os.environ:
        assert name in wanted()


def test_what_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ONE_LEVEL, raising=False)
    assert wanted()[-1] == "none", "which every machine offers"
    assert all(not lacking(level) for level in wanted())
    monkeypatch.setenv(ONE_LEVEL, "full")
    assert wanted() == ("full",), "whether it is offered or not: its absence is an error"
    monkeypatch.setenv(ONE_LEVEL, "strong")
    with pytest.raises(pytest.UsageError, match="is one of full, standard, none, not strong"):
        wanted()
