"""A small tournament with one hostile bot and two honest ones, and what must hold after it."""

from __future__ import annotations

import json
import shutil
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from referee.record import Record
from referee.store.database import Store
from referee.tournament.spec import Spec
from tests.hostile.cases import GRACE_MS, LIMITS, Case, Expected
from tests.hostile.compiling import PROGRAMS, compiled
from tests.hostile.measuring import Measured, Order, play, play_apart
from tests.hostile.pace import PACE
from tests.hostile.scene import Scene
from tests.waiting import wait_for

BAD, HONEST = "bad", ("good", "other")
MOST_KB = 200 * 1024
NOISE_S = 60.0 * PACE
"""What other things on the same machine may cost a tournament of some games. A program that were
waited for would cost ten minutes."""
STARTING_S = 0.5 * PACE
"""And each start of a bot that has lost a game by a fault."""
STDERR_BYTES = 64 * 1024


class Finding(Struct, frozen=True):
    """What a hostile program tells of one attempt."""

    attempt: str
    done: bool
    count: int
    why: str


class Played(NamedTuple):
    measured: Measured
    records: list[Record]
    findings: list[Finding]
    logs: list[Path]
    """Of the hostile bot."""

    def of(self, *names: str) -> list[Record]:
        """The games of all these bots."""
        return [record for record in self.records if set(names) <= set(record.players)]


class Recipe(NamedTuple):
    """What a bot's folder is made of."""

    program: str
    words: list[str]
    cache: Path
    """Of compiled programs."""
    python: str = "python3"
    processes: int | None = None


def put_bot(folder: Path, recipe: Recipe) -> str:
    """A bot of the folder's name: the program, what it needs, and its manifest."""
    stem = Path(recipe.program).stem
    if recipe.program.endswith(".c"):
        folder.mkdir(parents=True)
        shutil.copy(compiled(recipe.program, recipe.cache), folder / stem)
        command = [f"./{stem}"]
    else:
        inside = folder / "tests" / "hostile" / "programs"
        inside.mkdir(parents=True)
        for source in ("bot.py", recipe.program):
            shutil.copy(PROGRAMS / source, inside / source)
        command = [recipe.python, "-S", "-m", f"tests.hostile.programs.{stem}"]
    lines = [
        f"name = {json.dumps(folder.name)}",
        f"command = {json.dumps([*command, *recipe.words])}",
        f"processes = {recipe.processes or 1}",
    ]
    (folder / "bot.toml").write_text("\n".join(lines) + "\n", "utf-8")
    return str(folder)


def put_honest(scene: Scene, cache: Path, think_us: int = 0) -> list[str]:
    bots: list[str] = []
    for salt, name in enumerate(HONEST, start=1):
        words = [str(salt), str(think_us), scene.mark]
        bots.append(put_bot(scene.bots / name, Recipe("honest.c", words, cache)))
    return bots


def put_hostile(scene: Scene, case: Case, level: str, cache: Path) -> str:
    wanted = case.tame if level == "none" and case.tame is not None else case.words
    words = [*scene.words(wanted), scene.mark]
    # What runs the tests is there for sure, but only where it may be seen.
    python = sys.executable if level == "none" else "python3"
    return put_bot(scene.bots / BAD, Recipe(case.program, words, cache, python, case.processes))


def terms(case: Case | None, level: str) -> dict[str, Any]:
    """What a spec says on confinement."""
    limits = {**LIMITS, **(case.limits if case is not None else {})}
    freeze = case is not None and case.freeze and level != "none"
    return {"sandbox": level, "limits": limits, "freeze": freeze}


def spec(bots: list[str], case: Case | None, level: str, games: int, options: Any) -> Spec:
    return Spec(
        name="hostile",
        variants=("underdog",),
        bots=tuple(bots),
        games=games,
        options={"underdog": options} if options else {},
        time=f"{case.move_ms if case is not None else 5_000}ms",
        grace=f"{GRACE_MS}ms",
        warm_up="0ms",
        seed="hostile",
        salt="0" * 32,
        jobs=1,
        **terms(case, level),
    )


