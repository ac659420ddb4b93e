"""A tournament that nobody can try out: 10,000 bots and 100,000,000 games, worked out.

    python benchmarks/scale.py [--workers 200] …

Discrete events, a chunk at a time: workers play, results go over one line to the coordinator, which
keeps them one after another, as it does. All assumptions are options and are printed first; those
that `make bench-cluster` and `make bench-store` measure should be given as measured.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
import statistics

PARSER = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
ASSUMED: dict[str, tuple[float, str]] = {
    "bots": (10_000, "bots, every one of which meets as many others as the games allow"),
    "games": (100_000_000, "games in all"),
    "games_per_pairing": (1_000, "games of a pairing"),
    "workers": (200, "dask workers, a core each"),
    "answers": (9.4, "answers a game"),
    "think_us": (2_000, "microseconds that a bot thinks for an answer"),
    "worker_us": (20, "microseconds that a worker needs for an answer, beside the bot"),
    "start_s": (0.3, "seconds to start both bots of a chunk"),
    "budget_s": (2.0, "seconds of a chunk, beyond the start of its bots"),
    "slow_share": (0.05, "of the workers that are half as quick as the others"),
    "coordinator_us": (60, "microseconds of the coordinator a game: measured by bench-cluster"),
    "record_bytes": (420, "bytes of a game on the line"),
    "stored_bytes": (140, "bytes of a game in the store"),
    "line_mb_s": (100, "megabytes a second on the line to the coordinator"),
    "latency_ms": (5, "milliseconds from the end of a chunk to the start of the next"),
    "rating_us": (5, "microseconds of a rating for each pair of bots that met"),
}


def simulated(a: argparse.Namespace) -> dict[str, float]:
    """What comes out."""
    chance = random.Random(1)
    speeds = [0.5 if chance.random() < a.slow_share else 1.0 for _ in range(int(a.workers))]
    game_s = a.answers * (a.think_us + a.worker_us) / 1e6
    left = a.games
    waiting = [(0.0, worker) for worker in range(int(a.workers))]
    heapq.heapify(waiting)
    line_free = keeper_free = busy_s = end = 0.0
    sizes: list[float] = []
    waits: list[float] = []
    while left > 0:
        now, worker = heapq.heappop(waiting)
        share = max(2.0, left / a.workers / 2)
        speed = speeds[worker]
        size = min(left, share, a.games_per_pairing, max(2.0, a.budget_s * speed / game_s))
        left -= size
        done = now + a.start_s + size * game_s / speed
        busy_s += done - now
        line_free = max(line_free, done) + size * a.record_bytes / (a.line_mb_s * 1e6)
        keeper_free = max(keeper_free, line_free) + size * a.coordinator_us / 1e6
        waits.append(keeper_free - done)
        sizes.append(size)
        end = max(end, keeper_free)
        heapq.heappush(waiting, (max(done, keeper_free) + a.latency_ms / 1e3, worker))
    pairs = a.games / a.games_per_pairing
    return {
        "hours": end / 3600,
        "games_per_s": a.games / end,
        "chunks": len(sizes),
        "games_a_chunk": statistics.median(sizes),
        "workers_busy": busy_s / (end * a.workers),
        "coordinator_busy": a.games * a.coordinator_us / 1e6 / end,
        "line_busy": a.games * a.record_bytes / (a.line_mb_s * 1e6) / end,
        "wait_s": statistics.median(waits),
        "store_gb": a.games * a.stored_bytes / 1e9,
        "network_gb": a.games * a.record_bytes / 1e9,
        "rating_s": pairs * a.rating_us / 1e6,
    }


def main() -> None:
    for name, (value, told) in ASSUMED.items():
        PARSER.add_argument(f"--{name.replace('_', '-')}", type=float, default=value, help=told)
    asked = PARSER.parse_args()
    print("Assumed:")
    for name, (_, told) in ASSUMED.items():
        print(f"  {getattr(asked, name):>13,g}  {told}")
    found = simulated(asked)
    print("Worked out:")
    for name, value in found.items():
        print(f"  {value:>13,.2f}  {name.replace('_', ' ')}")
    print(json.dumps({name: round(value, 4) for name, value in found.items()}))


if __name__ == "__main__":
    main()
