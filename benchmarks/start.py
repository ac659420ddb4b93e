"""The starts of the command: CPU time until there is something to see, over a bare Python.

    make bench-start

(a) `--version`, `--help` and `match --help`, from start to end.
    Aim: at most 30, 200 and 200 ms.
(b) `match` and `tournament` until their first bot runs: the bot says so, and at that moment they
    are killed. Told apart: the command itself, the worker of a tournament, the processes that fork
    keepers, and at level standard the probe, which confines processes to see that the level holds.
    What the first bot takes is not counted. Aim for a match at level standard: at most 250 ms in
    all.

Each repeat runs everything once beside a bare `python -c pass`, whose CPU time is taken off the
command's; the figures are medians. They are what the kernel counted for each process, user and
system. Nobody waits for the processes of the probe, so those are counted by themselves, where
somebody does.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.sizes import SizeParser
from referee.bots import fork_server
from referee.bots.confinement.attempt import attempt
from referee.bots.confinement.levels import Level
from referee.bots.confinement.probe import OUTSIDE, holds
from referee.bots.keeping.kin import children

COMMAND = (sys.executable, "-c", "from referee.cli import main; main()")
BARE = (sys.executable, "-c", "pass")
WHOLE = {"version": ["--version"], "help": ["--help"], "match_help": ["match", "--help"]}
PARTS = {"match": ["fork server"], "tournament": ["worker", "fork servers"]}
"""What each command starts before its first bot, beside the probe."""
AIMS_MS = {"version": 30, "help": 200, "match_help": 200, "match_standard": 250}
COUNTED = Path(__file__).with_name("counted_keeper.py")
PR_SET_CHILD_SUBREAPER = 36
WITHIN_S = 120.0
FIFO = "shown/fifo"
BOT = "echo > {fifo}\nread line\nread line\n"
"""It says that it runs, and then nothing that the referee could hear."""
MANIFEST = 'name = "{name}"\ncommand = ["sh", "bot.sh"]\n'
KINDS = {b"keeper.py": "forks keepers", b"referee.tournament.worker": "worker"}
"""What a process that a command starts is, by a part of its command line."""


class Failed(Exception):
    """The command came to no bot."""


def await_end(pid: int = -1) -> tuple[int, float]:
    """Of a child, or of any: which one, and its CPU time in ms, with that of the children that it
    had waited for. Raises ChildProcessError where there is none."""
    ended, _, used = os.wait4(pid, 0)
    return ended, (used.ru_utime + used.ru_stime) * 1000


def await_all() -> dict[int, float]:
    """The same for every child there is."""
    used: dict[int, float] = {}
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, ms = await_end()
            used[pid] = ms
    return used


def whole_ms(*words: str) -> float:
    """A command from start to end."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, ms = await_end(process.pid)
    process.returncode = 0
    return ms


def first_bot_ms(folder: Path, *words: str) -> dict[str, float]:
    """A command until its first bot runs, by what its processes are. Raises Failed."""
    fifo = os.open(folder / FIFO, os.O_RDWR)
    with (folder / "stderr").open("wb") as stderr:
        process = subprocess.Popen(
            [*COMMAND, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=stderr
        )
    kinds = {process.pid: "command"}
    try:
        _await_bot(fifo, process.pid, folder / "stderr")
        kinds |= _started_by(process.pid)
    finally:
        for pid in kinds:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        used = await_all()  # With what they leave: keepers, and the bot.
        process.returncode = 0
        os.close(fifo)
    found: dict[str, float] = defaultdict(float)
    for pid, kind in kinds.items():
        # One that had ended was waited for by its parent, and is in the time of that.
        found[kind] += used.get(pid, 0.0)
    return found


def _await_bot(fifo: int, pid: int, stderr: Path) -> None:
    poll = select.poll()
    poll.register(fifo, select.POLLIN)
    deadline = time.monotonic() + WITHIN_S
    while not poll.poll(100):
        ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is not None or time.monotonic() > deadline:
            raise Failed(f"the command came to no bot: {stderr.read_text()}")


def _started_by(pid: int) -> dict[int, str]:
    """The processes that it and its workers have started, and what each is; not their keepers."""
    found: dict[int, str] = {}
    for child in children(pid):
        line = Path(f"/proc/{child}/cmdline").read_bytes()
        kind = next((kind for part, kind in KINDS.items() if part in line), "other")
        found[child] = kind
        if kind == "worker":
            found |= _started_by(child)
    return found


def probe_ms(probes: int) -> float:
    """What the processes take that a probe of level standard confines, with their keepers."""
    fork_server.SCRIPT = COUNTED
    for _ in range(probes):
        attempt(Level.STANDARD, OUTSIDE)
    fork_server.SERVER.close()
    return sum(await_all().values()) / probes


def make_bots(folder: Path) -> list[str]:
    """Two bots, as a command names them."""
    folder.chmod(0o755)  # Another user runs them where root confines them.
    (folder / FIFO).parent.mkdir()
    os.mkfifo(folder / FIFO)
    (folder / FIFO).chmod(0o666)
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "bot.toml").write_text(MANIFEST.format(name=name))
        (folder / name / "bot.sh").write_text(BOT.format(fifo=folder / FIFO))
    return ["./a", "./b"]