def play_case(scene: Scene, case: Case, level: str, cache: Path) -> Played:
    """The tournament: the hostile bot meets both honest ones, and these meet each other."""
    hostile = put_hostile(scene, case, level, cache)
    honest = put_honest(scene, cache, case.think_us)
    order = Order(
        spec([hostile, *honest], case, level, case.games, case.options), str(scene.folder)
    )
    measured = play_apart(order, {}) if case.flat else play(order)
    return _read(scene.folder, measured)


def play_without(scene: Scene, cache: Path, level: str, games: int, options: Any) -> Played:
    """The same without the hostile bot, at the same level: starts cost more behind walls."""
    order = Order(spec(put_honest(scene, cache), None, level, games, options), str(scene.folder))
    return _read(scene.folder, play(order))


def _read(folder: Path, measured: Measured) -> Played:
    decoder = msgspec.msgpack.Decoder(Record)
    with Store.read(folder) as store:
        records = [decoder.decode(body) for _, _, body in store.records()]
    logs = sorted((folder / "logs").rglob(f"{BAD}.stderr*.txt"))
    findings: list[Finding] = []
    for log in logs:
        lines = log.read_bytes().splitlines()
        findings += [
            msgspec.json.decode(line, type=Finding)
            for line in lines
            if line.startswith(b'{"attempt":')
        ]
    return Played(measured, records, findings, logs)


# What must hold.


def judged_as_expected(played: Played, expected: Expected, level: str) -> None:
    """Every game of the hostile bot ended as it should, by its own fault or by nobody's."""
    games = played.of(BAD)
    assert games
    for record in games:
        seat = record.players.index(BAD)
        told = (record.ending, record.fault)
        assert record.level == level
        assert record.ending in expected.endings, told
        if record.fault is None:
            assert record.at_fault == ()
        else:
            assert (record.at_fault, record.winner) == ((seat,), 1 - seat)
            assert expected.detail in record.fault.detail, told
            if record.fault.spent_us is not None and record.fault.limit_us is not None:
                assert record.fault.spent_us < record.fault.limit_us + NOISE_S * 1e6, told


def found_as_expected(played: Played, expected: Expected) -> None:
    """What the hostile program says that it managed to do."""
    found: dict[str, list[Finding]] = defaultdict(list)
    for finding in played.findings:
        found[finding.attempt].append(finding)
    for attempt in expected.refused:
        assert found[attempt], f"{attempt} was not tried"
        assert not any(finding.done for finding in found[attempt]), found[attempt]
    for attempt in expected.done:
        assert any(finding.done for finding in found[attempt]), (attempt, found[attempt])
    for attempt, most in expected.at_most.items():
        # A program that was ended has told nothing.
        assert found[attempt] or expected.endings != ("rules",), f"{attempt} was not tried"
        assert all(finding.count <= most for finding in found[attempt]), found[attempt]
    for attempt, least in expected.at_least.items():
        assert any(finding.count >= least for finding in found[attempt]), (attempt, found[attempt])


def honest_games_are(played: Played, without: Played) -> None:
    """The honest bots have played the very games that they play without the hostile one."""

    def games(which: Played) -> list[object]:
        return [
            (each.players, each.chance, each.bot_seeds, each.moves, each.ending, each.scores)
            for each in which.of(*HONEST)
        ]

    assert games(played) == games(without)
    assert all(record.fault is None for record in played.of(*HONEST))


def lost_no_more_time(played: Played, without: Played, case: Case) -> None:
    """The hostile bot has cost its limits, and the starts that its faults made necessary."""
    calm_s = without.measured.took_s
    broken = sum(record.fault is not None for record in played.records) // case.at_once
    games, calls = len(played.of(BAD)) // case.at_once, len(HONEST) + 1
    lost_s = (games * case.lost_ms + calls * case.leaving_ms) / 1000
    lost_s += broken * STARTING_S
    thought_s = sum(map(sum, (record.spent_us for record in played.records))) / 1e6
    assert played.measured.took_s - thought_s < lost_s + 3 * calm_s + NOISE_S


def nothing_is_left(scene: Scene, expected: Expected) -> None:
    wait_for(lambda: not scene.processes(), lambda: f"the end of {scene.processes()}")
    assert bool(scene.files()) is expected.leaves_files, scene.files()


def logs_are_short(played: Played, starts: int) -> None:
    """Each process adds 64 KiB and a line on what was left out."""
    for log in played.logs:
        assert log.stat().st_size <= starts * (STDERR_BYTES + 100), log
