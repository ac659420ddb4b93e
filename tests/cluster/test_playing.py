"""Tournaments on a real cluster: the same tables as anywhere, and whoever is lost loses nothing."""

from __future__ import annotations

import os
import signal
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from distributed import Future

from referee.cluster.flights import Flight
from referee.cluster.stations import Station
from referee.tournament.chunk import Chunk
from tests.cli.running import referee
from tests.cluster.clustering import (
    DaskCluster,
    all_joined,
    begin,
    bots_on,
    dask_cluster,
    ended,
    referees_on,
    some_games,
    stop,
    stored,
)
from tests.cluster.partition import cables
from tests.cluster.tournament import GAMES, NAMES, ends_the_same, same, under_way, words
from tests.loopback import free_port
from tests.tournament.test_nothing_lost import games
from tests.tournament.test_restart import bots as lasting_bots
from tests.tournament.test_restart import play
from tests.tournament.test_workers import chunk
from tests.waiting import PATIENCE_S, wait_for


@pytest.fixture
def pair(cluster: DaskCluster) -> DaskCluster:
    """With two workers."""
    cluster.start_worker()
    all_joined(cluster, 2)
    return cluster


def test_the_same_bytes_as_alone(
    bots: Path, alone: Path, pair: DaskCluster, tmp_path: Path
) -> None:
    ends_the_same(begin(tmp_path, *words(bots, "--cluster", pair.address)), tmp_path, alone)
    (four := tmp_path / "four").mkdir()
    assert referee(four, "tournament", *words(bots, "--jobs", 4)).status == 0
    same(four, alone)
    logs = list((tmp_path / "t" / "logs").rglob("*.txt"))
    assert logs
    assert "hello from stderr" in logs[0].read_text()


def test_a_station_keeps_the_processes_of_stateless_bots(tmp_path: Path) -> None:
    """Each bot is started once by each station at most, and its stderr is filed by pairing."""
    lasting = lasting_bots(tmp_path, stateless=True)
    # Locks of cores are in that folder: a worker that gets its core late ends what it keeps.
    with dask_cluster(tmp_path / "cluster", TMPDIR=str(tmp_path)) as pair:
        logs = play(tmp_path, lasting, games=20, where=("--cluster", pair.address))
    for name, starts in logs.starts.items():
        assert 1 <= len(starts) <= 2, name
        assert sum(map(len, logs.games[name].values())) == 3 * 20


def test_a_local_cluster(bots: Path, alone: Path, tmp_path: Path) -> None:
    ends_the_same(begin(tmp_path, *words(bots, "--cluster", "local", "--jobs", 2)), tmp_path, alone)


def test_no_hand_is_dealt_twice_where_chance_is_hidden(bots: Path, tmp_path: Path) -> None:
    two = [word for name in NAMES[:2] for word in ("--bot", bots / name)]
    deck = ["--variant", "deck", *two, "-n", 6, "--sandbox", "none", "--out", "t"]
    assert ended(begin(tmp_path, *deck, "--cluster", "local", "--jobs", 1))[0] == 0
    assert len({str(game["chance"][0]) for game in games(tmp_path / "t")}) == 6


@pytest.mark.parametrize("own_chance", [False, True])
def test_another_attempt_at_a_chunk_is_dealt_what_nobody_knows(own_chance: bool) -> None:
    """A cluster has a chunk tried again; a game with chance of its own gets another one."""
    flight = Flight(object(), chunk(4, variant="deck", own_chance=own_chance))
    here, branches = Station(address="here", threads=1), []
    for _ in range(3):
        assert isinstance(flight.order, Chunk)
        branches.append(flight.order.branch)
        flight.begin(here, Future("a chunk"))
    assert len(set(branches)) == (3 if own_chance else 1)


def test_a_worker_that_is_killed(
    bots: Path, alone: Path, pair: DaskCluster, tmp_path: Path
) -> None:
    process = under_way(bots, pair, tmp_path)
    pair.processes[-1].kill()
    wait_for(lambda: len(bots_on(pair)) <= 2 or None, "its bots to end")
    ends_the_same(process, tmp_path, alone)


