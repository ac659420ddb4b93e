"""`--cluster local`: quiet however it ends, heard on loopback alone, and no bot notices it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
import uuid
from collections.abc import Collection
from pathlib import Path

import pytest

from tests.arena.playing import MARK, PROC, all_gone
from tests.cluster.clustering import begin, bot_folder, ended, some_games
from tests.daemon.serving import processes_of
from tests.waiting import wait_for

SIGNALS = """\
import sys

for line in open("/proc/self/status") if sys.platform == "linux" else ():
    if line.startswith(("SigBlk", "SigIgn")):
        sys.stderr.write(line)
"""
TAKEN = 8787
"""A port that dask likes to have."""


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """By which all that a command starts is known."""
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK, mark)
    return mark


def words(folder: Path, *more: object, games: int = 2000) -> list[object]:
    for place, name in enumerate(("low", "next")):
        source = bot_folder(folder, name, place, 0.01) / "bot.py"
        source.write_text(SIGNALS + source.read_text())
    bots = ("--bot", folder / "low", "--bot", folder / "next")
    fixed = ("--variant", "underdog", "--sandbox", "none", "--block", 4)
    return [*fixed, *bots, "-n", games, *more]


@pytest.mark.parametrize("presses", [1, 2])
@pytest.mark.parametrize("children", [1, 2, 3, None])
def test_ctrl_c_is_for_the_command_alone(
    children: int | None, presses: int, tmp_path: Path, mark: str
) -> None:
    """A terminal sends it to the workers too, which may be on their way yet."""
    process = begin(tmp_path, *words(tmp_path, "--cluster", "local", "--jobs", 2, "--out", "t"))
    if children is None:
        some_games(tmp_path / "t")
    else:
        wait_for(lambda: len(processes_of(process.pid)) >= children, f"{children} processes of it")
    for press in range(presses):
        time.sleep(0.3 * press)
        with contextlib.suppress(ProcessLookupError):  # it has ended
            os.killpg(process.pid, signal.SIGINT)
    status, said = ended(process)
    lines = said.splitlines()
    assert (status, lines.pop()) == (130, "referee: interrupted"), said
    if lines:
        assert "go on with: referee tournament --resume t" in lines.pop(), said
        assert len(lines) in (0, 2), said
    assert lines or children is not None
    all_gone(mark)


@pytest.mark.skipif(not PROC, reason="without /proc nobody tells")
def test_it_is_heard_here_alone_and_ends_with_the_command(tmp_path: Path, mark: str) -> None:
    process = begin(tmp_path, *words(tmp_path, "--cluster", "local", "--jobs", 2, "--out", "t"))
    some_games(tmp_path / "t")
    loopback = socket.inet_aton("127.0.0.1")
    heard = listening([process.pid, *processes_of(process.pid)])
    assert heard == {f"{int.from_bytes(loopback, sys.byteorder):08X}"}
    process.send_signal(signal.SIGKILL)
    process.communicate()
    all_gone(mark)


@pytest.mark.skipif(not PROC, reason="without /proc nobody tells")
def test_bots_begin_as_without_a_cluster(tmp_path: Path) -> None:
    """And nothing is said of a port that somebody else has."""
    given = words(tmp_path, "--jobs", 2, games=20)
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):  # somebody else has it
            taken.bind(("127.0.0.1", TAKEN))
            taken.listen()
        status, said = ended(begin(tmp_path, *given, "--cluster", "local", "--out", "there"))
    assert status == 0, said
    assert "arning" not in said
    assert str(TAKEN) not in said
    status, said = ended(begin(tmp_path, *given, "--out", "here"))
    assert status == 0, said
    there, here = signals(tmp_path / "there"), signals(tmp_path / "here")
    assert there == here
    assert f"SigBlk:\t{0:016x}" in there


def signals(folder: Path) -> Collection[str]:
    """What the bots of a tournament told of theirs."""
    logs = [path.read_text() for path in (folder / "logs").rglob("*.txt")]
    return {line for text in logs for line in text.splitlines() if line.startswith("Sig")}


def listening(pids: Collection[int]) -> set[str]:
    """The addresses at which these processes can be reached, as the system writes them."""
    theirs: set[str] = set()
    for folder in (Path(f"/proc/{pid}/fd") for pid in pids):
        with contextlib.suppress(OSError):  # it has ended
            theirs |= {str(path.readlink()) for path in folder.iterdir()}
    found: set[str] = set()
    for table in ("tcp", "tcp6"):
        for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            _, address, _, state, *_, socket_id = row.split()[:10]
            if state == "0A" and f"socket:[{socket_id}]" in theirs:
                found.add(address.partition(":")[0])
    return found
