"""What runs on a worker of the cluster: it knows its machine, makes bots ready and plays orders.

These functions are called by dask, in threads. What they take and give is plain data, so that they
can be called by another version of the referee, which then says so. Games are played by the same
worker process as on one machine, a child of the dask worker. When the dask worker ends, however it
does, the child's input ends, and the child and its bots with it.
"""

from __future__ import annotations

import contextlib
import os
import platform
import random
import select
import shutil
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from referee.bots.archive import BadArchive
from referee.bots.building import built
from referee.bots.confinement import Confinement
from referee.bots.confinement.guard import NotConfined
from referee.bots.confinement.levels import Level
from referee.bots.confinement.probe import best_level, holds, why_not
from referee.bots.manifest import BadBot, Bot
from referee.cluster.fingerprint import fingerprint
from referee.cluster.hands import Hands
from referee.cluster.parcel import SCRIPT, Parcel, is_here, keep, parcels_folder
from referee.cluster.stations import contestants_of
from referee.mistake import Mistake
from referee.tournament.chunk import (
    Call,
    Chunk,
    Contestant,
    Order,
    from_plain,
    read_order,
    read_report,
)
from referee.tournament.crew import LostWorker
from referee.tournament.workers import READ_BYTES, Worker
from referee.version import __version__

LOOK_S = 0.25
ENDS = ("done", "called", "failed")
"""Reports after which nothing of an order follows."""
LOG_BYTES = 64 * 1024
"""Of a bot's stderr in a chunk, what is sent back."""


class Tagged(Struct):
    """A report, as far as one has to know which it is."""

    type: str


def survey(commands: tuple[str, ...], parcels: tuple[str, ...]) -> dict[str, Any]:
    """What this machine is, and which of these programs and parcels it has."""
    lacking = why_not(Level.STANDARD)
    return {
        "version": __version__,
        "code": fingerprint(),
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "host": platform.node(),
        "cores": len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count(),
        "levels": [level.value for level in Level if holds(level)],
        "lacking": "" if lacking is None else lacking.reason,
        "remedy": "" if lacking is None else lacking.remedy,
        "missing": [command for command in commands if shutil.which(command) is None],
        "parcels": [name for name in parcels if is_here(name)],
    }


def make_ready(
    bots: bytes, confinement: bytes, limit_ms: int, parcels: dict[str, bytes]
) -> dict[str, tuple[str, str] | None]:
    """Take these bots in; by name, why one of them cannot be played here, and what its build said
    of it."""
    for name, body in parcels.items():
        with contextlib.suppress(BadArchive, OSError, BadBot):  # told of with its bot, below
            keep(Parcel(name, body))
    confined = _confinement(_read(confinement, Confinement))
    there: list[Bot] = _read(bots, list[Bot])
    # Others on this machine are at the same: in another order, each builds what another does not.
    random.shuffle(there)
    with ThreadPoolExecutor(_threads()) as builders:
        troubles = builders.map(lambda bot: _trouble(bot, confined, limit_ms), there)
        return {bot.name: trouble for bot, trouble in zip(there, troubles, strict=True)}


def _trouble(bot: Bot, confinement: Confinement, limit_ms: int) -> tuple[str, str] | None:
    try:
        _READY.get(bot, confinement, limit_ms)
    except Lacking:
        return "it could not be sent", ""
    except Mistake as problem:
        return str(problem).removeprefix(f"{bot.name}: "), problem.quoted
    except OSError as problem:
        return str(problem), ""
    return None


def work(order: bytes) -> dict[str, Any]:
    """Play an order. Gives back its reports, and what its bots wrote to stderr.

    Raises Lacking where a bot is not here any more, LostWorker where the child broke down,
    NotConfined.
    """
    # In dask's folder: what a killed worker leaves there is removed by the next one.
    with tempfile.TemporaryDirectory(prefix="referee-logs-", dir=_scratch()) as logs:
        here = _localized(read_order(order), Path(logs))
        hand = _HANDS.take({each.id for each in contestants_of(here)})
        try:
            reports = _played(hand, here)
            hand.note_kept(read_report(reports[-1]))
        except BaseException:
            hand.process.kill()
            _HANDS.end(hand)
            raise
        _HANDS.give_back(hand)
        return {
            "reports": reports,
            "logs": _logs(Path(logs)),
            "level": here.manner.confinement.level.value,
            "at_hand": _HANDS.at_hand(),
        }


