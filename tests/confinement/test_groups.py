"""Which control group is the referee's to use: one that was handed over, and no other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from referee.bots.confinement import cgroups
from referee.bots.confinement.cgroups import NoCgroups, unit


@pytest.fixture
def scope(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A group as a terminal of a desktop has it: its user may write to all of it."""
    group = tmp_path / "app.slice" / "terminal-of-a-test.scope"
    group.mkdir(parents=True)
    for folder in (tmp_path, group):
        (folder / "cgroup.controllers").write_text("cpu memory pids\n")
    (group / "cgroup.procs").write_text("")
    monkeypatch.setattr(cgroups, "_top", lambda: tmp_path)
    monkeypatch.setattr(cgroups, "_own_group", lambda: group)
    return group


def mark(group: Path, value: bytes) -> None:
    try:
        os.setxattr(group, "user.delegate", value)
    except OSError:
        pytest.skip("this file system has no attributes")


@pytest.mark.parametrize("user", [0, 1000])
def test_that_one_may_write_to_it_is_not_enough(
    scope: Path, monkeypatch: pytest.MonkeyPatch, user: int
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    with pytest.raises(NoCgroups, match="was not handed over to the referee") as no:
        unit()
    assert no.value.remedy.startswith("systemd-run --user" if user else "systemd-run --scope")
    mark(scope, b"0")
    with pytest.raises(NoCgroups, match="was not handed over to the referee"):
        unit()


@pytest.mark.parametrize("user", [0, 1000])
def test_one_that_was_handed_over(scope: Path, monkeypatch: pytest.MonkeyPatch, user: int) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    mark(scope, b"1")
    assert unit() == scope
    (scope / "cgroup.controllers").write_text("cpu pids\n")
    with pytest.raises(NoCgroups, match="has no memory controller"):
        unit()


def test_systemd_is_asked_for_this_very_group(
    scope: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where root alone sees the mark. A program stands in for systemd's own."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    (tmp_path / "bin").mkdir()
    systemctl = tmp_path / "bin/systemctl"
    systemctl.touch(mode=0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    for where, delegate, taken in (
        ("/app.slice/terminal-of-a-test.scope", "yes", True),
        ("/app.slice/terminal-of-a-test.scope", "no", False),
        ("/elsewhere/terminal-of-a-test.scope", "yes", False),
        ("", "yes", False),
    ):
        said = f"ControlGroup={where}\\nDelegate={delegate}\\n"
        systemctl.write_text(f"#!/bin/sh\nprintf '{said}'\n")
        if taken:
            assert unit() == scope
        else:
            with pytest.raises(NoCgroups, match="not handed over"):
                unit()
