"""Fuzz the readers for a given time.

    make fuzz SECONDS=60 [TARGET=session]
    python -m fuzz.run [TARGET …] --seconds 60 [--json]
    python -m fuzz.run TARGET --input FILE      what one input does

Every target gets the given time, one after another. With atheris (`pip install -e .[fuzz]`) the
inputs are guided by which code they reach; without it they are bent blindly, and the output says
so. Inputs that reached something new are kept in .fuzz/ and are where the next run begins. The
status is 1 where something was found, else 0.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from fuzz.finds import HOME, SAID, Find, Watch, folder_of
from fuzz.mutations import LONGEST, mutations
from fuzz.seeds import SEEDS, WORDS
from fuzz.targets import TARGETS, load

PROGRESS_S = 10
PATIENCE_S = 20
"""An input that takes longer ends the run."""
MOST_MEMORY_MB = 1024
_STATUS = re.compile(r"#(\d+)\s+\w+\s+cov: (\d+) ft: \d+ corp: (\d+)")
_ARTIFACT = re.compile(r"Test unit written to (\S+)")


class Outcome(NamedTuple):
    target: str
    guided: bool
    executions: int
    per_second: int
    reached: int | None
    """Places in the code; None where nobody counted."""
    inputs: int
    """How many are kept, each for something that only it reaches."""
    found: list[Find]


def main() -> int:
    options = _options()
    if options.input:
        return _again(options.targets, options.input)
    outcomes = []
    for target in options.targets or TARGETS:
        outcome = _fuzz(target, options.seconds, quiet=options.json)
        outcomes.append(outcome)
        if not options.json:
            print("\n".join(_summary(outcome)), flush=True)
    if options.json:
        told = [{**each._asdict(), "found": [_shown(f) for f in each.found]} for each in outcomes]
        print(json.dumps({"seconds": options.seconds, "targets": told}))
    return int(any(outcome.found for outcome in outcomes))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Fuzz the readers for a given time.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--input", type=Path, help="try this one file, and nothing else")
    parser.add_argument("--json", action="store_true", help="one JSON object at the end")
    options = parser.parse_args()
    for target in options.targets:
        if target not in TARGETS:
            parser.error(f"no target {target}; they are {', '.join(TARGETS)}")
    if options.input and len(options.targets) != 1:
        parser.error("--input is for one target")
    return options


def _again(targets: Sequence[str], path: Path) -> int:
    """What one input does: nothing, or the whole traceback."""
    load(targets[0])(path.read_bytes())
    print(f"{targets[0]}: every promise holds for {path}")
    return 0


def _shown(find: Find) -> dict[str, str]:
    return {**find._asdict(), "command": find.command}


def _summary(outcome: Outcome) -> Iterator[str]:
    reached = "" if outcome.reached is None else f", {outcome.reached} places in the code reached"
    speed = f"{outcome.executions:,} inputs, {outcome.per_second:,} a second"
    yield f"{outcome.target}: {speed}{reached}; {len(outcome.found)} found"
    for find in outcome.found:
        yield f"  {find.what}"
        yield f"    {find.command}"


def _fuzz(target: str, seconds: int, *, quiet: bool) -> Outcome:
    seeds = SEEDS[target]()
    guided = find_spec("atheris") is not None
    if not quiet:
        how = "" if guided else ", unguided: atheris is not installed"
        print(f"{target}: {seconds} s from {len(seeds)} seeds{how}", flush=True)
    fuzz = _guided if guided else _blindly
    return fuzz(target, seeds, seconds, quiet=quiet)


def _blindly(target: str, seeds: Sequence[bytes], seconds: int, *, quiet: bool) -> Outcome:
    watch, found, executions = Watch(target, load(target)), [], 0
    began = shown = time.monotonic()
    for data in mutations(seeds, WORDS[target], time.time_ns()):
        now = time.monotonic()
        if now - began > seconds:
            break
        executions += 1
        find = watch(data)
        if find is not None:
            found.append(find)
        if now - shown > PROGRESS_S and not quiet:
            shown = now
            print(f"  {now - began:.0f} s, {executions:,} inputs, {len(found)} found", flush=True)
    return Outcome(target, False, executions, executions // max(seconds, 1), None, 0, found)


def _guided(target: str, seeds: Sequence[bytes], seconds: int, *, quiet: bool) -> Outcome:
    found: list[Find] = []
    executions = reached = inputs = 0
    last = ""
    began = shown = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        command = _command(target, seeds, seconds, Path(scratch))
        # libFuzzer leaves without cleaning up; what it leaves is in `scratch`.
        environment = {**os.environ, "TMPDIR": scratch, "PYTHONUNBUFFERED": "1"}
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                find = _find_in(line, target)
                if find is not None:
                    found.append(find)
                if status := _STATUS.match(line):
                    executions, reached, inputs = (int(number) for number in status.groups())
                elif line.strip():
                    last = line.strip()
                now = time.monotonic()
                if now - shown > PROGRESS_S and not quiet:
                    shown = now
                    places = f"{reached} places, {inputs} inputs kept"
                    told = f"{executions:,} inputs, {places}, {len(found)} found"
                    print(f"  {now - began:.0f} s, {told}", flush=True)
        if process.returncode and not found:
            found.append(Find(target, f"the fuzzer ended with {process.returncode}: {last}", ""))
    per_second = int(executions / max(time.monotonic() - began, 1))
    return Outcome(target, True, executions, per_second, reached, inputs, found)


def _command(target: str, seeds: Sequence[bytes], seconds: int, scratch: Path) -> list[str]:
    start, words = scratch / "seeds", scratch / "words"
    start.mkdir()
    for number, seed in enumerate(seeds):
        (start / str(number)).write_bytes(seed)
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in WORDS[target]))
    kept, broke = HOME / "corpus" / target, folder_of(target)
    for folder in (kept, broke):
        folder.mkdir(parents=True, exist_ok=True)
    return [
        *(sys.executable, "-m", "fuzz.guided", target),
        *(f"-max_total_time={seconds}", f"-max_len={LONGEST}", f"-timeout={PATIENCE_S}"),
        *(f"-rss_limit_mb={MOST_MEMORY_MB}", f"-dict={words}", f"-artifact_prefix={broke}/"),
        *(str(kept), str(start), str(broke)),
    ]


def _escaped(word: str) -> str:
    """As libFuzzer reads its dictionaries."""
    return "".join(f"\\x{byte:02x}" for byte in word.encode())


def _find_in(line: str, target: str) -> Find | None:
    """What a line of the fuzzer says that it found, by its own eyes or by ours."""
    if line.startswith(SAID):
        path, _, what = line.removeprefix(SAID).strip().partition(" ")
        return Find(target, what, path)
    written = _ARTIFACT.search(line)
    if written is None:
        return None
    path = written[1]
    kind = Path(path).name.partition("-")[0]
    told = {"timeout": f"longer than {PATIENCE_S} s", "oom": f"more than {MOST_MEMORY_MB} MB"}
    return Find(target, told.get(kind, kind), path)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
