"""`referee rate` against a plain read of the same CSV file with Python's csv module.

    make bench-rate

Both are whole processes, from the start of Python to its end: `for row in csv.reader(file): pass`,
and `python -m referee rate FILE --json` with everything that it imports, reads, computes and
prints. They are run alternately, each rating between two reads, and the median of the ratios
counts, since machines are noisy. The start of both (Python alone, and `referee rate` of a file
without games) is measured too, to show what of a ratio is paid only once. Modules are compiled, as
those of any package are once it has been used, whatever PYTHONDONTWRITEBYTECODE says here.
"""

from __future__ import annotations

import csv
import json
import os
import random
import statistics
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchmarks.sizes import SizeParser

ROOT = Path(__file__).parents[1]
TARGET = 3.0
TARGET_MB = 500
READ = """
import csv, sys
with open(sys.argv[1], newline="") as file:
    for row in csv.reader(file):
        pass
"""


class Run(NamedTuple):
    seconds: float
    cpu: float
    peak_mb: float


class Measured(NamedTuple):
    """Medians of whole processes."""

    read: float
    rated: float
    ratio: float
    cpu_ratio: float
    """The same from the time that the processors worked, which neighbours do not lengthen."""
    peak_mb: float


def write_games(path: Path, players: int, games: int, *, pairs: bool) -> None:
    """Players of different strength, some draws; the same file every time."""
    chance = random.Random(f"{players} {games}")
    strength = [chance.gauss(0, 0.7) for _ in range(players)]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["pair", "a", "b", "result"] if pairs else ["a", "b", "result"])
        first = second = 0
        for game in range(games):
            if game % 2 == 0:
                first, second = chance.sample(range(players), 2)
            else:
                first, second = second, first
            expected = 1 / (1 + 2.718281828 ** (strength[second] - strength[first]))
            drawn = chance.random() < 0.2
            won = chance.random() < expected
            result = "1/2-1/2" if drawn else "1-0" if won else "0-1"
            row = [f"bot{first:04d}", f"bot{second:04d}", result]
            writer.writerow([game // 2, *row] if pairs else row)


def run(command: list[str]) -> Run:
    """A process of its own, its time from start to end and its most memory."""
    began = time.perf_counter()
    child = os.posix_spawn(
        command[0],
        command,
        os.environ | {"PYTHONPATH": str(ROOT)},
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - began
    if status:
        sys.exit(f"bench: {' '.join(command)} has failed")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def read(path: Path) -> Run:
    return run([sys.executable, "-c", READ, str(path)])


def rate(path: Path) -> Run:
    return run([sys.executable, "-m", "referee", "rate", str(path), "--json"])


def measure(path: Path, repeats: int) -> Measured:
    """Medians; a rating is compared with the reads right before and after it."""
    reads = [read(path)]
    ratings: list[Run] = []
    for _ in range(repeats):
        ratings.append(rate(path))
        reads.append(read(path))
    around = list(zip(ratings, pairwise(reads), strict=True))
    return Measured(
        read=statistics.median(each.seconds for each in reads),
        rated=statistics.median(each.seconds for each in ratings),
        ratio=statistics.median(
            2 * rated.seconds / (one.seconds + other.seconds) for rated, (one, other) in around
        ),
        cpu_ratio=statistics.median(
            2 * rated.cpu / (one.cpu + other.cpu) for rated, (one, other) in around
        ),
        peak_mb=max(each.peak_mb for each in ratings),
    )


def show(name: str, found: Measured) -> None:
    print(
        f"{name:12} read {found.read * 1000:5.0f} ms   rate {found.rated * 1000:5.0f} ms   "
        f"ratio {found.ratio:5.2f} (CPU {found.cpu_ratio:5.2f})   peak {found.peak_mb:4.0f} MB",
        flush=True,
    )


def main() -> None:
    parser = SizeParser(__doc__)
    parser.add_size("--repeats", 9, 1)
    parser.add_size("--games", [100_000, 1_000_000], [100, 1_000], nargs=2, about="in both files")
    parser.add_size("--players", [10, 1_000], [10, 20], nargs=2, about="in both files")
    parser.add_argument("--pairs", action="store_true", help="also with a column of pairs")
    options = parser.sizes()
    sizes = list(zip(("small", "large"), options.players, options.games, strict=True))
    figures: dict[str, float] = {}
    peak = 0.0
    with tempfile.TemporaryDirectory() as folder:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        empty = Path(folder) / "empty.csv"
        empty.touch()
        measure(empty, 1)  # The first start compiles.
        start = measure(empty, options.repeats)
        show("start alone", start)
        for pairs in (False, True) if options.pairs else (False,):
            for size, players, games in sizes:
                name = f"{size}_pairs" if pairs else size
                path = Path(folder) / f"{name}.csv"
                write_games(path, players, games, pairs=pairs)
                found = measure(path, options.repeats)
                show(name, found)
                after = (found.rated - start.rated) / (found.read - start.read)
                print(f"{'':12} without the start of both: ratio {after:.2f}")
                figures[f"rate_{name}_ratio"] = round(found.ratio, 3)
                figures[f"rate_{name}_ratio_after_start"] = round(after, 3)
                peak = max(peak, found.peak_mb)
    figures["rate_peak_mb"] = round(peak)
    print(f"targets: at most {TARGET:g} × a read, and {TARGET_MB} MB")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
