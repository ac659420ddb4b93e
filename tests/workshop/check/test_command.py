"""`referee check`: what people and graders read, and the exit status."""

from __future__ import annotations

import itertools
import json
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import textwrap
import uuid
from pathlib import Path

import pytest

from referee.workshop.check.report import Figures, Report, Step
from tests.arena.playing import MARK, PROC, ROOT, left_of
from tests.cli.running import (
    REFEREE,
    each,
    environment,
    no_duration,
    on_terminal,
    referee,
    refuses,
)
from tests.waiting import PATIENCE_S
from tests.workshop.check.checking import OVER

SLOW = ("--time", "20s", "--startup", "60s")
"""Limits that a good bot cannot miss on a busy machine."""
TINY = '''
from referee.rules.difference import Difference

class Tiny(Difference):
    """A game of its own."""
    name = "tiny"
'''
FAILING = """
from referee.rules.underdog import Underdog

class Failing(Underdog):
    name = "failing"

    def view(self, position, seat):
        return {}["round"]
"""
FAILED_PING = (
    "FAIL  ping                crash: the bot exited with status 1; "
    'answer a ping with {"type":"pong"}'
)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def named(name: str, script: str, *words: str) -> str:
    """A bot of `bots`, as a word of the command line."""
    path = f"tests.workshop.check.bots.{script}"
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import runpy; "
    code += f"runpy.run_module({path!r}, run_name='__main__', alter_sys=True)"
    return f"{name}={shlex.join([sys.executable, '-S', '-c', code, *words])}"


def test_a_good_bot(tmp_path: Path) -> None:
    (tmp_path / "tiny.py").write_text(TINY)
    words = ["check", named("mine", "base"), "--variant", "duel", "--variant", "tiny.py", *SLOW]
    plain, as_json, verbose = each(tmp_path, [words, [*words, "--json"], [*words, "--verbose"]])
    assert (plain.status, plain.err) == (0, "")
    first, *steps, last = plain.out.splitlines()
    assert first.startswith("Checking mine at level none: ")
    assert all(line.startswith("pass  ") for line in steps)
    assert re.fullmatch(r"mine: passed, 24 steps in \d+\.\d s\.", last)
    assert len(steps) == 24
    assert all(line[24:26] == "  " and line[26] != " " for line in steps), "columns"
    assert any(line.startswith("pass  variant tiny        played ") for line in steps)
    assert "\x1b" not in plain.out

    assert (as_json.status, as_json.err, as_json.out.count("\n")) == (0, "", 1)
    report = json.loads(as_json.out)
    assert tuple(report) == Report.__struct_fields__
    assert tuple(report["figures"]) == Figures.__struct_fields__
    assert all(tuple(step) == Step.__struct_fields__ for step in report["steps"])
    assert [step["name"] for step in report["steps"]] == [line[6:24].rstrip() for line in steps]
    assert (report["bot"], report["passed"], report["failed"]) == ("mine", True, [])
    assert (report["variants"], report["level"]) == (["duel", "tiny"], "none")

    assert verbose.status == 0
    assert re.search(r"^        sent    \{\"type\":\"hello\"", verbose.out, re.MULTILINE)
    assert re.search(r"^        stdout  \{\"type\": \"hello\"", verbose.out, re.MULTILINE)


def test_a_bot_that_fails(tmp_path: Path) -> None:
    words = ["check", named("mine", "reading", "DiesOfPing"), "--variant", "difference", *SLOW]
    done = referee(tmp_path, *words)
    assert (done.status, done.err) == (1, "")
    lines = done.out.splitlines()
    assert lines[-1] == "mine: 1 of 23 steps failed: ping."
    at = lines.index(FAILED_PING)
    assert lines[at + 1] == '        sent    {"type":"ping"}'
    assert lines[at + 2] == "        stdout  (nothing)"
    assert lines[at + 3].startswith("        stderr  ")
    rest = lines[at + 3 :]
    shown = list(itertools.takewhile(lambda line: line.startswith("        "), rest))
    assert shown[-1] == "                NotImplementedError: ping"
    assert [line for line in lines if line.startswith("FAIL")] == [lines[at]]
    as_json = referee(tmp_path, *words, "--json")
    assert as_json.status == 1
    report = json.loads(as_json.out)
    assert (report["passed"], report["failed"]) == (False, ["ping"])


def test_what_was_not_tried_is_one_line(tmp_path: Path) -> None:
    done = referee(tmp_path, "check", named("mine", "startup", "Exits"), *SLOW)
    assert (done.status, done.err) == (1, "")
    lines = done.out.splitlines()
    assert lines[1] == "FAIL  start               the bot exited with status 1 before its hello"
    assert lines[4] == "        stderr  no model file"
    (left_out,) = [line for line in lines if line.startswith("----")]
    assert left_out.startswith("----  26 steps            not tried: ")
    assert "hello, flush, variant difference, " in left_out
    assert lines[-1] == "mine: 1 of 27 steps failed: start."