def measured(levels: list[Level], repeats: int) -> dict[str, float]:
    """The median of every figure, less the bare Python of the same repeat in those of commands."""
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="referee-bench-") as made:
        folder = Path(made)
        first, second = make_bots(folder)
        for number in range(repeats + 1):
            bare = whole_ms(*BARE)
            row = {"bare_ms": bare}
            for name in WHOLE:
                row[f"{name}_ms"] = whole_ms(*COMMAND, *WHOLE[name]) - bare
            for level in levels:
                confined = ("--sandbox", level.value, "--expose", str((folder / FIFO).parent))
                match = first_bot_ms(folder, "match", first, second, *confined)
                row[f"match_{level}_ms"] = match["command"] - bare
                row[f"match_{level}_fork_server_ms"] = match["forks keepers"]
                bots = (f"--bot={first}", f"--bot={second}", "--jobs=1", f"--out=t{level}{number}")
                contest = first_bot_ms(folder, "tournament", *bots, *confined)
                row[f"tournament_{level}_ms"] = contest["command"] - bare
                row[f"tournament_{level}_worker_ms"] = contest["worker"]
                row[f"tournament_{level}_fork_servers_ms"] = contest["forks keepers"]
            if number:  # The first one brings everything into memory.
                for name, ms in row.items():
                    found.setdefault(name, []).append(ms)
    return {name: round(statistics.median(each), 1) for name, each in found.items()}


def main() -> None:
    parser = SizeParser(__doc__)
    parser.add_size("--repeats", 15, 1)
    parser.add_size("--probes", 20, 1, about="of level standard")
    arguments = parser.sizes()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    levels = [Level.NONE, *([Level.STANDARD] if holds(Level.STANDARD) else [])]
    fork_server.SERVER.close()
    result = measured(levels, arguments.repeats)
    print(f"CPU time in ms over a bare Python, which takes {result['bare_ms']}")
    print("(a) from start to end")
    for name, words in WHOLE.items():
        told = f"  {' '.join(words):22} {result[f'{name}_ms']:6.1f}"
        print(f"{told}   aim {AIMS_MS[name]}")
    print("(b) until the first bot runs")
    if Level.STANDARD in levels:
        result["probe_ms"] = round(probe_ms(arguments.probes), 1)
    for level in levels:
        _tell_first_bots(result, level)
    print(json.dumps(result))


def _tell_first_bots(result: dict[str, float], level: Level) -> None:
    """A row for each command, and all of it together."""
    probe = result["probe_ms"] if level is Level.STANDARD else 0.0
    for command, parts in PARTS.items():
        name = f"{command}_{level}"
        figures = {part: result[f"{name}_{part.replace(' ', '_')}_ms"] for part in parts}
        if probe:
            figures["probe"] = probe
        result[f"{name}_all_ms"] = round(sum(figures.values()) + result[f"{name}_ms"], 1)
        told = ", ".join(f"{part} {ms:.1f}" for part, ms in figures.items())
        aim = f"   aim {AIMS_MS[name]}" if name in AIMS_MS else ""
        print(
            f"  {command + ', ' + level:22} {result[f'{name}_all_ms']:6.1f}: itself "
            f"{result[f'{name}_ms']:.1f}, {told}{aim}"
        )


if __name__ == "__main__":
    main()
