"""What a tournament costs beyond its games, and what a second worker brings.

    make bench-tournament

(a) 8 C bots, 64 games at once, many games a pairing, one worker, with store, live view on a
    terminal and tables: time per game, starts of bots left out, as a ratio to the arena alone on
    the same games. Beside it the ratio of the CPU time of the referee's processes, less that of the
    same with hardly any games: other work on the machine changes it less. Bots and their keepers
    are left out, which nobody waits for; they do the same in both.
(b) Bots that burn 2 ms of CPU a move: games per second with two workers, as a ratio to one.
(c) Standings and report of 100,000 games, in seconds.

The arena alone is measured before and after each tournament, in the same run: machines are noisy.
"""

from __future__ import annotations

import json
import os
import pty
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from typing import NamedTuple

from benchmarks.bench import BIN, ROOT, build
from benchmarks.sizes import SizeParser
from referee.arena.core import take_core
from referee.arena.game import Setting
from referee.arena.slot import House, Slot
from referee.bots.manifest import Bot
from referee.clock import read_clock
from referee.record import BotInfo
from referee.rules.registry import build_variant
from referee.schedule import pairing_games

BURN_US = 2000
FEW_GAMES = 16
"""What hardly any games are: of a pairing, or of the arena alone."""
LIVE = (sys.executable, "-m", "benchmarks.live_tournament")


class Cost(NamedTuple):
    """Of a game, in microseconds."""

    wall_us: float
    cpu_us: float
    """Of the referee's processes, without bots and keepers."""


def spent_cpu_s() -> float:
    """CPU time of this process and of those that it or they have waited for: no bot, no keeper."""
    each = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in each)


def arena_cost(games: int) -> Cost:
    """The arena alone, 64 games at once, every record kept."""
    took_s, cpu_s = arena_s(games)
    _, least_cpu_s = arena_s(FEW_GAMES)
    return Cost(took_s * 1e6 / (games - 1), (cpu_s - least_cpu_s) * 1e6 / (games - FEW_GAMES))


def arena_s(games: int) -> tuple[float, float]:
    """The time without that of the first game, in which the bots start, and the CPU time."""
    command = (str(BIN / "bot"),)
    bots = (Bot(name="c1", command=command), Bot(name="c2", command=command))
    setting = Setting(
        variant=build_variant("underdog", {}),
        clock=read_clock("1s"),
        players=("c1", "c2"),
        bots=(BotInfo("", ""), BotInfo("", "")),
    )
    core = take_core()
    began, cpu_s = time.perf_counter(), spent_cpu_s()
    orders = pairing_games("bench", "underdog", "c1", "c2", games, hidden_chance=False)
    ordered = time.perf_counter()
    records = Slot(bots, setting, House(at_once=64)).play(orders)
    kept = [next(records)]
    started = time.perf_counter()
    kept.extend(records)
    took = time.perf_counter() - started + ordered - began
    cpu_s = spent_cpu_s() - cpu_s
    if core is not None:
        core.release()
    return took, cpu_s


def tournament_cost(bots: int, games: int) -> Cost:
    """A tournament with one worker."""
    cpu_s = spent_cpu_s()
    result = tournament(bots, games, jobs=1)
    between_s = spent_cpu_s()
    least = tournament(bots, FEW_GAMES, jobs=1)
    cpu_s = 2 * between_s - cpu_s - spent_cpu_s()
    took_s = result["took_s"] - result["starting_s"]
    return Cost(took_s * 1e6 / result["new"], cpu_s * 1e6 / (result["new"] - least["new"]))


