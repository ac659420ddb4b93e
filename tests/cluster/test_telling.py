"""What is said while a cluster plays, and of what it cannot do."""

from __future__ import annotations

import os
import re
import select
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import on_terminal, referee
from tests.cli.test_terminal import plain
from tests.cluster.clustering import (
    DaskCluster,
    begin,
    bot_folder,
    dask_cluster,
    ended,
    some_games,
)
from tests.waiting import PATIENCE_S, wait_for

WORKERS = 3
WIDTH = 80
NOBODY = "tcp://127.0.0.1:9"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    with dask_cluster(tmp_path_factory.mktemp("cluster"), workers=WORKERS) as there:
        yield there


@pytest.fixture(scope="module")
def bots(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    folder = tmp_path_factory.mktemp("bots")
    low, high = bot_folder(folder, "low", 0, 0.01), bot_folder(folder, "high", -1, 0.01)
    return ["--variant", "underdog", "--sandbox", "none", "--bot", low, "--bot", high]


def all_there(folder: Path, cluster: DaskCluster) -> None:
    """Workers take a moment to join."""

    def look() -> bool | None:
        done = referee(folder, "doctor", "--cluster", cluster.address)
        return done.out.count(" cores, ") == WORKERS or None

    wait_for(look, "all workers")


def test_the_plan_is_that_of_the_cluster(
    bots: list[object], cluster: DaskCluster, tmp_path: Path
) -> None:
    all_there(tmp_path, cluster)
    done = referee(tmp_path, "tournament", *bots, "--plan", "--cluster", cluster.address)
    assert done.status == 0, done.err
    assert f"worst case with {WORKERS} jobs: " in done.out


def test_a_terminal_shows_as_many_workers_as_fit(
    bots: list[object], cluster: DaskCluster, tmp_path: Path
) -> None:
    all_there(tmp_path, cluster)
    words = ("tournament", *bots, "-n", 60, "--cluster", cluster.address)
    status, seen = on_terminal(tmp_path, *words, width=WIDTH)
    assert status == 0, seen
    assert f"underdog, 60 games, on {WORKERS} workers with {WORKERS} threads, in " in seen
    drawn = [plain(line) for line in re.split(r"\n|\x1b\[2K", seen) if " in flight" in line]
    assert drawn
    for line in drawn:
        assert len(line) <= WIDTH
        assert line.rstrip().endswith(f" and {WORKERS - 1} more"), line


@pytest.mark.parametrize("more", [(), ("--resume", "t")])
def test_a_cluster_has_its_own_workers(more: tuple[str, ...], tmp_path: Path) -> None:
    done = referee(tmp_path, "tournament", *more, "--jobs", 1, "--cluster", NOBODY)
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        f"referee: --jobs is for workers of this machine, and {NOBODY} has its own: leave it out, "
        "or say --cluster local\n"
    )


def test_jobs_of_a_spec_are_for_other_places(
    bots: list[object], cluster: DaskCluster, tmp_path: Path
) -> None:
    all_there(tmp_path, cluster)
    (tmp_path / "spec.toml").write_text('variant = "underdog"\njobs = 1\n')
    words = ("spec.toml", *bots, "-n", 2, "--cluster", cluster.address)
    done = referee(tmp_path, "tournament", *words)
    assert done.status == 0, done.err
    assert f"on {WORKERS} workers with {WORKERS} threads" in done.err


def test_waiting_for_workers(bots: list[object], tmp_path: Path) -> None:
    with dask_cluster(tmp_path / "cluster", workers=1) as cluster:
        words = (*bots, "-n", 400, "--block", 4, "--cluster", cluster.address, "--out", "t")
        process = begin(tmp_path, *words)
        some_games(tmp_path / "t")
        cluster.processes[-1].kill()
        try:
            said = until(process, "games; waiting for workers")
        finally:
            process.terminate()
            status, _ = ended(process)
        assert status == 143
    assert "on 1 worker with 1 thread, in t" in said
    last = said.splitlines()[-1]
    assert re.fullmatch(r"\d+ of 400 games; waiting for workers", last), said
    done = referee(tmp_path, "tournament", "--resume", "t", "--cluster", NOBODY)
    assert done.status == 3
    [why] = done.err.splitlines()
    assert why.startswith("referee: no dask scheduler ")


def until(process: subprocess.Popen[bytes], words: str) -> str:
    """What a command says up to the line with these words."""
    assert process.stderr is not None
    said = b""
    deadline = time.monotonic() + PATIENCE_S
    while words.encode() not in said or not said.endswith(b"\n"):
        ready, _, _ = select.select([process.stderr], [], [], deadline - time.monotonic())
        data = os.read(process.stderr.fileno(), 65536) if ready else b""
        assert data, said.decode()
        said += data
    return said.decode()
