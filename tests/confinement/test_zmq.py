"""A bot that speaks ZeroMQ behind walls: it reaches the referee's socket, and nothing else."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import msgspec
import pytest
import zmq

from referee.bots.confinement import Confinement
from referee.bots.confinement.levels import Level
from referee.bots.manifest import Bot, read_bot, sample_folder
from referee.match import play_match
from referee.record import Record
from tests.confinement.burning import USED, slow
from tests.confinement.offered import LEVELS, walls
from tests.confinement.test_standing_still import burned

SYSTEM_PYTHON = Path("/usr/bin/python3")
PROBE = """
import os, socket
found = []
for family in (socket.AF_INET, socket.AF_INET6):
    try:
        socket.socket(family)
        found.append(family.name)
    except OSError:
        pass
try:
    open("/link/other", "w")
    found.append("writes")
except OSError:
    pass
print("could:", *found, "sees:", *sorted(os.listdir("/link")), flush=True)
"""


def same_python() -> bool:
    """Whether the system's Python can use the libraries of the one that runs the tests."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return SYSTEM_PYTHON.exists() and SYSTEM_PYTHON.resolve().name == version


pytestmark = [
    walls,
    pytest.mark.skipif(not same_python(), reason="the system's Python is of another version"),
]


def with_library(folder: Path, sample: str) -> Bot:
    """The sample bot with what it needs in its own folder, as protocol.md says."""
    shutil.copytree(sample_folder() / sample, folder)
    packages = Path(zmq.__file__).parents[1]
    for name in ("zmq", "pyzmq.libs", "msgpack"):
        if (packages / name).exists():
            shutil.copytree(packages / name, folder / "lib" / name)
    with (folder / "bot.toml").open("a") as file:
        file.write('env = {PYTHONPATH = "lib"}\n')
    return read_bot(folder)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("sample", ["zmq-highest", "zmq-random"])
def test_it_plays(sample: str, level: Level, tmp_path: Path) -> None:
    bot = with_library(tmp_path / sample, sample)
    records: list[Record] = []
    play_match(
        bot,
        "random",
        games=4,
        time="20s",
        confinement=Confinement(level=level),
        on_record=records.append,
    )
    assert [record.ending for record in records] == ["rules"] * 4


@pytest.mark.parametrize("level", LEVELS)
def test_it_sees_the_socket_and_no_network(level: Level, tmp_path: Path) -> None:
    bot = with_library(tmp_path / "bot", "zmq-highest")
    source = (tmp_path / "bot" / "bot.py").read_text()
    (tmp_path / "bot" / "bot.py").write_text(PROBE + source)
    bot = msgspec.structs.replace(read_bot(tmp_path / "bot"), name="probe")
    result = play_match(
        bot,
        "random",
        games=1,
        time="20s",
        confinement=Confinement(level=level),
        logs=tmp_path / "logs",
    )
    assert Path(result.logs["probe"]).read_text() == "could: sees: referee\n"


@pytest.mark.parametrize("level", LEVELS)
def test_its_children_do_not_burn_while_the_other_bot_thinks(level: Level, tmp_path: Path) -> None:
    with_library(tmp_path / "burns", "zmq-highest")
    script = tmp_path / "burns/bot.py"
    source = script.read_text()
    noted = source.replace('{"move": move}', '{"move": move, "note": told(message)}')
    assert noted != source
    body = "".join(f"    {line}\n" for line in USED.splitlines())
    script.write_text(f"def told(message):\n{body}{noted}")
    with (tmp_path / "burns/bot.toml").open("a") as file:
        file.write("processes = 40\n")
    bots = (
        msgspec.structs.replace(read_bot(tmp_path / "burns"), name="burns"),
        slow(tmp_path / "slow"),
    )
    free, frozen = (
        burned(*bots, Confinement(level=level, freeze=freeze)) for freeze in (False, True)
    )
    assert frozen < free / 2, (frozen, free)
