"""Bots for clusters, and the tournament that they play without one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import referee
from tests.cluster.clustering import DaskCluster, bot_folder, dask_cluster
from tests.cluster.tournament import NAMES, words
from tests.once import once


@pytest.fixture(scope="package")
def bots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bots that take 10 ms a move, so that chunks last."""

    def write(folder: Path) -> None:
        for place, name in zip((-1, 0, 1), NAMES, strict=True):
            bot_folder(folder, name, place, 0.01)

    return once(tmp_path_factory, "slow-bots", write)


@pytest.fixture(scope="package")
def alone(bots: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same tournament on this machine, by one worker."""

    def play(folder: Path) -> None:
        done = referee(folder, "tournament", *words(bots, "--jobs", 1))
        assert done.status == 0, done.err

    return once(tmp_path_factory, "alone", play) / "t"


@pytest.fixture(scope="package")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    with dask_cluster(tmp_path_factory.mktemp("cluster"), workers=1) as there:
        yield there


@pytest.fixture
def cluster(standing: DaskCluster) -> DaskCluster:
    """A scheduler, and one worker: the last of its processes. It may be killed, not stopped."""
    standing.tidy()
    return standing
