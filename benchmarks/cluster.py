"""What a cluster brings, and what its coordinator pays for a game.

    make bench-cluster

(a) Bots that burn 2 ms of CPU a move on a local cluster: games per second with two workers, as a
    ratio to one, starts of bots left out.
(b) Quick bots, 64 games at once: CPU time of the coordinator a game, and how many workers with the
    bots of (a), and with quick ones, it could serve before it is the bottleneck.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import BIN, build

BURN_US = 2000
CHILD = """
import sys, time, msgspec
from pathlib import Path
from referee.cluster.cluster import cluster_at
from referee.cluster.ground import ClusterGround
from referee.tournament.begin import play_tournament
from referee.tournament.spec import Spec

if __name__ == "__main__":
    spec = msgspec.json.decode(sys.argv[1], type=Spec)
    with cluster_at("local", spec.jobs) as there:
        before = time.process_time()
        result = play_tournament(spec, sys.argv[2], ground=ClusterGround(there))
        cpu_s = time.process_time() - before
    print(msgspec.json.encode([msgspec.to_builtins(result), cpu_s]).decode())
"""


def played(jobs: int, games: int, burn_us: int) -> tuple[float, float]:
    """Games per second, and the coordinator's microseconds of CPU a game."""
    named = [f"c{number}={BIN / 'bot'} 64 {burn_us}" for number in range(4)]
    spec = {
        **{"name": "bench", "variants": ["underdog"], "bots": named},
        **{"games": games, "jobs": jobs, "sandbox": "none"},
    }
    with tempfile.TemporaryDirectory(prefix="referee-bench-") as folder:
        script = Path(folder) / "child.py"
        script.write_text(CHILD)
        words = [sys.executable, str(script), json.dumps(spec), f"{folder}/t"]
        done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    result, cpu_s = json.loads(done.stdout.splitlines()[-1])
    took_s = result["took_s"] - result["starting_s"]
    return result["new"] / took_s, cpu_s * 1e6 / result["new"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--games", type=int, default=200, help="games a pairing in (a)")
    parser.add_argument("--quick", type=int, default=20_000, help="games a pairing in (b)")
    arguments = parser.parse_args()
    build()
    print(f"referee bench-cluster: {arguments.repeats} repeats")
    print("(a) two workers against one, bots that burn 2 ms a move; aim: at least 1.7")
    gains, rates = [], []
    for _ in range(arguments.repeats):
        one, _ = played(1, arguments.games, BURN_US)
        two, _ = played(2, arguments.games, BURN_US)
        gains.append(two / one)
        rates.append(one)
        print(f"  one worker {one:.0f}, two {two:.0f} games/s", flush=True)
    print("(b) the coordinator's own cost")
    quick, costs = [], []
    for _ in range(arguments.repeats):
        rate, cost_us = played(1, arguments.quick, 0)
        quick.append(rate)
        costs.append(cost_us)
        print(
            f"  {rate:.0f} games/s a worker, {cost_us:.1f} µs of the coordinator a game", flush=True
        )
    most = 1e6 / statistics.median(costs)
    result = {
        "workers2_ratio": round(statistics.median(gains), 3),
        "coordinator_us": round(statistics.median(costs), 2),
        "most_games_per_s": round(most),
        "workers_thinking": round(most / statistics.median(rates)),
        "workers_quick": round(most / statistics.median(quick), 1),
    }
    print(
        f"It can take {most:.0f} games/s: {result['workers_thinking']} workers whose bots think, "
        f"{result['workers_quick']} whose bots do not"
    )
    print(json.dumps(result))


if __name__ == "__main__":
    main()
