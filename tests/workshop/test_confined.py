"""`watch` and `repro` of confined bots, for real, and what is said where nothing can confine."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.record import Record, encode_record, read_records
from tests.arena.playing import MARK, all_gone, left_of
from tests.cli.running import REFEREE, Done, environment, on_terminal, referee
from tests.facts import Naming
from tests.waiting import PATIENCE_S, wait_for
from tests.workshop.confined import put_bot

STANDARD = ("--sandbox", "standard")
SLOW = ("--time", "60s")
NOTICE = Naming("unconfined", "bwrap", "see referee doctor")
TELLS = "print('my folder is', os.getcwd(), file=sys.stderr)"
LOUD = (
    "def turn(self, message):\n    print('#' * 200_000, file=sys.stderr)\n    super().turn(message)"
)
HANGS = "def turn(self, message): time.sleep(600)"
CRASHES = "def turn(self, message): sys.exit(3)"
LEAVES_LATE = "def bye(self):\n    time.sleep(2)\n    print('I am off', file=sys.stderr)"
HOLDS_TERMINAL = "print('holds a terminal:', os.isatty(2), file=sys.stderr)"


def watched(place: Path, first: str, second: str, *words: object) -> tuple[Done, Record]:
    done = referee(place, "watch", first, second, *SLOW, "--records", "game", *words)
    with (place / "game").open("rb") as file:
        ((_, record),) = read_records(file)
    return done, record


# Watch.


def test_watch(place: Path) -> None:
    put_bot(place, "mine", TELLS)
    done, record = watched(place, "mine", "highest", *STANDARD)
    assert (done.status, done.err) == (0, "")
    assert (record.level, record.ending) == ("standard", "rules")
    assert len(record.cpu_us) == len(record.moves)
    log = place / "referee-logs" / "mine.stderr.txt"
    assert log.read_text() == "my folder is /bot\n"
    _, free = watched(place, "mine", "highest")
    assert free.level == "none"
    assert log.read_text() == f"my folder is {place / 'mine'}\n"


def test_watch_a_bot_that_writes_beside_itself(place: Path) -> None:
    put_bot(place, "mine", "open('log.txt', 'w')")
    done, record = watched(place, "mine", "highest", *STANDARD)
    assert done.status == 0
    assert (record.ending, record.at_fault) == ("no_start", (0,))
    assert "Read-only file system" in done.out


# Repro.


def test_repro(place: Path) -> None:
    put_bot(place, "mine", TELLS)
    watched(place, "mine", "highest", *STANDARD)
    done = referee(place, "repro", "game", "--bot", "mine", *STANDARD)
    assert done.status == 0
    assert done.out.splitlines()[-1] == Naming("no fault of mine.")
    assert "level" not in done.out
    assert "gdb -p " in done.err
    assert "my folder is /bot\n" in done.err
    as_json = referee(place, "repro", "game", "--bot", "mine", *STANDARD, "--json")
    told = json.loads(as_json.out)
    assert (told["holds"], told["level"]) == (True, "standard")


def test_repro_at_another_level(place: Path) -> None:
    put_bot(place, "mine", "open('log.txt', 'a')")
    watched(place, "mine", "highest", *STANDARD)
    again = referee(place, "repro", "game", "--bot", "mine", *STANDARD)
    assert (again.status, again.out.splitlines()[-1]) == (
        0,
        "The recorded fault, no_start, came again.",
    )
    assert "Read-only file system: 'log.txt'" in again.err
    free = referee(place, "repro", "game", "--bot", "mine")
    assert free.status == 1
    assert free.out.splitlines()[1] == "The game was played at level standard, and now it is none."
    assert free.out.splitlines()[-1] == Naming("no_start", "not come again.")


def test_a_fault_comes_again(place: Path) -> None:
    put_bot(place, "mine", CRASHES)
    _, record = watched(place, "mine", "highest", *STANDARD)
    assert record.fault is not None
    done = referee(place, "repro", "game", "--bot", "mine", *STANDARD)
    assert done.status == 0
    assert "turn 1: crash, the bot exited with status 3" in done.out
    assert record.fault.detail == "the bot exited with status 3"


def test_stderr_comes_whole(place: Path) -> None:
    put_bot(place, "mine", LOUD)
    _, record = watched(place, "mine", "highest", "-v", "difference", *STANDARD)
    done = referee(place, "repro", "game", "--bot", "mine", *STANDARD)
    assert done.status == 0
    assert done.err.count("#") == 200_000 * sum(seat == 0 for seat, _ in record.moves)


def test_the_terminal_stays_the_authors(place: Path) -> None:
    """A bot that had the terminal for writing could read what its author types."""
    put_bot(place, "mine", HOLDS_TERMINAL)
    watched(place, "mine", "highest", *STANDARD)
    status, seen = on_terminal(place, "repro", "game", "--bot", "mine", *STANDARD)
    assert (status, "holds a terminal: False\r\n" in seen) == (0, True), seen


def _until(process: subprocess.Popen[bytes], text: bytes) -> bytes:
    assert process.stderr is not None
    err = b""
    while text not in err:
        assert select.select([process.stderr], [], [], PATIENCE_S)[0], err
        data = os.read(process.stderr.fileno(), 65_536)
        assert data, err
        err += data
    return err


def _interrupted(process: subprocess.Popen[bytes]) -> int:
    process.send_signal(signal.SIGINT)
    return process.wait(PATIENCE_S)


def _killed(process: subprocess.Popen[bytes]) -> int:
    process.kill()
    return process.wait(PATIENCE_S)


@pytest.mark.parametrize(("ended", "status"), [(_interrupted, 130), (_killed, -9)])
def test_nothing_is_left_of_a_bot_that_hangs(
    place: Path, ended: Callable[[subprocess.Popen[bytes]], int], status: int
) -> None:
    put_bot(place, "mine", HANGS, env={MARK: (mark := uuid.uuid4().hex)})
    put_bot(place, "good")
    _, record = watched(place, "good", "highest", *STANDARD)
    (place / "game").write_bytes(encode_record(record) + b"\n")
    process = subprocess.Popen(
        [*REFEREE, "repro", "game", "--bot", "mine", "--seat", "0", *STANDARD],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=place,
        env=environment(),
    )
    try:
        _until(process, b"gdb -p")
        wait_for(lambda: left_of(mark), "the bot to run")
        assert ended(process) == status
        all_gone(mark)
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


def test_wait_until_the_bot_has_left(place: Path) -> None:
    """Whoever pauses has all the time in the world, before the first line and at the end."""
    put_bot(place, "mine", LEAVES_LATE)
    watched(place, "mine", "highest", *STANDARD)
    words = ("repro", "game", "--bot", "mine", *STANDARD)
    waited, hurried = referee(place, *words, "--wait", stdin=b"\n"), referee(place, *words)
    assert (waited.status, hurried.status) == (0, 0)
    assert "press Enter to go on\n" in waited.err
    assert ("I am off" in waited.err, "I am off" in hurried.err) == (True, False)


# Where nothing can confine.


@pytest.fixture
def bare_machine(tmp_path: Path) -> Callable[..., Done]:
    """The command on a machine that has Python and nothing else."""
    programs = tmp_path / "programs"
    programs.mkdir()
    python = programs / "python3"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)

    def run(*words: object, stdin: bytes = b"") -> Done:
        return referee(tmp_path, *words, stdin=stdin, PATH=str(programs), REFEREE_SANDBOX="")

    return run


def test_one_line_says_that_nothing_confines(
    tmp_path: Path, bare_machine: Callable[..., Done]
) -> None:
    watch = ("watch", "highest", "random", *SLOW, "--records", "game")
    check = ("check", "highest", "-v", "difference", "--time", "20s", "--startup", "60s", "--json")
    play = ("play", "--against", "highest")
    repro = ("repro", "game", "--bot", "highest")
    for words in (watch, check, play, repro):
        done = bare_machine(*words)
        assert done.status == 0, done
        assert done.err.splitlines()[0] == NOTICE, done.err
        assert done.err.count("unconfined") == 1
        asked_for = bare_machine(*words, "--sandbox", "none")
        assert (asked_for.status, "unconfined" in asked_for.err) == (0, False)
    with (tmp_path / "game").open("rb") as file:
        ((_, record),) = read_records(file)
    assert record.level == "none"


def test_a_level_that_is_not_there_is_refused(bare_machine: Callable[..., Done]) -> None:
    watch = ("watch", "highest", "random", "--records", "game")
    assert bare_machine(*watch).status == 0
    for words in (
        watch,
        ("check", "highest"),
        ("play", "--against", "highest"),
        ("repro", "game", "--bot", "highest"),
    ):
        done = bare_machine(*words, *STANDARD)
        assert (done.status, done.out) == (3, ""), done
        assert done.err == Naming("referee: level standard ", "bwrap")
        assert done.err.count("\n") == 1


def test_two_people_need_no_walls(bare_machine: Callable[..., Done]) -> None:
    done = bare_machine("play", stdin=b"quit\n")
    assert (done.status, done.err) == (0, "")
