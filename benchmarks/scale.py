"""A tournament that nobody can try out: 10,000 bots and 100,000,000 games, worked out.

    python -m benchmarks.scale [--workers 200] …

Bots are sent to every machine and built there, and each is started once. Then discrete events, a
chunk at a time: workers play, the scheduler hands on, results go over one line to the coordinator,
which keeps them one after another, as it does. At the end the standings are drawn. All assumptions
are options and are printed first, each with where it comes from.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
import statistics
from typing import NamedTuple


class Assumed(NamedTuple):
    value: float
    told: str
    source: str


SPEC, LIKELY = "the question", "assumed"
CLUSTER, STORE, RATINGS = "make bench-cluster", "make bench-store", "make bench-ratings"
ASSUMED = {
    "bots": Assumed(10_000, "bots", SPEC),
    "games": Assumed(100_000_000, "games in all", SPEC),
    "games_per_pairing": Assumed(1_000, "games of a pairing", LIKELY),
    "workers": Assumed(200, "dask workers, a core each", LIKELY),
    "workers_a_machine": Assumed(16, "of them on one machine", LIKELY),
    "slow_share": Assumed(0.05, "of the workers that are half as quick as the others", LIKELY),
    "line_mb_s": Assumed(100, "megabytes a second on the line of every machine", LIKELY),
    "latency_ms": Assumed(5, "milliseconds from a chunk that is kept to the next", LIKELY),
    "bot_kb": Assumed(20, "kilobytes of a packed bot; sample bots have 1 to 5", LIKELY),
    "unpack_ms": Assumed(5, "milliseconds to unpack a bot; sample bots took 1 to 8", "measured"),
    "build_share": Assumed(0.5, "of the bots that have to be built", LIKELY),
    "build_s": Assumed(0.7, "seconds of a build: highest-c; in C++, Rust, Java 5 to 8", "measured"),
    "start_s": Assumed(0.3, "seconds to start both bots of a chunk", LIKELY),
    "answers": Assumed(9.4, "answers a game, as in underdog", "make bench"),
    "think_us": Assumed(2_000, "microseconds that a bot thinks for an answer", LIKELY),
    "worker_us": Assumed(
        20, "microseconds of a worker for an answer, beside the bot", "make bench"
    ),
    "budget_s": Assumed(2.0, "seconds of a chunk, beyond the start of its bots", "the code"),
    "chunk_ms": Assumed(4.9, "milliseconds of the coordinator for a chunk", CLUSTER),
    "commit_ms": Assumed(1.1, "milliseconds of a commit, at the end of every chunk", CLUSTER),
    "game_us": Assumed(16.5, "microseconds of the coordinator for a game", CLUSTER),
    "scheduler_ms": Assumed(6.5, "milliseconds of the scheduler for a chunk", CLUSTER),
    "line_bytes": Assumed(575, "bytes of a game on the line", CLUSTER),
    "stored_bytes": Assumed(145, "bytes of a game in the store", STORE),
    "rating_ns": Assumed(0.05, "nanoseconds of a rating, times bots³", RATINGS),
    "table_us": Assumed(50, "microseconds of the tables for each pair that met", STORE),
}


def prepared(a: argparse.Namespace) -> dict[str, float]:
    """Before the first game: bots travel, are built and are started once."""
    one_copy_s = a.bots * a.bot_kb / 1e3 / a.line_mb_s
    # Every worker is sent what it lacks; those of a machine share what is to be built.
    on_machine = min(a.workers, a.workers_a_machine)
    calls = max(a.bots * a.chunk_ms / 1e3, a.bots * a.start_s / 2 / a.workers)
    return {
        "sending_s": one_copy_s * a.workers,
        "building_s": a.bots * (a.unpack_ms / 1e3 + a.build_share * a.build_s / on_machine),
        "calling_s": calls,
    }


def simulated(a: argparse.Namespace) -> dict[str, float]:
    """From the first chunk to the last."""
    chance = random.Random(1)
    speeds = [0.5 if chance.random() < a.slow_share else 1.0 for _ in range(int(a.workers))]
    game_s = a.answers * (a.think_us + a.worker_us) / 1e6
    left = a.games
    waiting = [(0.0, worker) for worker in range(int(a.workers))]
    heapq.heapify(waiting)
    told_free = line_free = keeper_free = playing_s = kept_s = end = 0.0
    sizes: list[float] = []
    waits: list[float] = []
    while left > 0:
        now, worker = heapq.heappop(waiting)
        share = max(2.0, left / a.workers / 2)
        speed = speeds[worker]
        size = min(left, share, a.games_per_pairing, max(2.0, a.budget_s * speed / game_s))
        left -= size
        done = now + a.start_s + size * game_s / speed
        playing_s += done - now
        told_free = max(told_free, done) + a.scheduler_ms / 1e3
        line_free = max(line_free, told_free) + size * a.line_bytes / (a.line_mb_s * 1e6)
        keeping = (a.chunk_ms + a.commit_ms) / 1e3 + size * a.game_us / 1e6
        kept_s += keeping
        keeper_free = max(keeper_free, line_free) + keeping
        waits.append(keeper_free - done)
        sizes.append(size)
        end = max(end, keeper_free)
        heapq.heappush(waiting, (keeper_free + a.latency_ms / 1e3, worker))
    return {
        "playing_s": end,
        "games_per_s": a.games / end,
        "chunks": len(sizes),
        "games_a_chunk": statistics.median(sizes),
        "workers_busy": playing_s / (end * a.workers),
        "coordinator_busy": kept_s / end,
        "scheduler_busy": len(sizes) * a.scheduler_ms / 1e3 / end,
        "line_busy": a.games * a.line_bytes / (a.line_mb_s * 1e6) / end,
        "wait_s": statistics.median(waits),
    }


def most_workers(a: argparse.Namespace) -> dict[str, float]:
    """How many workers the coordinator, and the scheduler, can serve."""
    game_s = a.answers * (a.think_us + a.worker_us) / 1e6
    games = min(a.games_per_pairing, max(2.0, a.budget_s / game_s))
    chunk_s = a.start_s + games * game_s
    keeping_s = (a.chunk_ms + a.commit_ms) / 1e3 + games * a.game_us / 1e6
    return {
        "coordinator_workers": chunk_s / keeping_s,
        "scheduler_workers": chunk_s / (a.scheduler_ms / 1e3),
    }


def worked_out(a: argparse.Namespace) -> dict[str, float]:
    pairs = min(a.games / a.games_per_pairing, a.bots * (a.bots - 1) / 2)
    before, playing = prepared(a), simulated(a)
    rating_s = a.rating_ns * 1e-9 * a.bots**3
    after = {"rating_s": rating_s, "standings_s": rating_s + pairs * a.table_us / 1e6}
    total_s = sum(before.values()) + playing["playing_s"] + after["standings_s"]
    return {
        "hours": total_s / 3600,
        "pairs": pairs,
        **before,
        **playing,
        **most_workers(a),
        **after,
        "store_gb": a.games * a.stored_bytes / 1e9,
        "network_gb": a.games * a.line_bytes / 1e9,
        "sent_gb": a.bots * a.bot_kb / 1e6 * a.workers,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    for name, (value, told, source) in ASSUMED.items():
        words = f"{told} ({source})"
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=value, help=words)
    asked = parser.parse_args()
    print("Assumed:")
    for name, (value, told, source) in ASSUMED.items():
        given = getattr(asked, name)
        print(f"  {given:>13,g}  {told} ({source if given == value else 'as given'})")
    found = worked_out(asked)
    print("Worked out:")
    for name, value in found.items():
        print(f"  {value:>13,.2f}  {name.replace('_', ' ')}")
    print(json.dumps({name: round(value, 4) for name, value in found.items()}))


if __name__ == "__main__":
    main()
