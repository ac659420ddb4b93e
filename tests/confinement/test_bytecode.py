"""A bot is what its hash says: what the hash leaves out is not there where a confined bot runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from referee.bots.building import built
from referee.bots.confinement import UNCONFINED
from referee.bots.confinement.walls import search_path
from referee.bots.manifest import Bot, read_bot
from tests.confinement.offered import a_bot, confined, walls
from tests.confinement.test_walls import notes

COMPILE = """
import importlib.util, py_compile, sys
source, other = sys.argv[1:]
cached = importlib.util.cache_from_source(source)
mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
py_compile.compile(other, cfile=cached, invalidation_mode=mode)
"""
LOOK = "import plan\nreturn plan.TOLD + ' ' + ','.join(sorted(os.listdir('.')))"


@pytest.fixture
def tmp_path(open_path: Path) -> Path:
    """What the bots' user cannot read would be copied for that alone."""
    return open_path


def two_faced(folder: Path, **keys: object) -> Bot:
    """A bot in Python of which a module is one thing in its source, and another as compiled."""
    a_bot(folder, LOOK, **keys)
    (folder / "plan.py").write_text("TOLD = 'source'\n")
    other = folder.with_name("other.py")
    other.write_text("TOLD = 'bytecode'\n")
    for python in {shutil.which("python3", path=search_path()), shutil.which("python3")}:
        assert python is not None
        words = [python, "-c", COMPILE, str(folder / "plan.py"), str(other)]
        subprocess.run(words, check=True, env={"PATH": search_path()})
    return read_bot(folder)


@walls
def test_other_bytecode_than_its_source_is_not_run(tmp_path: Path) -> None:
    bot = two_faced(tmp_path / "b")
    assert (tmp_path / "b" / "__pycache__").is_dir()
    assert set(notes(bot)) == {"source bot.py,bot.toml,plan.py"}


@walls
def test_nor_what_lies_in_its_repository(tmp_path: Path) -> None:
    folder = tmp_path / "b"
    (folder / "sub" / ".git").mkdir(parents=True)
    bot = a_bot(folder, "return ','.join(sorted(os.listdir('.') + os.listdir('sub')))")
    assert set(notes(bot)) == {"bot.py,bot.toml,sub"}


@walls
def test_links_to_the_system_stay(tmp_path: Path) -> None:
    """A folder that has Python's own environment in it, for one."""
    python = shutil.which("python3", path=search_path())
    assert python is not None
    two_faced(tmp_path / "b")
    (tmp_path / "b" / "python").symlink_to(python)
    manifest = tmp_path / "b" / "bot.toml"
    manifest.write_text(manifest.read_text().replace('"python3"', '"./python"'))
    assert set(notes(read_bot(tmp_path / "b"))) == {"source bot.py,bot.toml,plan.py,python"}


@walls
def test_what_a_build_compiles_is_run(tmp_path: Path) -> None:
    """It is made of what the hash is of."""
    build = '["python3", "-m", "compileall", "-q", "."]'
    bot = two_faced(tmp_path / "b", build=build)
    assert set(notes(bot)) == {"source __pycache__,bot.py,bot.toml,plan.py"}


@walls
def test_a_folder_that_is_as_its_hash_says_stays_where_it_is(tmp_path: Path) -> None:
    bot = a_bot(tmp_path / "b", "return ''")
    assert built(bot, confined, cache=tmp_path / "cache").folder == bot.folder
    (tmp_path / "b" / "__pycache__").mkdir()
    copy = built(bot, confined, cache=tmp_path / "cache").folder
    assert copy is not None
    assert copy.parent == tmp_path / "cache"
    assert sorted(os.listdir(copy)) == ["bot.py", "bot.toml"]  # noqa: PTH208
    assert read_bot(copy).hash == bot.hash


def test_the_hash_of_an_honest_bot_does_not_change_by_playing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unconfined it runs where it lies, and Python writes there."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    bot = a_bot(tmp_path / "b", LOOK)
    (tmp_path / "b" / "plan.py").write_text("TOLD = 'source'\n")
    bot = read_bot(tmp_path / "b")
    assert notes(bot, UNCONFINED)[0].startswith("source")
    assert (tmp_path / "b" / "__pycache__").is_dir()
    assert read_bot(tmp_path / "b").hash == bot.hash
