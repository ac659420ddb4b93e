"""The calls of 32-bit programs and of x32 do not go round the filter."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from referee.bots.building import built
from referee.bots.confinement import Confinement
from referee.bots.confinement.levels import Level
from referee.bots.manifest import read_bot
from referee.bots.starting import start_bot
from tests.confinement.offered import LEVELS, walls
from tests.hostile.compiling import compiled
from tests.once import shared_folder
from tests.waiting import PATIENCE_S

pytestmark = [
    walls,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="a matter of x86-64 alone"),
]
ENDS = {"i386": ("was killed by SIGSYS", b""), "x32": ("exited with status 0", b"refused")}
"""How the program ends, and its first word."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("abi.c", shared_folder(tmp_path_factory) / "hostile-programs")


def answer(program: Path, kind: str) -> str:
    """The program's first word without walls. Skips where the kernel ends it for its call, or is
    built without those of 32 bits."""
    done = subprocess.run([program, kind], capture_output=True, text=True, check=False)
    word = done.stdout.partition(" ")[0].strip()
    if done.returncode < 0 or (kind, word) == ("i386", "refused"):
        pytest.skip(f"this kernel runs no programs of {kind}")
    return word


def test_without_walls_the_kernel_answers(program: Path) -> None:
    """Most kernels know calls of 32 bits; few know those of x32."""
    assert answer(program, "i386") == "done"


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", ENDS)
def test_behind_walls_it_gets_nothing(
    kind: str, level: Level, program: Path, tmp_path: Path
) -> None:
    answer(program, kind)
    folder = tmp_path / "b"
    folder.mkdir()
    shutil.copy(program, folder / "abi")
    (folder / "bot.toml").write_text(f'name = "b"\ncommand = ["./abi", "{kind}"]\n', "utf-8")
    confined = Confinement(level=level)
    bot = built(read_bot(folder), confined, cache=tmp_path / "cache")
    process = start_bot(bot, confined)
    try:
        process.await_start(PATIENCE_S)
        ended = process.how_it_ended(PATIENCE_S)
        said = os.read(process.stdout, 100)
        assert (ended, said.partition(b" ")[0]) == ENDS[kind]
    finally:
        process.close()