class Lacking(Exception):
    """A parcel is not on this machine; the message is its name."""


class Unwanted(Exception):
    """Whoever gave the order is gone, or has the games from elsewhere."""


class _Ready:
    """Bots that can be started here."""

    def __init__(self) -> None:
        self._bots: dict[tuple[str, str, str], Bot] = {}

    def get(self, bot: Bot, confinement: Confinement, limit_ms: int | None = None) -> Bot:
        """Raises Lacking, BadBot."""
        assert bot.folder is not None
        key = (bot.name, bot.folder.name, confinement.level)
        found = self._bots.get(key)
        if found is None or not (found.folder and found.folder.exists()):
            found = self._bots[key] = _built(bot, confinement, limit_ms)
        return found


def _built(bot: Bot, confinement: Confinement, limit_ms: int | None) -> Bot:
    assert bot.folder is not None
    name = bot.folder.name
    if not is_here(name) or limit_ms is None:
        raise Lacking(name)
    return built(replace(bot, folder=parcels_folder() / name), confinement, limit_ms=limit_ms)


_HANDS, _READY = Hands(), _Ready()


def _confinement(asked: Confinement) -> Confinement:
    """As strictly as this machine can, where it is to be strict at all. Raises NotConfined."""
    if asked.level is Level.NONE:
        return asked
    best = best_level()
    if best is Level.NONE:
        raise NotConfined("bots cannot be confined here any more")
    return replace(asked, level=best)


def _localized(order: Order, logs: Path) -> Order:
    """The order with this machine's folders in it."""
    confinement = _confinement(order.manner.confinement)
    manner = replace(order.manner, confinement=confinement, logs=logs, logs_go=True)

    def settled(contestant: Contestant) -> Contestant:
        if contestant.out:
            return contestant  # It is not started, and may not be here.
        return replace(contestant, bot=_READY.get(contestant.bot, confinement))

    if isinstance(order, Call):
        return replace(order, contestant=settled(order.contestant), manner=manner)
    return replace(
        order,
        first=settled(order.first),
        second=settled(order.second),
        variant=_variant(order),
        manner=manner,
    )


def _variant(chunk: Chunk) -> str:
    if not chunk.variant.startswith(SCRIPT):
        return chunk.variant
    name, _, file = chunk.variant.partition("/")
    if not is_here(name):
        raise Lacking(name)
    return str(parcels_folder() / name / file)


def _played(hand: Worker, order: Order) -> list[bytes]:
    """Every report of an order, as it came."""
    wanted = _asker()
    hand.give(order)
    bodies: list[bytes] = []
    poll = select.poll()
    poll.register(hand.fd, select.POLLIN)
    while True:
        if not poll.poll(LOOK_S * 1000):
            if not wanted():
                raise Unwanted
            continue
        data = os.read(hand.fd, READ_BYTES)
        if not data:
            raise LostWorker(hand.how_it_ended())
        bodies += hand.frames.feed(data)
        if bodies and msgspec.msgpack.decode(bodies[-1], type=Tagged).type in ENDS:
            return bodies


def _asker() -> Callable[[], bool]:
    """Tells whether anybody still waits for what this thread does."""
    from distributed import get_worker

    try:
        worker = get_worker()
        key = worker.get_current_task()
    except ValueError:  # called without dask
        return lambda: True

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state != "cancelled"

    return wanted


def _threads() -> int:
    """How many orders this worker takes at a time."""
    from distributed import get_worker

    try:
        return int(get_worker().state.nthreads)
    except ValueError:  # called without dask
        return 1


def _scratch() -> str | None:
    """The folder that dask has for this worker."""
    from distributed import get_worker

    try:
        folder = get_worker().local_directory
    except ValueError:  # called without dask
        return None
    return folder if Path(folder).is_dir() else None


def _logs(folder: Path) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*.txt")):
        text = path.read_bytes()[-LOG_BYTES:]
        if text:
            found[str(path.relative_to(folder))] = text
    return found


def _read(body: bytes, kind: Any) -> Any:
    return msgspec.msgpack.decode(body, type=kind, dec_hook=from_plain)
