"""What a rating costs by the number of bots, where few of all pairs met.

    make bench-ratings

Every bot meets some others by chance, in pairs of games whose results are by chance and strength;
the table is made from the counts, as `referee standings` does. Each size in a process of its own:
seconds, the most memory that the process had, and seconds for a cube of bots, which is the law of
many thousands.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.sizes import SizeParser
from referee.ratings.counts import Counts, count
from referee.ratings.games import Games
from referee.ratings.rating import rate_counts

USUAL = [1_000, 2_000, 4_000, 10_000]
SMALL = [60, 90]
MET = 20
"""Opponents of a bot: 10,000 bots in 100,000 pairs."""
PAIRS_OF_GAMES = 5
ROOT = Path(__file__).parents[1]
HERE = (sys.executable, "-m", "benchmarks.ratings", "--here")
SPREAD = 200.0
"""Elo."""


def counted(bots: int, met: int, seed: int = 1) -> Counts:
    draw = np.random.default_rng(seed)
    elo = draw.normal(0, SPREAD, bots)
    # A circle first, so that nobody is apart from the others.
    order = draw.permutation(bots)
    one = np.concatenate([order, draw.integers(0, bots, bots * met // 2 - bots)])
    other = np.concatenate([np.roll(order, 1), draw.integers(0, bots, bots * met // 2 - bots)])
    pair = np.arange(len(one) * PAIRS_OF_GAMES)
    first, second = np.repeat(one, PAIRS_OF_GAMES), np.repeat(other, PAIRS_OF_GAMES)
    games = Games(
        players=[f"bot{number:05}" for number in range(bots)],
        first=np.concatenate([first, second]).astype(np.int32),
        second=np.concatenate([second, first]).astype(np.int32),
        points=np.zeros(2 * len(pair), np.int8),
        pair=np.concatenate([pair, pair]),
    )
    expected = 1 / (1 + 10 ** ((elo[games.second] - elo[games.first]) / 400))
    fate = draw.random(len(expected))
    points = np.where(fate < expected - 0.05, 2, np.where(fate < expected + 0.05, 1, 0))
    return count(games._replace(points=points.astype(np.int8)))


def measure(bots: int, met: int) -> dict[str, float]:
    """In this process, whose memory is then no longer that of the rating alone."""
    counts = counted(bots, met)
    before, cpu = time.perf_counter(), time.process_time()
    rate_counts(counts)
    took, cpu = time.perf_counter() - before, time.process_time() - cpu
    return {
        "bots": bots,
        "pairs": len(counts.low),
        "rating_s": round(took, 3),
        "cpu_s": round(cpu, 3),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "ns_a_cube": round(took * 1e9 / bots**3, 5),
    }


def main() -> None:
    parser = SizeParser(__doc__)
    parser.add_size("--bots", USUAL, SMALL, nargs="+")
    parser.add_argument("--met", type=int, default=MET, help="opponents of a bot")
    parser.add_argument("--here", action="store_true", help="in this process: one size")
    asked = parser.sizes()
    if asked.here:
        print(json.dumps(measure(asked.bots[0], asked.met)))
        return
    found = []
    for bots in asked.bots:
        words = [*HERE, "--bots", str(bots), "--met", str(asked.met)]
        done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, check=True)
        found.append(json.loads(done.stdout))
        print(f"  {found[-1]}", flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
