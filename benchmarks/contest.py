"""A contest of many small bots: what starting them costs beside what playing costs.

    make bench-contest

(a) CPU time of one start of a bot, from the order to its end, over that of the bare program: of all
    processes of the machine, as the kernel counts them, less what the machine uses when it rests.
    Aim: at most 8 ms at level none and 15 at standard.
(b) A round-robin of 40 C bots, 10 games a pairing, in seconds; beside it as many games between two
    bots, and as many starts of the bare program as the contest has pairings, times two.
    Aim for bots that are started for every pairing: at most 12 s at level none and 20 at standard.
    Aim for stateless bots, whose processes are kept: without one start for each bot and worker, 1.5
    times what the two bots take, and at most 2 times.
(c) The same with 10 Java bots at the strictest level of (b), where there is a Java.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.bench import BIN, build
from benchmarks.sizes import SizeParser
from benchmarks.tournament import quietly
from referee.arena.core import own_cores
from referee.bots.building import built
from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.confinement.levels import Level
from referee.bots.confinement.probe import holds
from referee.bots.manifest import Bot, sample_folder
from referee.bots.manifest_text import MANIFEST
from referee.bots.starting import start_bot

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
IDLE = (3, 4)
"""Where the kernel tells of time in which nothing ran: idle, and waiting for a disk."""
AIMS_MS = {Level.NONE: 8, Level.STANDARD: 15}
AIMS_S = {Level.NONE: 12, Level.STANDARD: 20}


def busy_s() -> float:
    """CPU time of the whole machine so far. What its host took for others is none."""
    ticks = list(map(int, Path("/proc/stat").read_text().partition("\n")[0].split()[1:8]))
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


def c_bots(count: int, *, stateless: bool) -> list[str]:
    """Bots as words of the command."""
    command = f"{BIN / 'bot'} 64 0 stateless" if stateless else str(BIN / "bot")
    return [f"--bot=c{number}={command}" for number in range(count)]


def java_bots(count: int, folder: Path, *, stateless: bool) -> list[str]:
    """The sample bot in Java, under many names."""
    named: list[str] = []
    for number in range(count):
        place = folder / f"java{number}"
        shutil.copytree(sample_folder() / "highest-java", place)
        text = (place / MANIFEST).read_text().replace("highest-java", place.name)
        if not stateless:
            text = text.replace("stateless = true", "stateless = false")
        (place / MANIFEST).write_text(text)
        named.append(f"--bot={place}")
    return named


def tournament_s(bots: Sequence[str], games: int, level: Level) -> float:
    """How long the command takes for a round-robin."""
    with tempfile.TemporaryDirectory(prefix="referee-bench-") as folder:
        words = ["--games", str(games), "--out", "t", "--sandbox", level.value]
        began = time.perf_counter()
        quietly(folder, "tournament", *bots, *words)
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
    parser.add_size("--java-bots", 10, 2, about="bots in (c)")
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
    cores = own_cores()
    for level in levels:
        for stateless in (False, True):
            kind = f"{level}_stateless" if stateless else str(level)
            took, two = [], []
            for _ in range(arguments.repeats):
                pair = c_bots(2, stateless=stateless)
                two.append(tournament_s(pair, pairings * arguments.games, level))
                bots = c_bots(arguments.bots, stateless=stateless)
                took.append(tournament_s(bots, arguments.games, level))
            contest, beside = statistics.median(took), statistics.median(two)
            result[f"contest_{kind}_s"] = round(contest, 2)
            result[f"two_bots_{kind}_s"] = round(beside, 2)
            told = f"  {kind:18} {contest:5.1f} s, two bots {beside:.1f} s"
            if stateless:
                # On each worker; the workers start them side by side.
                starts_s = arguments.bots * (result[f"start_{level}_ms"] + alone) / 1000
                ratio = result[f"ratio_{kind}"] = round((contest - starts_s) / beside, 2)
                told = f"{told}, {ratio:.1f} × without {starts_s:.1f} s of starts"
                print(f"{told}   at most 2, aim 1.5", flush=True)
            else:
                print(f"{told}   aim {AIMS_S[level]} s", flush=True)
    if shutil.which("javac") is not None:
        level, count = levels[-1], arguments.java_bots
        print(f"(c) {count} Java bots at level {level}, {cores} workers", flush=True)
        with tempfile.TemporaryDirectory(prefix="referee-bench-") as folder:
            for stateless in (False, True):
                kind = "java_stateless" if stateless else "java"
                bots = java_bots(count, Path(folder) / kind, stateless=stateless)
                tournament_s(bots, 2, level)  # What is built once is not counted.
                took_s = tournament_s(bots, arguments.games, level)
                result[f"{kind}_s"] = round(took_s, 2)
                print(f"  {kind:18} {took_s:5.1f} s", flush=True)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
