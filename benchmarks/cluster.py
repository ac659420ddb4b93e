"""What a cluster brings, and what its coordinator pays for a chunk and for a game.

    make bench-cluster

Scheduler, workers and coordinator are processes of their own on this machine.

(a) Bots that burn 2 ms of CPU a move: games per second with two workers, as a ratio to one, starts
    of bots left out.
(b) Quick bots, 64 games at once: pairings of two games, each a chunk, and beside them long ones,
    whose chunks have thousands. From both follow what a chunk costs and what a game costs: CPU
    time of the coordinator's process, dask's client included, and time for which its one thread
    that keeps the games was not waiting. Of commits and of the scheduler's CPU time too.

Chunks are BUDGET_S of play: from what one costs follows the number of workers that the coordinator
can serve.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import BIN, HERE, build

from referee.tournament.ledger import BUDGET_S

BURN_US = 2000
Found = dict[str, Any]


@contextlib.contextmanager
def cluster(folder: Path, workers: int) -> Iterator[tuple[str, int]]:
    """Its address, and the scheduler's process."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    started: list[subprocess.Popen[bytes]] = []

    def start(module: str, *words: str) -> None:
        command = [sys.executable, "-m", f"distributed.cli.{module}", *words]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        home = {**os.environ, "XDG_CACHE_HOME": str(folder)}
        started.append(subprocess.Popen(command, cwd=folder, env=home, **quiet))

    here = ("--host", "127.0.0.1", "--no-dashboard")
    try:
        start("dask_scheduler", *here, "--port", str(port), "--no-show")
        for number in range(workers):
            scratch = str(folder / f"scratch-{number}")
            more = ("--no-nanny", "--nthreads", "1", "--local-directory", scratch)
            start("dask_worker", address, *here, *more)
        # A coordinator gives up on a scheduler that is not there yet.
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        yield address, started[0].pid
    finally:
        # Asked to end, a worker may wait for its scheduler for ever; its children end with it.
        for process in started:
            process.kill()
        for process in started:
            process.wait()


def played(jobs: int, games: int, burn_us: int, bots: int = 4) -> Found:
    named = [f"c{number}={BIN / 'bot'} 64 {burn_us}" for number in range(bots)]
    spec = {
        **{"name": "bench", "variants": ["underdog"], "bots": named},
        **{"games": games, "jobs": jobs, "sandbox": "none"},
    }
    with (
        tempfile.TemporaryDirectory(prefix="referee-bench-", ignore_cleanup_errors=True) as folder,
        cluster(Path(folder), jobs) as (address, scheduler),
    ):
        words = [address, json.dumps(spec), f"{folder}/t", str(scheduler)]
        command = [sys.executable, str(HERE / "coordinating.py"), *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    result: Found = json.loads(done.stdout.splitlines()[-1])
    result["games_per_s"] = result["new"] / (result["took_s"] - result["starting_s"])
    return result


def shares(short: Found, long: Found, name: str) -> tuple[float, float]:
    """Seconds a chunk and seconds a game, which explain both runs; none is below 0."""
    one, other = short["between"], long["between"]
    determinant = one["chunks"] * other["games"] - other["chunks"] * one["games"]
    if determinant <= 0:
        return one[name] / max(one["chunks"], 1), 0.0
    chunk = (one[name] * other["games"] - other[name] * one["games"]) / determinant
    game = (one["chunks"] * other[name] - other["chunks"] * one[name]) / determinant
    return max(chunk, 0.0), max(game, 0.0)


def costs(asked: argparse.Namespace) -> Found:
    """(b)"""
    short = played(asked.workers, 2, 0, asked.bots)
    long = played(asked.workers, asked.quick, 0)
    cpu_chunk, cpu_game = shares(short, long, "cpu_s")
    busy_chunk, busy_game = shares(short, long, "busy_s")
    chunks = short["between"]["chunks"]
    found = {
        "chunk_cpu_ms": cpu_chunk * 1e3,
        "coordinator_us": cpu_game * 1e6,
        "chunk_busy_ms": busy_chunk * 1e3,
        "game_busy_us": busy_game * 1e6,
        "commit_ms": short["between"]["commit_s"] / chunks * 1e3,
        "scheduler_chunk_ms": short["between"]["scheduler_s"] / chunks * 1e3,
        "line_bytes": long["line_bytes"],
        "quick_games_per_s": long["games_per_s"] / asked.workers,
        "quick_games_a_chunk": long["between"]["games"] / max(long["between"]["chunks"], 1),
    }
    told = ", ".join(f"{name} {value:.2f}" for name, value in found.items())
    print(f"  {chunks:.0f} short chunks: {told}", flush=True)
    return found


def most_chunks(found: Found, games: float) -> float:
    """Chunks a second of so many games that the coordinator can take: its threads share one lock of
    Python, so what counts is the CPU time of all, and a commit on top."""
    kept_s = (found["chunk_cpu_ms"] + found["commit_ms"]) / 1e3
    return 1 / (kept_s + games * found["coordinator_us"] / 1e6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--games", type=int, default=200, help="games a pairing in (a)")
    parser.add_argument("--quick", type=int, default=30_000, help="games a long pairing in (b)")
    parser.add_argument("--bots", type=int, default=30, help="bots in (b): all pairs are chunks")
    parser.add_argument("--workers", type=int, default=1, help="workers in (b)")
    asked = parser.parse_args()
    build()
    print(f"referee bench-cluster: {asked.repeats} repeats")
    print("(a) two workers against one, bots that burn 2 ms a move; aim: at least 1.7")
    gains, rates = [], []
    for _ in range(asked.repeats):
        one = played(1, asked.games, BURN_US)["games_per_s"]
        two = played(2, asked.games, BURN_US)["games_per_s"]
        gains.append(two / one)
        rates.append(one)
        print(f"  one worker {one:.0f}, two {two:.0f} games/s", flush=True)
    print("(b) the coordinator's own cost")
    runs = [costs(asked) for _ in range(asked.repeats)]
    found = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    thinking = statistics.median(rates) * BUDGET_S
    chunks_per_s = most_chunks(found, thinking)
    quick = found["quick_games_a_chunk"]
    result = {
        "workers2_ratio": statistics.median(gains),
        "thinking_games_per_s": statistics.median(rates),
        **found,
        "most_chunks_per_s": chunks_per_s,
        "workers_thinking": chunks_per_s * BUDGET_S,
        "workers_quick": most_chunks(found, quick) * quick / found["quick_games_per_s"],
    }
    print(
        f"It can take {chunks_per_s:.0f} chunks/s of bots that think: "
        f"{result['workers_thinking']:.0f} workers; {result['workers_quick']:.1f} whose bots do not"
    )
    print(json.dumps({name: round(value, 3) for name, value in result.items()}))


if __name__ == "__main__":
    main()
