"""Runs `make test` again and again, each time from a clean clone, and tells what failed.

    python -m tests.repeat [--runs 6] [--burdened 2] [--logs .test-repeat]

The last runs have two processes beside them that burn CPU: a test that passes on a quiet machine
only is broken. What each run printed is kept in the folder of logs. Nothing is run twice to make it
pass: one failure in any run is the exit status 1.

Setting up comes before the time is taken. The CPU time is that of the whole machine, as the kernel
counts it, less what was burned beside the run: some processes outlive whoever started them.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.contest import busy_s
from referee.bots.keeping.watch import cpu_ns

ROOT = Path(__file__).parents[1]
BURNERS = 2
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
COUNTED = re.compile(r"^=*\s*(.*\d+ (?:passed|failed|error).*?)\s*=*$", re.MULTILINE)


class Run(NamedTuple):
    number: int
    burdened: bool
    status: int
    took_s: float
    cpu_s: float
    output: str

    @property
    def counted(self) -> str:
        """The closing line of pytest; empty if it was not reached."""
        lines = COUNTED.findall(self.output)
        return lines[-1] if lines else ""

    @property
    def failed(self) -> list[str]:
        """The tests that failed, or the last words of a run that did not come to its tests."""
        found = FAILED.findall(self.output)
        if self.status and not found:
            return [" ".join(self.output.split("\n")[-3:]).strip()]
        return found


@contextlib.contextmanager
def burning(processes: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """So many processes that do nothing but use up a core."""
    started = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)
    ]
    try:
        yield started
    finally:
        for each in started:
            each.kill()
            each.wait()


def run(number: int, burdened: bool, python: str, log: Path) -> Run:
    """One run of the whole suite, from a clone of what is committed."""
    with tempfile.TemporaryDirectory(prefix="referee-clone-") as folder, log.open("w") as out:
        clone = Path(folder, "referee")
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        with burning(BURNERS if burdened else 0) as burners:
            status = _make("packages", clone, python, out)
            began, before_s = time.monotonic(), _used_s(burners)
            status = status or _make("test", clone, python, out)
            took_s, cpu_s = time.monotonic() - began, _used_s(burners) - before_s
    return Run(number, burdened, status, took_s, cpu_s, log.read_text(errors="replace"))


def _make(target: str, clone: Path, python: str, out: IO[str]) -> int:
    command = ["make", target, f"PYTHON={python}"]
    return subprocess.run(command, cwd=clone, stdout=out, stderr=out, check=False).returncode


def _used_s(but: Sequence[subprocess.Popen[bytes]]) -> float:
    """By the whole machine, but for these processes."""
    return busy_s() - sum(cpu_ns(each.pid) for each in but) / 10**9


def table(runs: Sequence[Run]) -> Table:
    found = Table("run", "beside it", "minutes", "CPU s", "tests", "failed")
    for each in runs:
        beside = f"{BURNERS} burn CPU" if each.burdened else "nothing"
        told = "\n".join(each.failed) or ("none" if each.status == 0 else f"status {each.status}")
        time_told = f"{each.took_s / 60:.1f}", f"{each.cpu_s:.0f}"
        found.add_row(str(each.number), beside, *time_told, each.counted, Text(told))
    return found


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description="Run make test from clean clones, again and again."
    )
    parser.add_argument("--runs", type=int, default=6, help="how many (default: 6)")
    parser.add_argument("--burdened", type=int, help="how many of them under load (a third)")
    parser.add_argument("--logs", type=Path, default=Path(".test-repeat"), help="a folder")
    parser.add_argument("--python", default="python3", help="the Python to test with")
    given = parser.parse_args(words)
    burdened = given.runs // 3 if given.burdened is None else given.burdened
    if not 0 <= burdened <= given.runs or given.runs < 1:
        parser.error("--runs takes a number from 1, --burdened one from 0 to that of the runs")
    given.logs.mkdir(parents=True, exist_ok=True)
    for old in given.logs.glob("run-*.txt"):
        old.unlink()
    console = Console()
    if subprocess.check_output(["git", "status", "--porcelain"], cwd=ROOT):
        console.print("There are uncommitted changes, which a clone does not have.", style="yellow")
    runs: list[Run] = []
    for number in range(1, given.runs + 1):
        log = given.logs / f"run-{number}.txt"
        console.print(f"Run {number} of {given.runs}; what it prints is in {log}")
        runs.append(run(number, number > given.runs - burdened, given.python, log))
        console.print(table(runs[-1:]) if given.runs > 1 else "")
    console.print(table(runs))
    return int(any(each.status for each in runs))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
