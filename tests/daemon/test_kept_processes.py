"""Processes of stateless bots live on from pairing to pairing of a ladder, too."""

from __future__ import annotations

import contextlib
from pathlib import Path

from referee.bots.manifest import read_bot
from tests.daemon.serving import Daemon, processes_of, serving
from tests.waiting import wait_for

NAMES = {"highest", "lowest", "random", "underdog-mixer"}
"""The samples that play underdog and are stateless."""


def processes(daemon: Daemon) -> set[tuple[str, int]]:
    """Each bot runs in its own folder."""
    found = set()
    for pid in processes_of(daemon.process.pid, b"bot.py"):
        with contextlib.suppress(OSError):  # It has ended meanwhile.
            found.add((read_bot(Path(f"/proc/{pid}/cwd").readlink()).name, pid))
    return {(name, pid) for name, pid in found if name in NAMES}


def test_stateless_bots_are_started_once_on_a_ladder(tmp_path: Path) -> None:
    options = ("--no-web", "--bots", "none", "--variant", "underdog")
    with serving(tmp_path / "data", *options) as daemon:
        wait_for(lambda: {name for name, _ in processes(daemon)} == NAMES, "all of them")
        before, games = processes(daemon), len(daemon.games())
        daemon.wait_for_games(games + 60)
        # One that was late on a busy machine was started anew.
        assert processes(daemon) & before
        assert daemon.stop() == 0
