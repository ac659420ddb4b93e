"""Who plays: honest, broken and hostile bots, each in a folder of its own.

The honest ones are sample bots, and bots of the tests that hold the referee to the protocol; the
broken ones are the bots of tests/bots, the hostile ones the cases of tests/hostile. All carry the
mark of this soak in their environment, and the hostile ones in their command line too, so that
whatever stays of them is found.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Literal, TypeVar

from msgspec import Struct

from referee.bots.manifest import sample_folder
from tests.hostile.cases import CASES, Case

ROOT = Path(__file__).resolve().parents[1]
MARK = "REFEREE_SOAK_MARK"
PYTHON = ("python3", "-S", "-m")
COMPILE = ("-std=gnu11", "-O1", "-pthread")
ONLY_BEHIND_WALLS = {*range(1, 7), *range(26, 31)}
"""Numbers of cases that would take the machine's memory, or do harm to others, at level none."""
BUILT = "highest-c"
"""A sample bot that has to be compiled, so that there is a build to be interrupted."""
HONEST: tuple[str | tuple[str, ...], ...] = (
    *("highest", ("honest",), BUILT, "random"),
    *(("honest", "16"), "counter", ("steady", "8"), "lowest"),
)
"""Sample bots by name; of tests/bots the script and its words, as below."""
BROKEN: tuple[tuple[str, ...], ...] = (
    ("crash", "status"),
    ("hang", "silent"),
    ("flood", "line"),
    ("children", "daemon"),
    ("garbage", "60,000 brackets"),
    ("startup", "exits"),
    ("illegal", "number", "8"),
    ("pipes", "closes stdout"),
    ("crash", "idle"),
    ("flood", "stderr only"),
    ("ids", "never"),
    ("startup", "protocol 2"),
    ("pipes", "deaf", "16"),
    ("crash", "some", "8"),
    ("spinning", "threads", "1"),
    ("garbage", "bad UTF-8"),
    ("children", "child", "crash"),
    ("ids", "stale", "300"),
    ("crash", "between"),
    ("illegal", "resign"),
    ("murmur",),
    ("flood", "garbage"),
    ("startup", "half"),
    ("crash", "signal"),
    ("pipes", "closes stdin"),
    ("hang", "spaces"),
    ("ids", "twice"),
    ("slow_fault", "0.02"),
    ("startup", "garbage"),
    ("crash", "half"),
)
FORKING = {"children": 8}
"""Scripts that are to have leave to fork behind walls, and how many processes."""

Kind = Literal["honest", "broken", "hostile"]
Item = TypeVar("Item")


class Entrant(Struct, frozen=True):
    """A bot that takes part."""

    name: str
    kind: Kind
    folder: Path


class Field:
    """Makes the folders of the bots."""

    def __init__(
        self, place: Path, level: str, mark: str, compiler: str | None, values: Mapping[str, str]
    ) -> None:
        self._bots = place / "bots"
        self._programs = place / "programs"
        self._level = level
        self._mark = mark
        self._compiler = compiler
        self._values = values
        """What the {words} of a case stand for."""

    def make(self, size: int, chance: Random) -> list[Entrant]:
        """So many bots, or all: at least three honest ones, and as many broken as hostile ones."""
        honest = [what for what in HONEST if what != BUILT or self._compiler is not None]
        honest = _some(honest, max(3, size // 5), chance)
        hostile = [case for case in CASES if self._may_play(case)]
        hostile = _some(hostile, max(1, (size - len(honest)) // 2), chance)
        broken = _some(BROKEN, max(1, size - len(honest) - len(hostile)), chance)
        # In turn, so that the first pairings are of all kinds.
        ranks = zip_longest(
            (self._put(what, "honest") for what in honest),
            (self._put(what, "broken") for what in broken),
            (self._put_case(case) for case in hostile),
        )
        return [entrant for rank in ranks for entrant in rank if entrant is not None]

    def _may_play(self, case: Case) -> bool:
        if case.program.endswith(".c") and self._compiler is None:
            return False
        return self._level != "none" or not ONLY_BEHIND_WALLS & {*case.numbers}

    def _put(self, what: str | tuple[str, ...], kind: Kind) -> Entrant:
        """A sample bot, or a script of tests/bots."""
        if isinstance(what, str):
            folder = self._bots / what
            shutil.copytree(sample_folder() / what, folder)
            with (folder / "bot.toml").open("a", encoding="utf-8") as manifest:
                manifest.write(self._env())
            return Entrant(what, kind, folder)
        script, *words = what
        name = _plain(*what)
        self._copy_scripts(name, "tests/bots", "base.py", f"{script}.py")
        command = (*PYTHON, f"tests.bots.{script}", *words)
        return self._written(name, kind, command, FORKING.get(script))

    def _put_case(self, case: Case) -> Entrant:
        name, stem = _plain(case.name), Path(case.program).stem
        if case.program.endswith(".c"):
            (self._bots / name).mkdir(parents=True)
            shutil.copy(self._compiled(case.program), self._bots / name / stem)
            command: tuple[str, ...] = (f"./{stem}",)
        else:
            self._copy_scripts(name, "tests/hostile/programs", "bot.py", case.program)
            command = (*PYTHON, f"tests.hostile.programs.{stem}")
        tame = case.tame if self._level == "none" else None
        words = [word.format(**self._values) for word in tame or case.words]
        return self._written(name, "hostile", (*command, *words, self._mark), case.processes)

    def _copy_scripts(self, name: str, home: str, *scripts: str) -> None:
        inside = self._bots / name / home
        inside.mkdir(parents=True)
        for script in scripts:
            shutil.copy(ROOT / home / script, inside / script)

    def _written(
        self, name: str, kind: Kind, command: Sequence[str], processes: int | None
    ) -> Entrant:
        folder = self._bots / name
        lines = [f"name = {json.dumps(name)}\n", f"command = {json.dumps(command)}\n", self._env()]
        if processes is not None:
            lines.append(f"processes = {processes}\n")
        (folder / "bot.toml").write_text("".join(lines), "utf-8")
        return Entrant(name, kind, folder)

    def _env(self) -> str:
        return f'env = {{ {MARK} = "{self._mark}" }}\n'

    def _compiled(self, name: str) -> Path:
        """The program of a source of tests/hostile, compiled once."""
        program = self._programs / Path(name).stem
        if not program.exists():
            self._programs.mkdir(exist_ok=True)
            source = ROOT / "tests" / "hostile" / "programs" / name
            command = [self._compiler or "cc", *COMPILE, "-o", str(program), str(source)]
            subprocess.run(command, check=True)
        return program


def _some(items: Sequence[Item], count: int, chance: Random) -> list[Item]:
    return chance.sample(items, min(count, len(items)))


def _plain(*words: str) -> str:
    """As the name of a bot and of its folder."""
    return "-".join(re.findall(r"[A-Za-z0-9_]+", " ".join(words)))