def tournament(bots: int, games: int, jobs: int, burn_us: int = 0) -> dict[str, float]:
    """Play one under a terminal and give its result."""
    # Stateless: others would be started anew with every block of games.
    named = [f"c{number}={BIN / 'bot'} 64 {burn_us} stateless" for number in range(bots)]
    spec = {
        **{"name": "bench", "variants": ["underdog"], "bots": named},
        **{"games": games, "jobs": jobs, "sandbox": "none"},  # as the arena that it is compared to
    }
    folder = tempfile.mkdtemp(prefix="referee-bench-")
    master, slave = pty.openpty()
    drain = threading.Thread(target=_drain, args=(master,), daemon=True)
    drain.start()
    try:
        done = subprocess.run(
            [*LIVE, json.dumps(spec), f"{folder}/t"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=slave,
            check=True,
        )
    finally:
        os.close(slave)
        shutil.rmtree(folder)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def _drain(master: int) -> None:
    """A terminal that reads what it is told to show."""
    try:
        while os.read(master, 65536):
            pass
    except OSError:
        pass


def overhead(bots: int, games: int, alone: int) -> Cost:
    """The ratios of (a)."""
    before = arena_cost(alone)
    cost = tournament_cost(bots, games)
    after = arena_cost(alone)
    ratios = []
    for what, one, our, other in zip(("time", "CPU time"), before, cost, after, strict=True):
        ratios.append(our * 2 / (one + other))
        told = f"arena {one:.1f} and {other:.1f}, tournament {our:.1f} µs of {what} a game"
        print(f"  {told}: {ratios[-1]:.2f}", flush=True)
    return Cost(*ratios)


def second_worker(bots: int, games: int, turns: list[int]) -> float:
    """The ratio of (b), from as many turns with one worker as with two."""
    rates: dict[int, list[float]] = {1: [], 2: []}
    for jobs in turns:
        result = tournament(bots, games, jobs, BURN_US)
        rates[jobs].append(result["new"] / (result["took_s"] - result["starting_s"]))
    one, two = (" and ".join(f"{rate:.0f}" for rate in rates[jobs]) for jobs in (1, 2))
    print(f"  one worker {one}, two {two} games/s", flush=True)
    return sum(rates[2]) / sum(rates[1])


def reading_s(bots: int, games: int) -> dict[str, float]:
    """The seconds of (c)."""
    with tempfile.TemporaryDirectory(prefix="referee-bench-") as folder:
        named = [f"--bot=c{number}={BIN / 'bot'}" for number in range(bots)]
        pairings = bots * (bots - 1) // 2
        terms = ("--games", str(games // pairings), "--out", "t", "--sandbox", "none")
        quietly(folder, "tournament", *named, *terms)
        took = {}
        for command in ("standings", "report"):
            began = time.perf_counter()
            quietly(folder, command, "t")
            took[f"{command}_s"] = time.perf_counter() - began
            print(f"  {command} of {games} games: {took[f'{command}_s']:.1f} s", flush=True)
        return took


def quietly(folder: str, *words: str) -> None:
    """Run the command, which has nothing to say that is of use here."""
    subprocess.run(
        [sys.executable, "-m", "referee", *words],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
    )


def main() -> None:
    parser = SizeParser(__doc__)
    parser.add_size("--repeats", 3, 1)
    parser.add_size("--bots", 8, 2, about="bots in (a)")
    parser.add_size("--games", 10_000, 50, about="games a pairing in (a)")
    parser.add_size("--alone", 20_000, 200, about="games of the arena alone in (a)")
    parser.add_size("--thinkers", 4, 2, about="bots in (b)")
    parser.add_size("--thinking-games", 100, 4, about="games a pairing in (b)")
    parser.add_size("--turns", [1, 2, 2, 1], [1, 2], nargs="+", about="workers in (b), in turn")
    parser.add_size("--stored-bots", 5, 2, about="bots in (c)")
    parser.add_size("--stored", 100_000, 20, about="games in (c)")
    arguments = parser.sizes()
    build()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"referee bench-tournament: {arguments.repeats} repeats, {cores} cores")
    result: dict[str, object] = {"cores": cores}
    print("(a) a tournament against the arena alone; aim: at most 1.25")
    field = (arguments.bots, arguments.games, arguments.alone)
    ratios = [overhead(*field) for _ in range(arguments.repeats)]
    result["tournament_ratio"] = round(statistics.median(wall for wall, _ in ratios), 3)
    result["tournament_cpu_ratio"] = round(statistics.median(cpu for _, cpu in ratios), 3)
    print("(b) two workers against one, bots that burn 2 ms a move; aim: at least 1.6")
    thinking = (arguments.thinkers, arguments.thinking_games, arguments.turns)
    gains = [second_worker(*thinking) for _ in range(arguments.repeats)]
    result["jobs2_ratio"] = round(statistics.median(gains), 3)
    print("(c) standings and report; aim: under 10 s")
    took_s = reading_s(arguments.stored_bots, arguments.stored)
    result.update({name: round(took, 2) for name, took in took_s.items()})
    print(json.dumps(result))


if __name__ == "__main__":
    main()
