"""What goes wrong on one machine is no fault of a bot, and does not hold the others up."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client, fire_and_forget

from tests.cli.running import referee
from tests.cluster.clustering import (
    DaskCluster,
    all_done,
    all_joined,
    begin,
    bot_folder,
    bots_on,
    ended,
    referees_on,
    some_games,
    stop,
    stored,
)
from tests.cluster.tournament import GAMES, ends_the_same, same, under_way, words
from tests.facts import Naming
from tests.packages import works
from tests.tournament.test_nothing_lost import games
from tests.waiting import wait_for

SYSTEM = "/usr/bin:/bin"
NEVER_GIVEN_UP = "from referee.cluster import stations; stations.SILENT_S = 600.0"


def checks(folder: Path, cluster: DaskCluster, check: str) -> list[tuple[str, str]]:
    """What the doctor says of every worker: status and reason."""
    done = referee(folder, "doctor", "--cluster", cluster.address, "--json")
    assert done.out, done.err
    return [
        (finding["status"], finding["reason"])
        for each in json.loads(done.out)["workers"]
        for finding in each["findings"]
        if finding["check"] == check
    ]


def program(folder: Path, name: str, does: str) -> Path:
    """A folder for a PATH, with this program in it."""
    folder.mkdir()
    (folder / name).write_text(f"#!/bin/sh\n{does}\n")
    (folder / name).chmod(0o755)
    return folder


def without_referee(folder: Path) -> Path:
    """A folder for a PYTHONPATH that hides it."""
    (folder / "without/referee").mkdir(parents=True)
    (folder / "without/referee/__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'referee'\", name='referee')\n"
    )
    return folder / "without"


def test_all_who_could_play_are_lost_and_others_come(
    bots: Path, alone: Path, cluster: DaskCluster, tmp_path: Path
) -> None:
    process = begin(tmp_path, *words(bots, "--cluster", cluster.file))
    some_games(tmp_path / "t")
    wait_for(lambda: bots_on(cluster) or None, "the worker at work")
    cluster.processes[-1].kill()
    cluster.start_worker()
    ends_the_same(process, tmp_path, alone)


def test_a_worker_process_that_is_killed_is_replaced(
    bots: Path, alone: Path, cluster: DaskCluster, tmp_path: Path
) -> None:
    process = begin(tmp_path, *words(bots, "--cluster", cluster.address))
    some_games(tmp_path / "t")
    [first] = wait_for(lambda: referees_on(cluster.processes[-1]) or None, "a worker process")
    os.kill(first, signal.SIGKILL)
    ends_the_same(process, tmp_path, alone)


@contextlib.contextmanager
def killed_again_and_again(worker: subprocess.Popen[bytes]) -> Iterator[None]:
    """Whatever process of the referee this worker starts."""
    over = threading.Event()

    def kill() -> None:
        while not over.wait(0.02):
            for pid in referees_on(worker):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield
    finally:
        over.set()
        killer.join()


def test_a_machine_that_fails_every_time_gets_nothing_more(
    bots: Path, alone: Path, cluster: DaskCluster, tmp_path: Path
) -> None:
    bad = cluster.start_worker()
    all_joined(cluster, 2)
    with killed_again_and_again(bad):
        status, said = ended(begin(tmp_path, *words(bots, "--cluster", cluster.address)))
    assert status == 0, said
    assert said == Naming("plays nothing: it failed 3 times", "LostWorker")
    same(tmp_path, alone)


def test_where_every_machine_fails_it_ends_and_tells_how_to_go_on(
    bots: Path, alone: Path, cluster: DaskCluster, tmp_path: Path
) -> None:
    process = begin(tmp_path, *words(bots, "--cluster", cluster.address))
    some_games(tmp_path / "t")
    with killed_again_and_again(cluster.processes[-1]):
        status, said = ended(process)
    assert status == 3, said
    games_there = len(stored(tmp_path / "t"))
    assert f"{games_there} games in the store; go on with: referee tournament --resume t" in said
    assert f"no worker of {cluster.address} can play any more: " in said
    resume = ("--resume", "t", "--cluster", cluster.address)
    ends_the_same(begin(tmp_path, *resume, "--sandbox", "none"), tmp_path, alone)


def test_a_machine_that_stands_still_with_a_result(
    bots: Path, alone: Path, cluster: DaskCluster, tmp_path: Path
) -> None:
    """The chunk is played, and cannot be fetched: nobody else waits for it."""
    cluster.start_worker()
    all_joined(cluster, 2)
    # It is not given up in this test, so that whoever waited for it would wait in vain.
    process = under_way(bots, cluster, tmp_path, before=NEVER_GIVEN_UP)
    os.kill(process.pid, signal.SIGSTOP)
    all_done(cluster)
    stop(cluster.processes[-1])
    before = len(stored(tmp_path / "t"))
    os.kill(process.pid, signal.SIGCONT)
    some_games(tmp_path / "t", before)
    wait_for(lambda: bots_on(cluster), "the other worker at work")
    os.kill(cluster.processes[-1].pid, signal.SIGCONT)
    ends_the_same(process, tmp_path, alone)


def test_a_machine_that_does_not_answer_from_the_start(
    bots: Path, alone: Path, cluster: DaskCluster, tmp_path: Path
) -> None:
    mute = cluster.start_worker()
    all_joined(cluster, 2)
    stop(mute)
    ends_the_same(begin(tmp_path, *words(bots, "--cluster", cluster.address)), tmp_path, alone)
    [(status_told, reason)] = checks(tmp_path, cluster, "answer")
    assert status_told == "fail"
    assert "does not answer" in reason
    assert [told for told, _ in checks(tmp_path, cluster, "version")] == ["pass"]


def test_a_machine_on_which_no_bot_starts_is_blamed_for_it(
    bots: Path, alone: Path, cluster: DaskCluster, tmp_path: Path
) -> None:
    broken = program(tmp_path / "bin", "python3", "echo a library is missing >&2; exit 127")
    cluster.start_worker(PATH=f"{broken}:{SYSTEM}")
    all_joined(cluster, 2)
    status, said = ended(begin(tmp_path, *words(bots, "--cluster", cluster.address)))
    assert status == 0, said
    assert {record["ending"] for record in games(tmp_path / "t")} == {"rules"}
    same(tmp_path, alone)


def test_a_machine_that_is_slow_does_not_hold_up_the_end(
    bots: Path, cluster: DaskCluster, tmp_path: Path
) -> None:
    """One game there would take longer than the test waits."""
    slower = 'exec /usr/bin/python3 -S -c "$(sed "s/sleep(0.01)/sleep(60)/" bot.py)"'
    cluster.start_worker(PATH=f"{program(tmp_path / 'bin', 'python3', slower)}:{SYSTEM}")
    all_joined(cluster, 2)
    asked = words(bots, "--cluster", cluster.address, "--time", "10m")
    status, said = ended(begin(tmp_path, *asked))
    assert status == 0, said
    records = games(tmp_path / "t")
    assert len(records) == 3 * GAMES
    assert {record["ending"] for record in records} == {"rules"}


def test_bots_that_start_nowhere_are_out(cluster: DaskCluster, tmp_path: Path) -> None:
    """Each of two machines is the first to say so of one of them; neither is blamed for it."""
    cluster.start_worker()
    all_joined(cluster, 2)
    named: list[object] = ["--bot", "lowest"]
    for name in ("broken", "shattered"):
        folder = bot_folder(tmp_path, name, 0)
        (folder / "bot.py").write_text("raise SystemExit(5)\n")
        named += ["--bot", folder]
    fixed = ("--variant", "underdog", "--sandbox", "none", "--out", "t", "-n", 4)
    status, said = ended(begin(tmp_path, *fixed, *named, "--cluster", cluster.address))
    assert status == 0, said
    assert "broken is out: " in said
    assert "shattered is out: " in said
    assert {record["ending"] for record in games(tmp_path / "t")} == {"forfeit", "void"}


def test_a_machine_that_joins_while_another_stands_still_is_sent_what_it_lacks(
    bots: Path, alone: Path, cluster: DaskCluster, tmp_path: Path
) -> None:
    still = cluster.start_worker()
    all_joined(cluster, 2)
    process = under_way(bots, cluster, tmp_path)
    stop(still)
    cluster.processes[1].kill()
    cluster.start_worker(XDG_CACHE_HOME=str(tmp_path / "cache"))
    ends_the_same(process, tmp_path, alone)


def test_a_machine_that_plays_nothing_does_not_end_the_wait_for_others(
    bots: Path, alone: Path, cluster: DaskCluster, tmp_path: Path
) -> None:
    cluster.start_worker(PYTHONPATH=str(without_referee(tmp_path)))
    all_joined(cluster, 2)
    process = begin(tmp_path, *words(bots, "--cluster", cluster.address))
    some_games(tmp_path / "t")
    cluster.processes[1].kill()
    all_joined(cluster, 1)
    time.sleep(1)
    assert process.poll() is None
    cluster.start_worker()
    ends_the_same(process, tmp_path, alone)


@pytest.mark.skipif(not works("gcc"), reason="gcc or its C library is not installed")
def test_a_machine_without_the_compiler_does_not_play_the_bot(
    cluster: DaskCluster, tmp_path: Path
) -> None:
    bare = program(tmp_path / "bin", "cc", "exit 1")
    cache = str(tmp_path / "cache")
    cluster.start_worker(PATH=f"{bare}:{SYSTEM}", XDG_CACHE_HOME=cache)
    all_joined(cluster, 2)
    fixed = ("--variant", "underdog", "--sandbox", "none", "--out", "t")
    named = ("--bot", "highest-c", "--bot", "lowest", "--bot", "random")
    process = begin(tmp_path, *fixed, *named, "-n", 200, "--cluster", cluster.address)
    status, said = ended(process)
    assert status == 0, said
    assert {record["ending"] for record in games(tmp_path / "t")} == {"rules"}
    assert not list((tmp_path / "cache/referee/builds").glob("highest-c-*.whole"))
    assert list((tmp_path / "cache/referee/parcels").glob("*.whole"))


def test_two_bots_that_no_machine_can_play_together(cluster: DaskCluster, tmp_path: Path) -> None:
    cluster.processes[-1].kill()
    for name in ("this", "that"):
        folder = bot_folder(tmp_path, name, 0)
        command = (folder / "bot.toml").read_text().replace("python3", f"run{name}")
        (folder / "bot.toml").write_text(command)
        tool = program(tmp_path / f"bin-{name}", f"run{name}", 'exec python3 "$@"')
        cluster.start_worker(PATH=f"{tool}:{SYSTEM}")
    all_joined(cluster, 2)
    fixed = ("--variant", "underdog", "--sandbox", "none", "--out", "t", "-n", 4)
    named = ("--bot", tmp_path / "this", "--bot", tmp_path / "that", "--bot", "lowest")
    status, said = ended(begin(tmp_path, *fixed, *named, "--cluster", cluster.address))
    assert status == 3, said
    assert "that against this: " in said or "this against that: " in said
    assert "cannot play this: the command runthis was not found" in said


def test_a_machine_without_the_referee_is_told_of_and_lives_on(
    bots: Path, alone: Path, cluster: DaskCluster, tmp_path: Path
) -> None:
    without = cluster.start_worker(PYTHONPATH=str(without_referee(tmp_path)))
    all_joined(cluster, 2)
    told = sorted(checks(tmp_path, cluster, "version"))
    assert [status for status, _ in told] == ["fail", "pass"]
    assert "it has no referee; install referee[cluster]" in told[0][1]
    status, said = ended(begin(tmp_path, *words(bots, "--cluster", cluster.address)))
    assert status == 0, said
    assert "plays nothing: it has no referee" in said
    assert without.poll() is None
    same(tmp_path, alone)


def test_a_machine_whose_code_differs_gets_nothing(cluster: DaskCluster, tmp_path: Path) -> None:
    import referee as package

    other = tmp_path / "other"
    shutil.copytree(Path(package.__file__).parent, other / "referee")
    with (other / "referee/table.py").open("a") as module:
        module.write("\n# another rule\n")
    cluster.start_worker(PYTHONPATH=str(other))
    all_joined(cluster, 2)
    told = sorted(checks(tmp_path, cluster, "version"))
    assert [status for status, _ in told] == ["fail", "pass"]
    assert "the files differ" in told[0][1]


def test_the_clock_of_a_worker_that_is_busy(cluster: DaskCluster, tmp_path: Path) -> None:
    with Client(cluster.address, set_as_default=False) as client:
        fire_and_forget(client.submit(time.sleep, 4, pure=False))
        assert checks(tmp_path, cluster, "clock") == [("pass", "agrees with this machine's")]


def test_what_was_thrown_away_on_a_machine_is_sent_again(
    bots: Path, alone: Path, cluster: DaskCluster, tmp_path: Path
) -> None:
    process = begin(tmp_path, *words(bots, "--cluster", cluster.address))
    some_games(tmp_path / "t")
    os.kill(process.pid, signal.SIGSTOP)
    all_done(cluster)
    shutil.rmtree(cluster.folder / "referee/parcels")
    os.kill(process.pid, signal.SIGCONT)
    ends_the_same(process, tmp_path, alone)


def test_processes_that_have_nothing_to_do_end(
    bots: Path, cluster: DaskCluster, tmp_path: Path
) -> None:
    status, said = ended(begin(tmp_path, *words(bots, "--cluster", cluster.address, "-n", 4)))
    assert status == 0, said
    assert referees_on(cluster.processes[-1])
    wait_for(lambda: not referees_on(cluster.processes[-1]) or None, "it to end")
