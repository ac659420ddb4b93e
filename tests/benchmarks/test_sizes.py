"""A benchmark has a usual size and a small one."""

from __future__ import annotations

import sys

import pytest

from benchmarks.sizes import NOTE, SizeParser


def asked(monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[int, list[int]]:
    monkeypatch.setattr(sys, "argv", ["bench", *words])
    parser = SizeParser("A benchmark.\n")
    parser.add_size("--games", 1_000, 2)
    parser.add_size("--bots", [10, 20], [3], nargs="+")
    found = parser.sizes()
    return found.games, found.bots


def test_the_usual_size(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(monkeypatch) == (1_000, [10, 20])
    assert NOTE not in capsys.readouterr().out


def test_a_small_run_says_that_it_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(monkeypatch, "--small") == (2, [3])
    assert NOTE in capsys.readouterr().out


def test_a_named_size_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(monkeypatch, "--games", "7", "--small") == (7, [3])
