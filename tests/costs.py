"""What the tests cost: the processor time of every folder, each in a run of its own.

    python -m tests.costs [FOLDER OR FILE...]

The time is that of the whole machine, as the kernel counts it, so nothing else may run beside it.
What processes say of their children would leave out bots and keepers: the process that forks
keepers waits for none of them. A run is over once its last process has ended, those included that
outlived whoever started them: this process becomes their parent.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.contest import busy_s
from referee.bots.keeping.starting import PR_SET_CHILD_SUBREAPER, prctl
from tests.repeat import COUNTED, ROOT

WORKERS = 2


class Cost(NamedTuple):
    name: str
    status: int
    cpu_s: float
    took_s: float
    counted: str


def cost(name: str, paths: Sequence[str]) -> Cost:
    """Of a run of these tests, once all of its processes have ended."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(WORKERS), "--dist", "loadfile"]
    before, began = busy_s(), time.monotonic()
    done = subprocess.run([*command, *paths], cwd=ROOT, capture_output=True, text=True, check=False)
    took_s = time.monotonic() - began
    _reap()
    counted = COUNTED.findall(done.stdout)
    return Cost(name, done.returncode, busy_s() - before, took_s, counted[-1] if counted else "")


def _reap() -> None:
    """Wait for what has lost its parent."""
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass


def parts() -> dict[str, list[str]]:
    """The folders of tests, and the files beside them as one more."""
    tests = ROOT / "tests"
    folders = sorted({path.relative_to(tests).parts[0] for path in tests.glob("*/**/test_*.py")})
    beside = [str(path) for path in sorted(tests.glob("test_*.py"))]
    return {**{name: [str(tests / name)] for name in folders}, "tests/*.py": beside}


def table(costs: Sequence[Cost]) -> Table:
    found = Table("tests", "CPU s", "seconds", "counted")
    for each in sorted(costs, key=lambda each: -each.cpu_s):
        found.add_row(each.name, f"{each.cpu_s:.1f}", f"{each.took_s:.1f}", each.counted)
    found.add_row("all", f"{sum(each.cpu_s for each in costs):.1f}")
    return found


def main(words: Sequence[str]) -> int:
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    costs: list[Cost] = []
    console = Console()
    for name, paths in ({word: [word] for word in words} or parts()).items():
        costs.append(cost(name, paths))
        console.print(f"{name}: {costs[-1].cpu_s:.1f} s of CPU")
    console.print(table(costs))
    return int(any(each.status for each in costs))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
