"""A submission, looked at in a process of its own: unpacked, built, checked.

The request is one line of JSON on standard input, and each step is one line on standard output; the
last one is the verdict. What strangers handed in is built and run confined, as bots are. When
standard input ends, whoever asked is gone, and this process ends with all that it started.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from referee.bots.archive import BadArchive, unpack
from referee.bots.building import built
from referee.bots.cache import forget_content, of_content, readable_cache
from referee.bots.confinement import Confinement
from referee.bots.confinement.guard import NotConfined
from referee.bots.confinement.identity import servant
from referee.bots.confinement.levels import Level
from referee.bots.contents import hash_folder, remove, room_of
from referee.bots.keeper_process import NoKeeper
from referee.bots.manifest import BadBot, Bot, read_bot
from referee.bots.manifest_text import MANIFEST
from referee.clock import DEFAULT_STARTUP_MS, DEFAULT_WARM_UP_MS, Clock
from referee.daemon.definition import CACHE, FOLDER, definition_of
from referee.daemon.errand import end_with_the_asker, read_request
from referee.mistake import Mistake
from referee.rules.registry import all_variants
from referee.store.house.quotas import Allowance
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
    size: int
    """Of the archive, in bytes."""
    allowance: Allowance | None
    """What it may take of the disk, with its archive; None where there is no limit."""
    in_use: tuple[str, ...]
    """The content of other versions, whose builds have to stay."""
    rejected: str = ""
    """Why it is rejected already; then all that is done is to take away what is left of it."""


class Stage(Struct, frozen=True, tag="stage"):
    """How far it is."""

    state: Literal["checking"]


class Passed(Struct, frozen=True, tag="passed"):
    definition: str
    told: str
    room: int
    """Bytes that were unpacked and built of it."""


class Rejected(Struct, frozen=True, tag="rejected"):
    told: str
    late: bool = False
    """Whether it failed by its time alone. Then it may be checked again, and nothing of it is
    cleared up."""


class Postponed(Struct, frozen=True, tag="postponed"):
    """The machine could not do it now: this is no fault of the submission."""

    why: str


Finding = Stage | Passed | Rejected | Postponed


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

    finding = Rejected(request.rejected) if request.rejected else _finding(request, say)
    if not (isinstance(finding, Passed) or (isinstance(finding, Rejected) and finding.late)):
        clear(request)
    say(finding)


def clear(request: Request) -> None:
    """Take away what was unpacked and built of a version that does not play."""
    folder = _folder(Path(request.data), request.version)
    content = _content(folder)
    remove(folder)
    if content is not None and content not in request.in_use:
        for cache in _caches(request):
            forget_content(cache, request.name, content)


def _finding(request: Request, say: Any) -> Finding:
    try:
        return _examine(request, say)
    except (NotConfined, NoKeeper) as problem:
        return Postponed(str(problem))
    except (Mistake, BadArchive, OSError) as problem:
        if is_no_room(problem):
            return Postponed("the disk of the referee has no room for it")
        if isinstance(problem, Mistake):
            return Rejected(f"{problem}\n{problem.quoted}".strip())
        return Rejected(f"the archive cannot be unpacked: {problem}")


def _examine(request: Request, say: Any) -> Finding:
    data = Path(request.data)
    bot = unpacked(Path(request.archive), data, request.version).renamed(request.name)
    cache = (data / CACHE).resolve()
    built(bot, request.confinement, cache=cache, limit_ms=request.build_ms)
    room = _room(request, bot)
    if request.allowance is not None:
        request.allowance.must_cover(request.size + room)
    say(Stage("checking"))
    clock = request.clock
    if clock.move_ms is None:
        clock = Clock(move_ms=1000)
    terms = Terms(clock=clock, startup_ms=request.startup_ms, warm_up_ms=request.warm_up_ms)
    # The check builds in the usual cache of the machine; what is built already needs no building.
    ready = built(bot, request.confinement, cache=cache, limit_ms=request.build_ms)
    report = check_bot(ready, terms, confinement=request.confinement, handed_in=True)
    if not report.passed:
        return Rejected(told(report), report.late)
    if bot.variants is None and set(report.variants) < set(all_variants()):
        bot = replace(bot, variants=tuple(report.variants))
    if bot.stateless is None and report.has_passed("stateless"):
        bot = replace(bot, stateless=True)  # as its hello says
    return Passed(definition_of(bot, data), told(report), room)


def unpacked(archive: Path, data: Path, version: int) -> Bot:
    """The bot of an archive, in a folder of its own. Raises BadBot, BadArchive, OSError."""
    folder = _folder(data, version)
    remove(folder)
    folder.mkdir(parents=True, mode=0o755)
    with archive.open("rb") as file:
        unpack(file, folder, UNPACKED_BYTES)
    folder = _with_manifest(folder)
    try:
        return read_bot(folder)
    except BadBot as problem:
        # Where it was unpacked is nobody's business.
        raise BadBot(str(problem).replace(f"{folder}/", "")) from None


def _folder(data: Path, version: int) -> Path:
    """Where a version is unpacked."""
    return data.resolve() / FOLDER / str(version)


def _with_manifest(folder: Path) -> Path:
    """The bot's own folder: this one, or the one in it. Raises BadBot, OSError."""
    if (folder / MANIFEST).is_file():
        return folder
    inside = [each for each in folder.iterdir() if (each / MANIFEST).is_file()]
    if len(inside) != 1:
        raise BadBot(f"there is no {MANIFEST} in it: a bot is a folder with {MANIFEST}")
    return inside[0]


def _content(folder: Path) -> str | None:
    """By what its builds are known; None where it is no bot, of which nothing was built."""
    try:
        return hash_folder(_with_manifest(folder))
    except (BadBot, OSError):
        return None


def _caches(request: Request) -> list[Path]:
    """Where something may have been built of it."""
    own = (Path(request.data) / CACHE).resolve()
    confined = request.confinement.level is not Level.NONE
    return list({own, readable_cache(own, servant() if confined else None)})


def _room(request: Request, bot: Bot) -> int:
    """What was unpacked and built of it, in bytes."""
    made = [path for cache in _caches(request) for path in of_content(cache, bot.name, bot.hash)]
    folders = [_folder(Path(request.data), request.version), *filter(Path.is_dir, made)]
    return sum(map(room_of, folders))


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
