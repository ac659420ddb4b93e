"""Why a bot lost, in one line: of every kind of fault, and wherever it is told."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from msgspec.structs import replace

from referee.record import Record
from referee.reports.fault_line import fault_line
from tests.arena.playing import ROOT, bot, honest, play
from tests.cli.running import on_terminal, planned, referee
from tests.records import faulty

SENT = "it was sent the view"
VIEW = rf'{SENT} \{{"(round|turn|target)":.*\}} and legal \[.+\]'
LOG = Path("logs/a.stderr.txt")
STDERR = "its stderr is in"
KEPT = rf"{STDERR} logs/a\.stderr\.txt"
NO_STDERR = "it wrote nothing to stderr"
NOT_KEPT = "no stderr was kept"

LINES = {
    "illegal": rf"a, game 1, turn 5: illegal, DETAIL; {VIEW}; "
    rf'it sent back \{{"id": 3, "move": 99\}}; {KEPT}',
    "illegal, both at once": rf"b, game 1, turn 4: illegal, DETAIL; {VIEW}; "
    rf'it sent back \{{"id": 2, "move": "3"\}}; {KEPT}',
    "resign": rf"a, game 1, turn 3: resign, DETAIL; {SENT} .*; "
    rf"it sent a resign back; {KEPT}",
    "crash": rf"b, game 1, turn 4: crash, DETAIL; {VIEW}; "
    rf"it sent nothing back; {KEPT}",
    "timeout": r"a, game 1, turn 1: timeout, DETAIL; "
    rf"{VIEW}; it sent nothing back; {KEPT}",
    "garbled": rf"b, game 1, turn 4: garbled, DETAIL; {VIEW}; "
    rf'it sent back \{{"id": 2, "move": null\}}; {KEPT}',
    "no_start": r"a, game \d, turn 1: no_start, DETAIL; "
    rf"it was sent nothing but hello; it sent nothing back; {KEPT}",
    "forfeit": rf"a, game \d, turn 1: forfeit, DETAIL; it was not started any more; .*; {KEPT}",
}


@pytest.mark.parametrize("name", LINES)
def test_the_line(name: str) -> None:
    record = faulty(name)
    (fault,) = record.faults()
    line = fault_line(record, fault, LOG)
    assert re.fullmatch(LINES[name].replace("DETAIL", re.escape(fault.detail)), line), line


def test_what_was_sent_is_what_was_sent() -> None:
    """The view is that of the turn at which the bot failed."""
    record = faulty("crash")
    (fault,) = record.faults()
    played = [move for _, move in record.moves]
    assert f'"turn":{len(played) + 1},' in fault_line(record, fault)
    assert f'"last":{played[-1]}' in fault_line(record, fault)


def test_each_of_two_faults() -> None:
    record = faulty("void")
    lines = [fault_line(record, fault) for fault in record.faults()]
    assert [line.split(":")[0] for line in lines] == ["a, game 1, turn 3", "b, game 1, turn 4"]
    assert all(line.endswith(f"; {NO_STDERR}") for line in lines)


def test_logs_that_are_off() -> None:
    record = faulty("crash")
    (fault,) = record.faults()
    assert fault_line(record, fault, kept=False).endswith(f"; {NOT_KEPT}")


def test_a_bot_that_had_no_turn() -> None:
    bots = bot("crash", "idle"), honest(seconds=2)
    (record,) = play(*bots, variant="duel", games=1, options={"first": "seat0"}, pin=False).records
    (fault,) = record.faults()
    assert "was sent nothing, the other was to move; " in fault_line(record, fault)


def hostile() -> Record:
    """A record that somebody made up."""
    record = faulty("timeout")
    assert record.fault is not None
    nasty = "\x1b[31m\n\u202e" + "x" * 10_000
    fault = replace(record.fault, detail=nasty, received=nasty)
    return replace(record, fault=fault, players=("\x1b[31m", "b"), game="\n")


def test_it_is_one_short_line_that_commands_no_terminal() -> None:
    record = hostile()
    assert record.fault is not None
    line = fault_line(record, record.fault, LOG)
    assert line.isprintable()
    assert len(line) < 1_500
    assert line.startswith("\\x1b[31m, game \\n, turn 1: timeout, \\x1b[31m\\n\\u202exxx")


def test_a_variant_that_is_not_here() -> None:
    record = replace(faulty("timeout"), variant="goofspiel")
    assert record.fault is not None
    line = fault_line(record, record.fault, LOG)
    assert "; what it was sent cannot be told (" in line
    assert "'goofspiel'" in line
    assert line.endswith(f"; {STDERR} {LOG}")


# Where it is told.


def loud(name: str, *plan: str) -> str:
    """A bot that plays by a plan and writes to stderr when it starts."""
    command = planned("", *plan).removeprefix("=")
    return f"{name}=sh -c {shlex.quote(f'echo oh dear >&2; exec {command}')}"


def test_a_match_with_a_script(tmp_path: Path) -> None:
    script = ROOT / "docs/examples/goofspiel.py"
    words = ("-v", script, "-n", 2, "--no-pin", "--time", "60s")
    done = referee(tmp_path, "match", loud("bad", "first", "99"), planned("good", "first"), *words)
    assert (done.status, done.err) == (0, "")
    line = next(line for line in done.out.splitlines() if line.startswith("  bad, game 1, turn "))
    assert f'; {SENT} {{"' in line
    assert line.endswith(f"; {STDERR} referee-logs/bad.stderr.txt")
    assert "stderr of bad: referee-logs/bad.stderr.txt\n  which ends: oh dear\n" in done.out


def test_a_match_without_logs(tmp_path: Path) -> None:
    (tmp_path / "referee-logs").write_text("no folder")
    words = ("match", loud("bad", "first", "99"), planned("good", "first"), "-n", 1, "--no-pin")
    done = referee(tmp_path, *words, "--time", "60s")
    assert done.status == 0
    assert done.err.endswith("; what bots write to stderr is lost\n")
    assert f"; {NOT_KEPT}\n" in done.out


def test_a_tournament(tmp_path: Path) -> None:
    """A few lines of each bot, however often it fails."""
    bots = ("--bot", loud("bad", "first", "99"), "--bot", planned("worse", "resign"))
    words = ("tournament", *bots, "--bot", "lowest", "--games", 8, "--jobs", 2, "--time", "60s")
    done = referee(tmp_path, *words, "--out", "t")
    assert done.status == 0, done.err
    for name, code, log in (
        ("bad", "illegal", rf"{STDERR} t/logs/underdog/[\w ]+-[\w ]+/bad\.stderr\.txt"),
        ("worse", "resign", NO_STDERR),
    ):
        lines = [line for line in done.err.splitlines() if line.startswith(f"{name}, game ")]
        assert len(lines) == len(set(lines)) == 3
        for line in lines:
            expected = (
                rf"{name}, game \d-\d, turn \d: {code}, .*; {VIEW}; it sent .* ?back.*; {log}"
            )
            assert re.fullmatch(expected, line), line
    found = re.search(rf"{STDERR} (t/.*/bad\.stderr\.txt)\n", done.err)
    assert found is not None
    assert (tmp_path / found[1]).read_text().startswith("oh dear\n")


def test_a_tournament_that_goes_on_tells_of_its_new_faults(tmp_path: Path) -> None:
    bots = ("--bot", planned("bad", "first", "99"), "--bot", "lowest", "--time", "60s")
    told = []
    for words in ((*bots, "--games", 2, "--out", "t"), ("--resume", "t", "--games", 4)):
        done = referee(tmp_path, "tournament", *words)
        assert done.status == 0, done.err
        told.append(re.findall(r"^bad, game (\d-\d), turn ", done.err, re.MULTILINE))
    assert told == [["1-1", "1-2"], ["1-3", "1-4"]]
    done = referee(tmp_path, "tournament", "--resume", "t")
    assert (done.status, "bad, game" in done.err) == (0, False)


def test_a_tournament_on_a_terminal(tmp_path: Path) -> None:
    words = ("--bot", planned("bad", "first", "99"), "--bot", "lowest", "--games", 4)
    status, seen = on_terminal(tmp_path, "tournament", *words, "--time", "60s", width=100)
    assert status == 0
    assert len(re.findall(r"bad, game \d-\d, turn \d: illegal, 99 ", seen)) == 3
