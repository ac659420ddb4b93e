"""Cases 22 and 23 once more: the referee is killed in the middle, and nothing is left either."""

from __future__ import annotations

import subprocess
import uuid
from pathlib import Path

import pytest

from tests.arena.playing import MARK, all_gone
from tests.cli.running import REFEREE, environment
from tests.hostile.cases import CASES, Case
from tests.hostile.running import put_honest, put_hostile
from tests.hostile.scene import Scene
from tests.waiting import PATIENCE_S, wait_for

STAYING = [case for case in CASES if {22, 23} & set(case.numbers)]


def started(scene: Scene, case: Case, level: str, programs: Path) -> subprocess.Popen[bytes]:
    """The command as an organiser runs it, with more games than it will come to play."""
    bots = [put_hostile(scene, case, level, programs), *put_honest(scene, programs, 20_000)]
    words = ["tournament", "--variant", "underdog", "--games", "1000", "--seed", "killed"]
    words += ["--format", "gauntlet", "--out", str(scene.folder), "--jobs", "1", "--events", "-"]
    words += ["--sandbox", level]
    for bot in bots:
        words += ["--bot", bot]
    return subprocess.Popen(
        [*REFEREE, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=scene.bots,
        env=environment(**{MARK: scene.mark}),
    )


def hear_of_hostile_games(process: subprocess.Popen[bytes]) -> None:
    """Until the hostile bot has played a game, and so has done its worst."""
    assert process.stdout is not None
    while line := process.stdout.readline():
        if line.startswith(b'{"event":"game"') and b'"bad"' in line:
            return
    raise AssertionError(process.stderr and process.stderr.read().decode())


@pytest.mark.parametrize("case", STAYING, ids=lambda case: case.name)
def test_killed_referee_leaves_nothing(
    case: Case, level: str, tmp_path: Path, programs: Path
) -> None:
    with Scene(tmp_path / "tournament").set() as scene:
        process = started(scene, case, level, programs)
        try:
            hear_of_hostile_games(process)
            assert [each for each in scene.processes() if "./stays" in each]
        finally:
            process.kill()
            process.communicate(timeout=PATIENCE_S)
        wait_for(lambda: not scene.processes(), "the end of all bots, walls and keepers")
        all_gone(scene.mark)
        assert scene.files() == []


def test_the_mark_is_found(tmp_path: Path) -> None:
    """So that what was seen above is no blindness."""
    with Scene(tmp_path / "tournament").set() as scene:
        word = f"{uuid.uuid4().hex}-{scene.mark}"
        reads = ["sh", "-c", "read line", word]
        with subprocess.Popen(reads, stdin=subprocess.PIPE) as process:
            wait_for(lambda: any(word in each for each in scene.processes()), "it to be seen")
            process.kill()
        wait_for(lambda: not scene.processes(), "it to be gone")
