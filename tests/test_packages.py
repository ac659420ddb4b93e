"""What the tests need is named in one command, and for `make test-full` its absence is an error."""

from __future__ import annotations

import os

import pytest

from tests import packages


@pytest.fixture(autouse=True)
def nobody_lacks_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who may install nothing, on a machine that has neither bwrap nor another kernel."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(packages, "missing", lambda: {"bwrap": "bubblewrap"})
    monkeypatch.setattr(packages, "lacking", lambda _: ["bubblewrap", "user-mode-linux"])


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        ((), 0, "Some tests need bwrap; they are skipped. To have it: {} bubblewrap"),
        (
            ("--full",),
            2,
            "test-full needs another kernel, and what boots it. To have it: {} bubblewrap "
            "user-mode-linux",
        ),
    ],
)
def test_one_command(
    words: tuple[str, ...], status: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert packages.main(words) == status
    assert capsys.readouterr().out == told.format("apt-get install --yes") + "\n"


def test_nothing_is_said_where_nothing_is_lacking(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(packages, "missing", dict)
    assert packages.main(()) == 0
    assert capsys.readouterr().out == ""