def test_a_worker_that_joins_late(
    bots: Path, alone: Path, cluster: DaskCluster, tmp_path: Path
) -> None:
    process = begin(tmp_path, *words(bots, "--cluster", cluster.address))
    some_games(tmp_path / "t")
    # Nothing more is given out until it is there.
    os.kill(process.pid, signal.SIGSTOP)
    cluster.start_worker()
    all_joined(cluster, 2)
    os.kill(process.pid, signal.SIGCONT)
    wait_for(lambda: len(bots_on(cluster)) > 2, "both workers at work")
    ends_the_same(process, tmp_path, alone)


def test_a_scheduler_that_is_started_anew(bots: Path, alone: Path, tmp_path: Path) -> None:
    with dask_cluster(tmp_path / "cluster") as cluster:
        process = begin(tmp_path, *words(bots, "--cluster", cluster.address))
        some_games(tmp_path / "t")
        cluster.scheduler.kill()
        for each in cluster.processes:
            each.wait(PATIENCE_S)  # Dask's workers end with their scheduler.
        wait_for(lambda: bots_on(cluster) == [] or None, "bots to end with their workers")
        cluster.start_scheduler()
        cluster.start_worker()
        cluster.start_worker()
        ends_the_same(process, tmp_path, alone)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_coordinator_that_is_gone_and_comes_back(
    bots: Path, alone: Path, pair: DaskCluster, tmp_path: Path, number: int
) -> None:
    process = begin(tmp_path, *words(bots, "--cluster", pair.address))
    kept = some_games(tmp_path / "t")
    process.send_signal(number)
    process.communicate()
    wait_for(lambda: bots_on(pair) == [] or None, "bots that nobody wants to end")
    there = stored(tmp_path / "t")
    assert kept <= there
    status, said = ended(
        begin(tmp_path, "--resume", "t", "--cluster", pair.address, "--sandbox", "none")
    )
    assert status == 0, said
    same(tmp_path, alone)


def test_a_machine_that_cannot_be_reached_does_not_hold_up_the_end(
    bots: Path, alone: Path, pair: DaskCluster, tmp_path: Path
) -> None:
    process = under_way(bots, pair, tmp_path)
    stop(pair.processes[-1])
    # Dask gives the worker up after five minutes: nobody waits for that.
    status, said = ended(process)
    assert status == 0, said
    same(tmp_path, alone)


@pytest.mark.parametrize("mended", [False, True])
def test_a_network_that_is_cut(bots: Path, alone: Path, tmp_path: Path, mended: bool) -> None:
    """The worker behind it plays on, and whatever of it arrives in the end counts once."""
    with ExitStack() as stack:
        cluster = stack.enter_context(dask_cluster(tmp_path / "cluster", workers=1))
        port = free_port(cluster.here)
        out, back = stack.enter_context(cables(cluster.here, cluster.port, port))
        cluster.start_worker_behind(out.address, port, back.address)
        process = under_way(bots, cluster, tmp_path)
        out.cut()
        back.cut()
        if mended:
            some_games(tmp_path / "t", len(stored(tmp_path / "t")) + GAMES // 2)
            out.mend()
            back.mend()
        status, said = ended(process)
        assert status == 0, said
    same(tmp_path, alone)


def test_a_host_that_stands_still_costs_no_bot_a_game(
    bots: Path, cluster: DaskCluster, tmp_path: Path
) -> None:
    """Clocks are the worker's: it sees by itself that it slept while a bot was to move."""
    # Bots are started for each pairing alone: while they are, no clock runs.
    more = ("--time", "2s", "--block", GAMES)
    process = begin(tmp_path, *words(bots, "--cluster", cluster.address, *more))
    some_games(tmp_path / "t")
    wait_for(lambda: len(bots_on(cluster)) == 2 or None, "the worker at work")
    referees = referees_on(cluster.processes[-1])
    assert len(referees) == 1
    for _ in range(3):
        os.kill(referees[0], signal.SIGSTOP)
        time.sleep(2.5)
        os.kill(referees[0], signal.SIGCONT)
        time.sleep(1.5)  # Many games: one that is hit three times would be void.
    status, said = ended(process)
    assert status == 0, said
    assert "The host stood still" in said
    records = games(tmp_path / "t")
    assert len(records) == 3 * GAMES
    assert {record["ending"] for record in records} == {"rules"}
    assert max(record["attempt"] for record in records) >= 2
