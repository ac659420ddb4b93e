"""Ended from outside: Ctrl-C, SIGTERM, a reader that has had enough. No bot is left behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from referee.verifying import verify
from tests.arena.playing import MARK, PROC, left_of
from tests.cli.running import REFEREE, environment
from tests.waiting import PATIENCE_S

SLEEPER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","name":"sleeper"}', flush=True)
    elif message["type"] == "turn":
        if message["game"] == "3":
            open(sys.argv[1], "w").write("asleep")
            while True:
                sys.stdin.read()
        print(json.dumps({"id": message["id"], "move": message["legal"][0]}), flush=True)
"""
"""Plays two games. In the third it says so through a named pipe, and never answers."""


@pytest.mark.parametrize(
    ("number", "status", "told"),
    [
        (signal.SIGINT, 130, b"referee: interrupted\n"),
        (signal.SIGTERM, 143, b"referee: terminated\n"),
    ],
)
def test_a_match_is_ended(number: signal.Signals, status: int, told: bytes, tmp_path: Path) -> None:
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    asleep = tmp_path / "asleep"
    os.mkfifo(asleep)
    ear = os.open(asleep, os.O_RDONLY | os.O_NONBLOCK)
    mark = uuid.uuid4().hex
    sleeper = f"{sys.executable} -S sleeper.py asleep"
    process = subprocess.Popen(
        [*REFEREE, "match", f"a={sleeper}", "lowest", "--time", "none", "--records", "games"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(**{MARK: mark}),
    )
    try:
        ready, _, _ = select.select([ear], [], [], PATIENCE_S)
        assert ready, "the bot never came to its third game"
        assert len(left_of(mark)) >= 5 or not PROC, "the referee, two keepers and two bots"
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        process.wait()
        os.close(ear)
    finished = b"2 of 100 games were finished\n"
    assert (process.returncode, out, err) == (status, b"", finished + told)
    assert left_of(mark) == []
    report = verify((tmp_path / "games").read_bytes().splitlines(keepends=True))
    assert (report.judged, report.mismatches) == (2, []), "what was finished is kept"


@pytest.mark.parametrize(
    "words",
    [
        ("variants",),
        ("variants", "--json"),
        ("match", "random", "lowest", "-n", "400", "--records", "-", "--time", "60s"),
        ("match", "random", "lowest", "-n", "2", "--json", "--time", "60s"),
    ],
    ids=" ".join,
)
def test_a_closed_pipe_ends_it_quietly(words: tuple[str, ...], tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    theirs, ours = os.pipe()
    process = subprocess.Popen(
        [*REFEREE, *words],
        stdout=ours,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(**{MARK: mark}),
    )
    os.close(ours)
    os.close(theirs)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 141
    assert b"Traceback" not in err
    assert b"Error" not in err
    assert b"Broken" not in err
    assert left_of(mark) == []


def test_the_first_line_is_enough(tmp_path: Path) -> None:
    shell = '"$@" | head -n 1'
    words = ("match", "random", "lowest", "-n", "400", "--records", "-", "--time", "60s")
    done = subprocess.run(
        ["sh", "-c", shell, "sh", *REFEREE, *words],
        capture_output=True,
        cwd=tmp_path,
        env=environment(),
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"\n") == 1
    assert verify([done.stdout]).judged == 1
