"""What a cluster brings, and what its coordinator pays for a chunk and for a game.

    make bench-cluster

Scheduler, workers and coordinator are processes of their own on this machine. Every repeat starts a
cluster of one worker, plays there what one worker plays, and lets the second worker join.

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

import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.bench import BIN, ROOT, build
from benchmarks.sizes import SizeParser
from referee.tournament.ledger import BUDGET_S

BURN_US = 2000
Found = dict[str, Any]


class Run(NamedTuple):
    """A tournament of C bots."""

    workers: int
    bots: int
    games: int
    """Of a pairing."""
    burn_us: int = 0


class Cluster:
    """A scheduler, and workers that join it one by one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[subprocess.Popen[bytes]] = []
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self._port = found.getsockname()[1]
        self._address = f"tcp://127.0.0.1:{self._port}"

    def __enter__(self) -> Cluster:
        self._scheduler = self._start("dask_scheduler", "--port", str(self._port), "--no-show")
        # A coordinator gives up on a scheduler that is not there yet.
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._port)):
                break
            time.sleep(0.1)
        return self

    def __exit__(self, *_: object) -> None:
        # Asked to end, a worker may wait for its scheduler for ever; its children end with it.
        for process in self._started:
            process.kill()
        for process in self._started:
            process.wait()

    def _start(self, module: str, *words: str) -> int:
        """The process."""
        here = ("--host", "127.0.0.1", "--no-dashboard")
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{module}", *words, *here],
            cwd=self._folder,
            env={**os.environ, "XDG_CACHE_HOME": str(self._folder)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._started.append(process)
        return process.pid

    def grow(self, workers: int) -> None:
        """To so many workers; it has no more than that."""
        for number in range(len(self._started), workers + 1):
            scratch = str(self._folder / f"scratch-{number}")
            more = ("--no-nanny", "--nthreads", "1", "--local-directory", scratch)
            self._start("dask_worker", self._address, *more)

    def played(self, run: Run, name: str) -> Found:
        """What the coordinator of this run measured, in a process of its own."""
        named = [f"c{number}={BIN / 'bot'} 64 {run.burn_us}" for number in range(run.bots)]
        spec = {
            **{"name": "bench", "variants": ["underdog"], "bots": named},
            **{"games": run.games, "jobs": run.workers, "sandbox": "none"},
        }
        folder = str(self._folder / name)
        words = [self._address, json.dumps(spec), folder, str(self._scheduler)]
        command = [sys.executable, "-m", "benchmarks.coordinating", *words]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
        result: Found = json.loads(done.stdout.splitlines()[-1])
        result["games_per_s"] = result["new"] / (result["took_s"] - result["starting_s"])
        return result


def played(runs: dict[str, Run]) -> dict[str, Found]:
    """All of them on one cluster, which grows: those with the fewest workers first."""
    found = {}
    temporary = tempfile.TemporaryDirectory(prefix="referee-bench-", ignore_cleanup_errors=True)
    with temporary as folder, Cluster(Path(folder)) as cluster:
        for name, run in sorted(runs.items(), key=lambda each: each[1].workers):
            cluster.grow(run.workers)
            found[name] = cluster.played(run, name)
    return found


def shares(short: Found, long: Found, name: str) -> tuple[float, float]:
    """Seconds a chunk and seconds a game, which explain both runs; none is below 0."""
    one, other = short["between"], long["between"]
    determinant = one["chunks"] * other["games"] - other["chunks"] * one["games"]
    if determinant <= 0:
        return one[name] / max(one["chunks"], 1), 0.0
    chunk = (one[name] * other["games"] - other[name] * one["games"]) / determinant
    game = (one["chunks"] * other[name] - other["chunks"] * one[name]) / determinant
    return max(chunk, 0.0), max(game, 0.0)


def costs(short: Found, long: Found, workers: int) -> dict[str, float]:
    """(b)"""
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
        "quick_games_per_s": long["games_per_s"] / workers,
        "quick_games_a_chunk": long["between"]["games"] / max(long["between"]["chunks"], 1),
    }
    told = ", ".join(f"{name} {value:.2f}" for name, value in found.items())
    print(f"  (b) {chunks:.0f} short chunks: {told}", flush=True)
    return found


def most_chunks(found: dict[str, float], games: float) -> float:
    """Chunks a second of so many games that the coordinator can take: its threads share one lock of
    Python, so what counts is the CPU time of all, and a commit on top."""
    kept_s = (found["chunk_cpu_ms"] + found["commit_ms"]) / 1e3
    return 1 / (kept_s + games * found["coordinator_us"] / 1e6)


def main() -> None:
    parser = SizeParser(__doc__)
    parser.add_size("--repeats", 3, 1)
    parser.add_size("--games", 200, 2, about="games a pairing in (a)")
    parser.add_size("--few", 4, 3, about="bots in (a), and in the long pairings of (b)")
    parser.add_size("--quick", 30_000, 100, about="games a long pairing in (b)")
    parser.add_size("--bots", 30, 3, about="bots in (b), whose short pairings are chunks")
    parser.add_size("--workers", 1, 1, about="workers in (b)")
    asked = parser.sizes()
    build()
    print(f"referee bench-cluster: {asked.repeats} repeats")
    print("(a) two workers against one, bots that burn 2 ms a move; aim: at least 1.7")
    print("(b) the coordinator's own cost")
    gains, rates, costly = [], [], []
    for _ in range(asked.repeats):
        runs = played(
            {
                "one": Run(1, asked.few, asked.games, BURN_US),
                "short": Run(asked.workers, asked.bots, 2),
                "long": Run(asked.workers, asked.few, asked.quick),
                "two": Run(2, asked.few, asked.games, BURN_US),
            }
        )
        one, two = runs["one"]["games_per_s"], runs["two"]["games_per_s"]
        gains.append(two / one)
        rates.append(one)
        print(f"  (a) one worker {one:.0f}, two {two:.0f} games/s", flush=True)
        costly.append(costs(runs["short"], runs["long"], asked.workers))
    found = {name: statistics.median(run[name] for run in costly) for name in costly[0]}
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
