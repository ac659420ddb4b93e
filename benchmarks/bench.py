"""The speed of the arena, as ratios to a bare pipe exchange measured in the same run.

    make bench

(a) floor:  a C program exchanges a 60-byte line with a C bot over pipes: write, poll, read.
(b) single: the arena with two C bots, one game of underdog at a time.
(c) many:   the same with 64 games at once.
(d) python: Python sample bots (random against highest), many games at once and one at a time.

Microseconds per bot answer over whole games, with every record kept, starts left out. Machines are
noisy, so all four play by turns, a slice of time each, with the floor measured right before and
after every slice, and the medians of the ratios count. A neighbour on the same physical core slows
Python down far more than system calls: a fixed piece of Python is timed around every slice too, and
slices around which it was more than DISTURBED slower than its best are left out, if enough remain.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

from benchmarks.sizes import SizeParser
from referee.arena.core import take_core
from referee.arena.game import Setting
from referee.arena.slot import House, Slot
from referee.bots.manifest import Bot, find_bot
from referee.clock import read_clock
from referee.record import BotInfo, Record
from referee.rules.registry import build_variant
from referee.schedule import pairing_games

HERE = Path(__file__).parent
ROOT = HERE.parent
BIN = HERE / "bin"
DISTURBED = 1.15
ENOUGH = 9
TARGETS = {"single": 2.5, "many": 1.0}


def build() -> None:
    """Compile what has changed. A program appears whole, since others may build or run it now."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        sys.exit("bench: a C compiler is needed; on Debian: apt-get install gcc libc6-dev")
    BIN.mkdir(exist_ok=True)
    for source in HERE.glob("*.c"):
        target = BIN / source.stem
        if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
            unfinished = BIN / f"{source.stem}.{os.getpid()}"
            command = [compiler, "-O2", "-Wall", "-o", str(unfinished), str(source)]
            subprocess.run(command, check=True)
            unfinished.replace(target)


def floor_us(exchanges: int) -> float:
    command = [str(BIN / "floor"), str(exchanges), str(BIN / "echo")]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def yardstick_us() -> float:
    """A fixed piece of plain Python, long enough to feel a neighbour."""
    began = time.perf_counter()
    numbers: dict[int, tuple[int, ...]] = {}
    for i in range(20_000):
        numbers[i & 63] = (i, i + 1, *numbers.get(i & 31, ())[:8])
    return (time.perf_counter() - began) * 1e6


class Stream:
    """A pairing that plays on and on, looked at for a slice of time now and then."""

    def __init__(self, bots: tuple[Bot, Bot], at_once: int, games: int, slice_s: float) -> None:
        """`games` are more than it ever plays."""
        setting = Setting(
            variant=build_variant("underdog", {}),
            clock=read_clock("1s"),
            players=(bots[0].name, bots[1].name),
            bots=(BotInfo("", ""), BotInfo("", "")),
        )
        orders = pairing_games("bench", "underdog", *setting.players, games, hidden_chance=False)
        self.slice_s = slice_s
        self.records = Slot(bots, setting, House(at_once=at_once)).play(orders)
        self.slice_us()  # the start of the bots, and the first games of all

    def slice_us(self) -> float:
        """Microseconds per answer, from one finished game to a later one."""
        kept: list[Record] = []
        began = time.perf_counter()
        until = began + self.slice_s
        for record in self.records:
            kept.append(record)
            if (now := time.perf_counter()) > until:
                break
        for record in kept:
            if record.fault is not None:
                sys.exit(f"bench: a bot was at fault: {record.fault}")
        return (now - began) * 1e6 / sum(len(record.moves) for record in kept)

    def close(self) -> None:
        """End its bots."""
        assert isinstance(self.records, Generator)
        self.records.close()


class Measurement(NamedTuple):
    took: float
    floor: float
    yardstick: float


class Quiet(NamedTuple):
    """How fast the machine is just now, without the referee."""

    floor: float
    yardstick: float


def quiet(exchanges: int) -> Quiet:
    return Quiet(floor_us(exchanges), yardstick_us())


def undisturbed(measurements: list[Measurement], best: float) -> list[Measurement]:
    """Those that no neighbour slowed down; the least disturbed ones where too few are left."""
    quiet = [each for each in measurements if each.yardstick <= best * DISTURBED]
    return quiet if len(quiet) >= ENOUGH else sorted(measurements, key=_disturbance)[:ENOUGH]


def _disturbance(measurement: Measurement) -> float:
    return measurement.yardstick


def c_bots() -> tuple[Bot, Bot]:
    command = (str(BIN / "bot"),)
    return Bot(name="c1", command=command), Bot(name="c2", command=command)


def main() -> None:
    parser = SizeParser(__doc__)
    parser.add_size("--repeats", 60, 1, about="slices of each kind")
    parser.add_size("--slice-ms", 80, 5, about="milliseconds of a slice")
    parser.add_size("--exchanges", 5_000, 200, about="of the floor, around each slice")
    parser.add_size("--games", 200_000, 2_000, about="more than are played of any kind")
    arguments = parser.sizes()
    build()
    core = take_core()
    pinned = f"pinned to core {core.core}" if core else "NOT pinned: no core could be had"
    print(f"referee bench: {arguments.repeats} repeats, {pinned}", flush=True)
    python = (find_bot("random"), find_bot("highest"))
    games, slice_s = arguments.games, arguments.slice_ms / 1000
    streams = {
        "single": Stream(c_bots(), 1, games, slice_s),
        "many": Stream(c_bots(), 64, games, slice_s),
        "python": Stream(python, 64, games, slice_s),
        "python_single": Stream(python, 1, games, slice_s),
    }
    taken: dict[str, list[Measurement]] = {name: [] for name in streams}
    before = quiet(arguments.exchanges)
    for _ in range(arguments.repeats):
        for name, stream in streams.items():
            took = stream.slice_us()
            after = quiet(arguments.exchanges)
            floor = (before.floor + after.floor) / 2
            taken[name].append(Measurement(took, floor, max(before.yardstick, after.yardstick)))
            before = after
    for stream in streams.values():
        stream.close()
    best = min(each.yardstick for measurements in taken.values() for each in measurements)
    kept = {name: undisturbed(measurements, best) for name, measurements in taken.items()}
    used, made = sum(map(len, kept.values())), len(streams) * arguments.repeats
    print(f"{used} of {made} slices used, the others were disturbed")
    floors = [each.floor for measurements in kept.values() for each in measurements]
    times = {name: [each.took for each in measurements] for name, measurements in kept.items()}
    ratios = {
        name: [each.took / each.floor for each in measurements]
        for name, measurements in kept.items()
    }
    print(f"{'':14}{'µs/answer':>10}{'× floor':>9}{'aim':>7}")
    print(f"{'floor':14}{statistics.median(floors):10.2f}{1:9.2f}")
    for name in streams:
        aim = f"{TARGETS[name]:7.1f}" if name in TARGETS else ""
        middle = statistics.median(times[name])
        print(f"{name:14}{middle:10.2f}{statistics.median(ratios[name]):9.2f}{aim}")
    result: dict[str, object] = {"floor_us": round(statistics.median(floors), 3)}
    for name in streams:
        result[f"{name}_us"] = round(statistics.median(times[name]), 3)
        result[f"{name}_ratio"] = round(statistics.median(ratios[name]), 3)
    result["pinned"] = core is not None
    print(json.dumps(result))


if __name__ == "__main__":
    main()