def test_what_a_bot_writes_cannot_reach_the_terminal(tmp_path: Path) -> None:
    code = "import sys; sys.stderr.write('\\x1b[2J\\u202egone'); sys.exit(1)"
    done = referee(tmp_path, "check", f"mine={shlex.join([sys.executable, '-c', code])}", *SLOW)
    assert done.status == 1
    assert "        stderr  \\x1b[2J\\u202egone" in done.out.splitlines()
    assert "\x1b" not in done.out


def test_a_long_trace(tmp_path: Path) -> None:
    words = ["check", named("mine", "output", "Trace"), "--variant", "difference", *SLOW]
    plain, as_json, verbose = each(tmp_path, [words, [*words, "--json"], [*words, "--verbose"]])
    error = "TypeError: no \\x1b[1mlegal\\x1b[0m"
    frames = [f"        at frame {number}" for number in range(1, 41)]
    expected = [
        *(error, *frames[:11], "(14 more lines between; --verbose shows all)"),
        *(*frames[25:], "x" * 300 + "…"),
    ]
    assert _stderr_of("variant difference", plain.out) == expected
    assert _stderr_of("variant difference", verbose.out) == [error, *frames, "x" * 400]
    (failed,) = [
        step for step in json.loads(as_json.out)["steps"] if step["name"] == "variant difference"
    ]
    assert failed["stderr"] == [error, *frames, "x" * 400]


def _stderr_of(step: str, page: str) -> list[str]:
    """The lines beside a step that fails."""
    beside = page.partition(f"FAIL  {step}")[2].partition("        stderr  ")[2].splitlines()
    lines = [beside[0]]
    for line in beside[1:]:
        if not line.startswith(" " * 16):
            break
        lines.append(line[16:])
    return lines


@pytest.mark.parametrize("width", [60, 200])
def test_colour_is_for_terminals(width: int, tmp_path: Path) -> None:
    words = ("check", named("mine", "reading", "DiesOfPing"), "--variant", "difference", *SLOW)
    status, seen = on_terminal(tmp_path, *words, width=width)
    assert status == 1
    assert "\x1b[32mpass\x1b[0m  start" in seen
    assert "\x1b[1;31mFAIL\x1b[0m  ping" in seen
    plain = COLOUR.sub("", seen).splitlines()
    assert plain[-1] == "mine: 1 of 23 steps failed: ping."
    assert max(map(len, plain[1:])) <= width, "all but the command"
    at = next(place for place, line in enumerate(plain) if line.startswith("FAIL"))
    if width == 200:
        assert plain[at] == FAILED_PING
    else:
        filled = textwrap.wrap(FAILED_PING, width, subsequent_indent=" " * 26)
        assert plain[at : at + 3] == filled


def test_what_was_not_tried_is_filled_on_a_terminal(tmp_path: Path) -> None:
    words = ("check", named("mine", "startup", "Exits"), "--variant", "difference", *SLOW)
    status, seen = on_terminal(tmp_path, *words)
    assert status == 1
    lines = COLOUR.sub("", seen).splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith("----"))
    assert lines[at].startswith("----  22 steps            not tried: the bot has to start, say")
    assert len(lines) - at > 4
    for line in lines[at + 1 : -1]:
        assert len(line) <= 80
        assert line[:26].isspace()
        assert not line[26].isspace()
    filled = " ".join(line.strip() for line in lines[at:-1])
    assert filled.endswith(f"{OVER}, end of input, ids, time, output)")


def test_what_is_refused(tmp_path: Path) -> None:
    (tmp_path / "failing.py").write_text(FAILING)
    refuses(
        tmp_path,
        {
            "no bot": (["check", "hihgest"], r"no bot 'hihgest': did you mean highest\? .*"),
            "variant": (["check", "highest", "-v", "dul"], r".* variant 'dul' .*"),
            "script": (["check", "highest", "-v", "no.py"], r"no\.py: .*no such file"),
            "time": (["check", "highest", "--time", "soon"], no_duration("soon")),
            "no time": (["check", "highest", "--time", "0ms"], r"--time 0ms leaves no time"),
            "startup": (["check", "highest", "--startup", "0s"], r"--startup 0s leaves no time"),
            "a failing script": (
                ["check", "highest", "-v", "failing.py", "--json"],
                r"failing\.py, line 8: KeyError: 'round'",
            ),
        },
    )


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_check_is_ended(number: signal.Signals, status: int, tmp_path: Path) -> None:
    asleep = tmp_path / "asleep"
    os.mkfifo(asleep)
    ear = os.open(asleep, os.O_RDONLY | os.O_NONBLOCK)
    code = f"import time; open({str(asleep)!r}, 'w').write('asleep'); time.sleep(600)"
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        [
            *REFEREE,
            "check",
            f"mine={shlex.join([sys.executable, '-c', code])}",
            "--startup",
            "600s",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(**{MARK: mark}),
    )
    try:
        ready, _, _ = select.select([ear], [], [], PATIENCE_S)
        assert ready, "the bot never came up"
        assert len(left_of(mark)) >= 3 or not PROC, "the referee, a keeper and a bot"
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        os.close(ear)
    assert process.returncode == status
    assert err.startswith(b"referee: ")
    assert err.count(b"\n") == 1
    assert left_of(mark) == []
