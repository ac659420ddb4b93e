"""A submission, looked at in a process of its own: unpacked, built, checked.

The request is one line of JSON on standard input, and each step is one line on standard output; the
last one is the verdict. What strangers handed in is built and run confined, as bots are. When
standard input ends, whoever asked is gone, and this process ends with all that it started.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from referee.bots.archive import BadArchive, unpack
from referee.bots.building import built
from referee.bots.confinement import Confinement
from referee.bots.manifest import MANIFEST, BadBot, Bot, read_bot
from referee.clock import DEFAULT_STARTUP_MS, DEFAULT_WARM_UP_MS, Clock
from referee.daemon.definition import CACHE, FOLDER, definition_of
from referee.daemon.errand import end_with_the_asker, read_request
from referee.mistake import Mistake
from referee.rules.registry import all_variants
from referee.store.trouble import is_no_room
from referee.workshop.check.report import Report, Step
from referee.workshop.check.run import check_bot
from referee.workshop.check.sitting import Terms

UNPACKED_BYTES = 200_000_000
LINE = 500
"""Characters of a quoted line that are kept."""


class Request(Struct, frozen=True, kw_only=True):
    """What to look at, and how."""

    data: str
    version: int
    name: str
    """What the bot is called in the house, whatever its manifest says."""
    archive: str
    confinement: Confinement
    clock: Clock
    build_ms: int
    startup_ms: int = DEFAULT_STARTUP_MS
    warm_up_ms: int = DEFAULT_WARM_UP_MS


class Stage(Struct, frozen=True, tag="stage"):
    """How far it is."""

    state: Literal["checking"]


class Passed(Struct, frozen=True, tag="passed"):
    definition: str
    told: str


class Rejected(Struct, frozen=True, tag="rejected"):
    told: str


class NoRoom(Struct, frozen=True, tag="no room"):
    """The disk took no more: this is no fault of the submission."""


Finding = Stage | Passed | Rejected | NoRoom


def main() -> None:
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    request = read_request(Request)
    end_with_the_asker()

    def say(finding: Finding) -> None:
        try:
            out.write(msgspec.json.encode(finding) + b"\n")
        except BrokenPipeError:
            os._exit(1)  # whoever asked is gone, and the watch has not seen it yet

    say(_finding(request, say))


def _finding(request: Request, say: Any) -> Finding:
    try:
        return _examine(request, say)
    except (Mistake, BadArchive, OSError) as problem:
        if is_no_room(problem):
            return NoRoom()
        if isinstance(problem, Mistake):
            return Rejected(f"{problem}\n{problem.quoted}".strip())
        return Rejected(f"the archive cannot be unpacked: {problem}")


def _examine(request: Request, say: Any) -> Finding:
    data = Path(request.data)
    bot = unpacked(Path(request.archive), data, request.version).renamed(request.name)
    cache = (data / CACHE).resolve()
    built(bot, request.confinement, cache=cache, limit_ms=request.build_ms)
    say(Stage("checking"))
    clock = request.clock
    if clock.move_ms is None:
        clock = Clock(move_ms=1000)
    terms = Terms(clock=clock, startup_ms=request.startup_ms, warm_up_ms=request.warm_up_ms)
    # The check builds in the usual cache of the machine; what is built already needs no building.
    ready = built(bot, request.confinement, cache=cache, limit_ms=request.build_ms)
    report = check_bot(ready, terms, confinement=request.confinement, handed_in=True)
    if not report.passed:
        return Rejected(told(report))
    if bot.variants is None and set(report.variants) < set(all_variants()):
        bot = replace(bot, variants=tuple(report.variants))
    return Passed(definition_of(bot, data), told(report))


def unpacked(archive: Path, data: Path, version: int) -> Bot:
    """The bot of an archive, in a folder of its own. Raises BadBot, BadArchive, OSError."""
    folder = data.resolve() / FOLDER / str(version)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o755)
    with archive.open("rb") as file:
        unpack(file, folder, UNPACKED_BYTES)
    if not (folder / MANIFEST).is_file():
        inside = [each for each in folder.iterdir() if (each / MANIFEST).is_file()]
        if len(inside) != 1:
            raise BadBot(f"there is no {MANIFEST} in it: a bot is a folder with {MANIFEST}")
        folder = inside[0]
    try:
        return read_bot(folder)
    except BadBot as problem:
        # Where it was unpacked is nobody's business.
        raise BadBot(str(problem).replace(f"{folder}/", "")) from None


def told(report: Report) -> str:
    """What the author of a bot is told of its check."""
    lines = [f"checked at level {report.level}"]
    for step in report.steps:
        lines.append(f"{step.result}: {step.name}: {step.detail}")
        if step.result == "failed":
            lines += _quoted(step)
    verdict = "passed" if report.passed else f"failed: {', '.join(report.failed)}"
    return "\n".join([*lines, f"{report.bot}: {verdict}"])


def _quoted(step: Step) -> list[str]:
    parts = (("sent", step.sent), ("stdout", step.stdout), ("stderr", step.stderr))
    return [f"    {name}: {line[:LINE]}" for name, quoted in parts for line in quoted[-20:]]
