"""`referee repro`: what people see of a game that is given again, and what is refused."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from referee.record import Record, encode_record
from referee.workshop.repro import Repro
from tests.arena.playing import MARK, ROOT, bot, honest, left_of
from tests.cli.running import (
    REFEREE,
    each,
    environment,
    on_terminal,
    planned,
    referee,
    refuses,
)
from tests.facts import Naming
from tests.waiting import PATIENCE_S
from tests.workshop.one_game import game

NO_FAULT = "The record has no fault of"


def write(path: Path, records: Sequence[Record]) -> None:
    path.write_bytes(b"".join(encode_record(record) + b"\n" for record in records))


def test_what_people_see(tmp_path: Path) -> None:
    match = ("match", planned("bad", "first", "99"), planned("good", "last"), "-n", 2, "--no-pin")
    other = planned("bad", "last", "99")
    same, found = (
        referee(tmp_path, *match, "--time", "60s", "--records", "games"),
        (
            ("repro", "games", "2", "--bot", planned("bad", "first", "99")),
            ("repro", "games", "2", "--bot", other),
            ("repro", "games", "1", "--bot", planned("bad", "first")),
            ("repro", "games", "1", "--bot", planned("good", "last")),
            ("repro", "games", "1", "--bot", planned("new", "first"), "--seat", 1),
            ("repro", "games", "2", "--bot", "bad=true"),
            ("repro", "games", "1", "--bot", planned("good", "exit")),
        ),
    )
    assert same.status == 0
    again, differs, mended, good, new, broken, mute = each(tmp_path, found)
    title = "Game 2 of underdog: good against bad. bad has seat 1, and the clock is off."
    lines = again.out.splitlines()
    assert (again.status, lines[0]) == (0, title)
    assert lines[1].startswith("turn 2: 1 as recorded (")
    assert lines[2] == Naming("turn 4: illegal, 99 ", "[2, 3, ")
    assert lines[3].startswith('  it was sent {"type":"turn","game":"2","id":2,"view":{"round":2,')
    assert lines[4:] == [
        "1 answer, all as recorded",
        "The recorded fault, illegal at turn 4, came again.",
    ]
    assert "bad is process " in again.err
    assert "gdb -p " in again.err
    assert differs.status == 1
    assert "turn 2: 10, recorded is 1 (" in differs.out
    assert '\n  it was sent {"type":"turn","game":"2","id":1,' in differs.out
    changed = "bad has changed since the game: its hash is another."
    assert differs.out.splitlines()[1] == changed
    assert changed not in again.out
    assert differs.out.splitlines()[-3:] == [
        "1 of 1 answer not as recorded",
        "A bot that plays at random can repeat its moves only if it draws by the bot_seed of "
        "start.",
        "The recorded fault, illegal at turn 4, came again.",
    ]
    assert mended.status == 1
    assert "turn 3: 2, recorded is illegal, 99 " in mended.out
    assert mended.out.splitlines()[-2:] == [
        "The recorded fault, illegal at turn 3, did not come again.",
        "The bot was started anew for this game: a fault that needs the games before it in the "
        "same process cannot come.",
    ]
    assert (good.status, good.out.splitlines()[-1]) == (0, f"{NO_FAULT} good.")
    assert new.status == 1
    assert "new has seat 1 in place of good, " in new.out
    assert "changed since" not in new.out
    assert "at random" not in new.out
    assert (broken.status, broken.out.splitlines()[1:]) == (
        1,
        [
            changed,
            "before turn 2: no_start, the bot exited with status 0; recorded is 1",
            "1 recorded answer, and the bot gave none",
            "The recorded fault, illegal at turn 4, did not come again; now there was no_start.",
        ],
    )
    lines = mute.out.splitlines()
    assert (mute.status, mute.out.count("it was sent")) == (1, 1)
    assert "turn 2: crash, the bot exited with status 3; recorded is 10" in lines
    assert lines[-2:] == [
        "1 recorded answer, and the bot gave none",
        f"{NO_FAULT} good; now there was crash at turn 2.",
    ]


def test_the_folder_of_a_tournament_and_json(tmp_path: Path) -> None:
    bots = ("--bot", planned("bad", "first", "99"), "--bot", planned("good", "last"))
    played = referee(tmp_path, "tournament", *bots, "--games", 2, "--out", "t", "--time", "60s")
    assert played.status == 0, played.err
    bad = ("--bot", planned("bad", "first", "99"))
    named, first, cut = each(
        tmp_path,
        [
            ("repro", "t", "1-2", *bad, "--json"),
            ("repro", "t", *bad, "--json"),
            ("repro", "t", "1-2", *bad, "--json", "--from-turn", 4),
        ],
    )
    told: dict[str, Any] = json.loads(named.out)
    assert (named.status, named.out.count("\n")) == (0, 1)
    assert tuple(told) == (*Repro.__struct_fields__, "holds")
    assert (told["game"], told["bot"], told["player"]) == ("1-2", "bad", "bad")
    assert (told["came_again"], told["holds"], told["differences"]) == (True, True, 0)
    assert told["seen"]["code"] == told["recorded"]["code"] == "illegal"
    assert json.loads(first.out)["game"] == "1-1"
    assert json.loads(cut.out)["answers"] == []
    assert len(told["answers"]) == 1


def test_what_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "games", [game(honest(name="a"))])
    (tmp_path / "folder").mkdir()
    fine = ("--bot", "a=python3 a.py")
    refuses(
        tmp_path,
        {
            "no bot": (("repro", "games"), r"missing option '--bot'.*"),
            "no file": (("repro", "none", *fine), r"none: no such file"),
            "no game": (("repro", "games", "9", *fine), r"games: .* game '9' .*"),
            "a folder": (("repro", "folder", *fine), r".*folder.*"),
            "a stranger": (
                ("repro", "games", "--bot", "b=python3 b.py"),
                r"b is no player of game 1: a has seat 0, good seat 1; --seat says .*",
            ),
            "too late": (
                ("repro", "games", *fine, "--from-turn", 99),
                r"a has no turn 99 .* \d+",
            ),
            "stdin": (("repro", "-", *fine, "--wait"), r"--wait and records on standard input .*"),
            "variant": (
                ("repro", "games", *fine, "-v", "deck"),
                r"games: game 1: variant: .* duel, not of deck",
            ),
            "another's": (
                ("repro", "games", "--bot", "difference-solver", "--seat", 0),
                r"difference-solver does not play duel; .*",
            ),
        },
    )


def test_a_script(tmp_path: Path) -> None:
    script = ROOT / "docs/examples/goofspiel.py"
    bots = (planned("a", "first"), planned("b", "last"))
    match = ("match", *bots, "-v", script, "-n", 1, "--records", "g", "--no-pin", "--time", "60s")
    repro = ("repro", "g", "-v", script, "--bot")
    _, found, ended = each(
        tmp_path, [match, (*repro, bots[0]), (*repro, planned("a", "first", "first", "exit"))]
    )
    assert (found.status, found.out.splitlines()[-1]) == (0, f"{NO_FAULT} a.")
    assert ended.out.splitlines()[-2:] == [
        "2 answers, all as recorded; 11 more recorded, to which it did not come",
        f"{NO_FAULT} a; now there was crash at turn 5.",
    ]


def test_stderr_goes_to_the_terminal(tmp_path: Path) -> None:
    """At once and whole, however much it is."""
    write(tmp_path / "games", [game(bot("flood", "stderr", name="loud"), "difference")])
    loud = f"loud={' '.join(bot('flood', 'stderr').command)}"
    done = referee(tmp_path, "repro", "games", "--bot", loud)
    assert done.status == 0
    assert done.err.count("000000000065535\n") == 5


def test_wait(tmp_path: Path) -> None:
    write(tmp_path / "games", [game(honest(name="a"))])
    mark = uuid.uuid4().hex
    seen = tmp_path / "seen"
    a = f"a={' '.join(bot('scribe', seen).command)}"
    process = subprocess.Popen(
        [*REFEREE, "repro", "games", "--bot", a, "--wait"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(**{MARK: mark}),
    )
    try:
        assert process.stderr is not None
        os.set_blocking(process.stderr.fileno(), False)
        err = b""
        while b"press Enter" not in err:
            assert select.select([process.stderr], [], [], PATIENCE_S)[0], err
            err += os.read(process.stderr.fileno(), 65_536)
        assert not seen.exists() or seen.read_bytes() == b"", "it has not been told anything"
        os.set_blocking(process.stderr.fileno(), True)
        out, _ = process.communicate(b"\n", PATIENCE_S)
    finally:
        process.kill()
        process.wait()
    assert out.splitlines()[-1] == b"The record has no fault of a."
    assert b'{"type":"bye"}' in seen.read_bytes()
    assert left_of(mark) == []


@pytest.mark.parametrize("recorded", ["timeout", "none"])
def test_a_bot_that_hangs_is_interrupted(recorded: str, tmp_path: Path) -> None:
    """Where it hung in the game too, that is the answer; elsewhere it is an interruption."""
    hangs = bot("hang", "silent", name="hangs")
    if recorded == "timeout":
        record = game(hangs, time="300ms", grace_ms=0)
    else:
        record = game(honest(name="hangs"))
    write(tmp_path / "games", [record])
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        [*REFEREE, "repro", "games", "--bot", f"hangs={' '.join(hangs.command)}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(**{MARK: mark}),
    )
    wanted = b"no answer within 300 ms" if recorded == "timeout" else b"gdb -p"
    err = b""
    try:
        assert process.stderr is not None
        while wanted not in err:
            line = process.stderr.readline()
            assert line, err
            err += line
        process.send_signal(signal.SIGINT)
        out, rest = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        process.wait()
    assert left_of(mark) == []
    if recorded == "timeout":
        assert process.returncode == 0
        assert out.splitlines()[-1] == b"The recorded fault, timeout at turn 1, came again."
    else:
        assert (process.returncode, rest) == (130, b"referee: interrupted\n")


def test_on_a_terminal_nothing_can_command_it(tmp_path: Path) -> None:
    """What a record or a bot says is escaped."""
    record = game(bot("illegal", "number", name="a"))
    assert record.fault is not None
    hostile = replace(record, fault=replace(record.fault, detail="\x1b[31mred"))
    write(tmp_path / "games", [hostile])
    a = f"a={' '.join([sys.executable, '-S', str(ROOT / 'tests/records/bot.py'), 'first'])}"
    status, seen = on_terminal(tmp_path, "repro", "games", "--bot", a)
    assert status == 1
    assert "\\x1b[31mred" in seen
    assert "\x1b[31m" not in seen
