"""A tournament, with a look at the memory of the referee's own processes while it is played.

    python -m tests.hostile.measuring < ORDER

As a program it takes its order as JSON and plays in a process that has nothing else to do.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.tournament.begin import play_tournament
from referee.tournament.events import Tick, Told
from referee.tournament.spec import Spec
from tests.arena.playing import ROOT
from tests.hostile.pace import PACE

OURS = (b"referee.tournament.worker", b"keeper.py")
"""By what the referee's own processes are told from the bots: a word of their command lines."""
PATIENCE_S = 120 * PACE


class Order(Struct, frozen=True):
    spec: Spec
    folder: str


class Measured(Struct, frozen=True):
    took_s: float
    peak_kb: int
    """The most that any one process of the referee has had in memory; 0 if nobody looked."""


def play(order: Order) -> Measured:
    """Play here, without a look at the memory."""
    return Measured(play_tournament(order.spec, order.folder).took_s, 0)


def play_and_look(order: Order) -> Measured:
    """Play here; what this process had in memory before counts as well."""
    peak_kb = 0

    def look(_: Told | Tick) -> None:
        # A peak stays on record while the process lives: there is time to look for it.
        nonlocal peak_kb
        peak_kb = max(peak_kb, *map(_peak_kb, _own_processes()))

    result = play_tournament(order.spec, order.folder, listener=look, each_game=True)
    return Measured(result.took_s, peak_kb)


def play_apart(order: Order, env: dict[str, str]) -> Measured:
    """Play in a process of its own, and look at the memory."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile.measuring"],
        input=msgspec.json.encode(order),
        capture_output=True,
        timeout=PATIENCE_S,
        cwd=ROOT,
        env={**os.environ, **env},
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return msgspec.json.decode(done.stdout, type=Measured)


def _own_processes() -> list[int]:
    """This one, and those of the referee that descend from it."""
    parents: dict[int, int] = {}
    ours: set[int] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(folder.name)] = int(stat[1])
        if any(word in words for word in OURS):
            ours.add(int(folder.name))
    return [os.getpid(), *(pid for pid in ours if _descends(pid, parents))]


def _descends(pid: int, parents: dict[int, int]) -> bool:
    while pid > 1:
        pid = parents.get(pid, 0)
        if pid == os.getpid():
            return True
    return False


def _peak_kb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def main() -> None:
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    sys.stdout.buffer.write(msgspec.json.encode(play_and_look(order)))


if __name__ == "__main__":
    main()
