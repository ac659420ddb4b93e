"""The tournament that clusters play in tests, and what has to come of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.cluster.clustering import DaskCluster, begin, bots_on, ended, some_games
from tests.tournament.playing import SALT
from tests.tournament.test_nothing_lost import games, tables
from tests.waiting import wait_for

GAMES = 40
NAMES = ("high", "low", "middle")


def words(bots: Path, *more: object) -> list[object]:
    named = [word for name in NAMES for word in ("--bot", bots / name)]
    # Blocks are short, so that several workers share a pairing of bots that are not stateless.
    fixed = ("--variant", "underdog", "--name", "same", "--sandbox", "none", "--block", 4)
    # Nobody is late, however slow the machine is.
    more = ("--time", "60s", *more)
    return [*fixed, "--seed", "7", "--salt", SALT, *named, "-n", GAMES, "--out", "t", *more]


def same(folder: Path, alone: Path) -> None:
    assert tables(folder / "t") == tables(alone)
    assert games(folder / "t") == games(alone)


def ends_the_same(process: subprocess.Popen[bytes], folder: Path, alone: Path) -> None:
    """With the same games and the same tables as without a cluster."""
    status, said = ended(process)
    assert status == 0, said
    same(folder, alone)


def under_way(
    bots: Path, cluster: DaskCluster, folder: Path, before: str = ""
) -> subprocess.Popen[bytes]:
    """A tournament that has games, and both workers of the cluster at work."""
    process = begin(folder, *words(bots, "--cluster", cluster.address), before=before)
    some_games(folder / "t")
    # A worker has two bots at the most.
    wait_for(lambda: len(bots_on(cluster)) > 2, "both workers at work")
    return process
