"""A contest of many small bots: what starting them costs beside what playing costs.

    make bench-contest

(a) CPU time of one start of a bot, from the order to its end, over that of the bare program: of all
    processes of the machine, as the kernel counts them, less what the machine uses when it rests.
    Aim: at most 8 ms at level none and 15 at standard.
(b) A round-robin of 40 C bots, 10 games a pairing, in seconds; beside it as many games between two
    bots, and as many starts of the bare program as the contest has pairings, times two.
    Aim: at most 12 s at level none and 20 at standard.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.bench import BIN, build
from benchmarks.sizes import SizeParser
from benchmarks.tournament import quietly
from referee.bots.building import built
from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.confinement.levels import Level
from referee.bots.confinement.probe import holds
from referee.bots.manifest import Bot
from referee.bots.starting import start_bot

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
IDLE = (3, 4)
"""Where the kernel tells of time in which nothing ran: idle, and waiting for a disk."""
AIMS_MS = {Level.NONE: 8, Level.STANDARD: 15}
AIMS_S = {Level.NONE: 12, Level.STANDARD: 20}


def busy_s() -> float:
    """CPU time of the whole machine so far."""
    ticks = list(map(int, Path("/proc/stat").read_text().partition("\n")[0].split()[1:9]))
    return sum(each for number, each in enumerate(ticks) if number not in IDLE) * TICK_S


def resting_share(seconds: float) -> float:
    """Cores that the machine keeps busy by itself."""
    before = busy_s()
    time.sleep(seconds)
    return (busy_s() - before) / seconds


def bare(starts: int) -> None:
    """Start the program, let it read the end of its input, and wait for its end."""
    for _ in range(starts):
        subprocess.run([BIN / "bot"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def kept(starts: int, confinement: Confinement) -> None:
    """The same as a bot."""
    bot = built(Bot(name="c", command=(str(BIN / "bot"),)), confinement)
    for _ in range(starts):
        process = start_bot(bot, confinement)
        process.await_start(30)
        process.leave(30)


def start_ms(starts: int, resting: float, confinement: Confinement | None) -> float:
    """CPU time of one start, bare without a confinement."""
    if confinement is not None:
        kept(2, confinement)  # What is made once is not counted.
    began, before = time.perf_counter(), busy_s()
    if confinement is None:
        bare(starts)
    else:
        kept(starts, confinement)
    took = time.perf_counter() - began
    return (busy_s() - before - resting * took) * 1000 / starts


def tournament_s(bots: int, games: int, level: Level) -> float:
    """How long the command takes for a round-robin."""
    named = [f"--bot=c{number}={BIN / 'bot'}" for number in range(bots)]
    with tempfile.TemporaryDirectory(prefix="referee-bench-") as folder:
        words = [
            "tournament",
            *named,
            "--games",
            str(games),
            "--out",
            "t",
            "--sandbox",
            level.value,
        ]
        began = time.perf_counter()
        quietly(folder, *words)
        return time.perf_counter() - began


def started_s(starts: int) -> float:
    began = time.perf_counter()
    bare(starts)
    return time.perf_counter() - began


def main() -> None:
    parser = SizeParser(__doc__)
    parser.add_size("--repeats", 3, 1)
    parser.add_size("--starts", 200, 4, about="of a bot in (a)")
    parser.add_size("--bots", 40, 3, about="bots in (b)")
    parser.add_size("--games", 10, 2, about="games a pairing in (b)")
    parser.add_size("--rest-s", 5.0, 0.1, read=float, about="seconds in which nothing is done")
    arguments = parser.sizes()
    build()
    levels = [Level.NONE, *([Level.STANDARD] if holds(Level.STANDARD) else [])]
    result: dict[str, float] = {}
    resting = resting_share(arguments.rest_s)
    print(f"referee bench-contest: the machine at rest keeps {resting:.2f} cores busy")
    print("(a) CPU time of a start, over the bare program", flush=True)
    alone = start_ms(arguments.starts, resting, None)
    for level in levels:
        confinement = UNCONFINED if level is Level.NONE else Confinement(level=level)
        over = start_ms(arguments.starts, resting, confinement) - alone
        result[f"start_{level}_ms"] = round(over, 1)
        print(f"  {level:9} {over:5.1f} ms   aim {AIMS_MS[level]}", flush=True)
    pairings = arguments.bots * (arguments.bots - 1) // 2
    print(f"(b) {arguments.bots} bots, {pairings} pairings of {arguments.games} games", flush=True)
    bare_s = started_s(2 * pairings)
    result["bare_starts_s"] = round(bare_s, 2)
    print(f"  {2 * pairings} bare starts {bare_s:.1f} s", flush=True)
    for level in levels:
        took, two = [], []
        for _ in range(arguments.repeats):
            two.append(tournament_s(2, pairings * arguments.games, level))
            took.append(tournament_s(arguments.bots, arguments.games, level))
        contest, pair = statistics.median(took), statistics.median(two)
        result[f"contest_{level}_s"] = round(contest, 2)
        result[f"two_bots_{level}_s"] = round(pair, 2)
        told = f"  {level:9} {contest:5.1f} s, two bots {pair:.1f} s, {contest / pair:.1f} ×"
        print(f"{told}   aim {AIMS_S[level]} s", flush=True)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
