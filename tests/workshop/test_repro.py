"""A stored game once more: the same lines, answers and fault, or what is otherwise."""

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

from referee.bots.manifest import Bot
from referee.dialogue import dialogue
from referee.mistake import Mistake
from referee.protocol.codec import encode
from referee.record import Record, encode_record
from referee.verdict import Ending
from referee.workshop.repro import BadRepro, Heard, Repro, Running, Told, repro
from tests.arena.playing import MARK, ROOT, bot, honest, left_of, play
from tests.cli.running import (
    PATIENCE_S,
    REFEREE,
    each,
    environment,
    on_terminal,
    planned,
    referee,
    refuses,
)


def game(bad: Bot, variant: str = "duel", **terms: Any) -> Record:
    """A game in which this bot has seat 0 and, where the seats take turns, begins."""
    options = {"first": "seat0"} if variant in ("duel", "target") else {}
    terms = {"options": options, "pin": False, **terms}
    (record,) = play(bad, honest(), variant=variant, games=1, **terms).records
    return record


def again(record: Record, with_bot: Bot, **terms: Any) -> Repro:
    seat = record.players.index(with_bot.name)
    return repro(dialogue(record, seat), with_bot, **terms)


FAULTS: dict[str, tuple[Bot, dict[str, Any]]] = {
    "illegal": (bot("scribe", "/dev/null", "illegal"), {}),
    "illegal, both at once": (bot("scribe", "/dev/null", "illegal"), {"variant": "underdog"}),
    "resign": (bot("scribe", "/dev/null", "resign"), {"variant": "target"}),
    "garbled": (bot("scribe", "/dev/null", "garbled"), {"variant": "deck"}),
    "garbled, no move": (bot("garbage", "move null"), {}),
    "garbled, then more": (bot("garbage", "NaN"), {"variant": "difference"}),
    "crash": (bot("crash", "status"), {}),
    "crash, by a signal": (bot("crash", "signal"), {"variant": "underdog"}),
    "crash, in a line": (bot("crash", "half"), {}),
    "crash, after its answer": (bot("crash", "answered"), {"variant": "underdog"}),
    "crash, out of turn": (bot("crash", "idle"), {}),
    "crash, with children": (bot("children", "child", "crash"), {}),
    "crash, closes its input": (bot("pipes", "closes stdin"), {"variant": "underdog"}),
    "crash, closes its output": (bot("pipes", "closes stdout"), {}),
    "flood": (bot("flood", "line"), {}),
    "flood, of lines": (bot("flood", "garbage"), {}),
    "timeout": (bot("slow", 0.5, 0.5), {"time": "100ms", "grace_ms": 0}),
    "no_start": (bot("startup", "exits"), {}),
    "no_hello": (bot("startup", "garbage"), {}),
    "wrong_protocol": (bot("startup", "protocol 2"), {}),
}
"""By code: bots that are at fault in every game, and in which game."""


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_comes_again(name: str) -> None:
    bad, terms = FAULTS[name]
    if name == "crash, out of turn":
        # The other thinks for so long that the bot has ended meanwhile.
        options = {"first": "seat0"}
        others = honest(seconds=2)
        (record,) = play(bad, others, variant="duel", games=1, options=options, pin=False).records
    else:
        record = game(bad, **terms)
    assert record.fault is not None
    assert record.ending == name.partition(",")[0]
    told = again(record, bad)
    assert told.seen is not None
    assert (told.seen.code, told.seen.turn) == (record.fault.code, record.fault.turn)
    assert (told.recorded, told.came_again, told.differences) == (record.fault, True, 0)
    assert told.holds
    if name != "timeout":
        assert told.seen.detail == record.fault.detail
    assert "id" in told.seen.received or told.seen.received == record.fault.received


@pytest.mark.parametrize("name", ["illegal", "garbled", "crash", "no_start"])
def test_a_fault_that_is_mended_does_not_come_again(name: str) -> None:
    bad, terms = FAULTS[name]
    record = game(bad, **terms)
    told = again(record, bot("scribe", "/dev/null"))
    assert (told.came_again, told.seen, told.holds) == (False, None, False)
    assert told.differences == 0


def test_another_fault_is_not_the_recorded_one() -> None:
    record = game(bot("scribe", "/dev/null", "illegal"))
    for other, turn in ((("resign",), 5), (("illegal", 2), 0), (("crash", 2), 4)):
        told = again(record, bot("scribe", "/dev/null", *other))
        assert (told.came_again, told.holds) == (False, False)
        # Where the game goes on, that turn's answer is a difference and no fault.
        assert (0 if told.seen is None else told.seen.turn) == turn


@pytest.mark.parametrize("variant", ["difference", "underdog", "duel", "target", "deck"])
def test_the_lines_are_those_of_the_game(variant: str, tmp_path: Path) -> None:
    record = game(bot("scribe", "/dev/null", name="mine"), variant)
    mine = bot("scribe", tmp_path / "book", name="mine")
    told = again(record, mine)
    assert told.holds
    assert (told.recorded, told.seen, told.came_again) == (None, None, None)
    of = dialogue(record, 0)
    hello, *lines, bye = (tmp_path / "book").read_bytes().splitlines(keepends=True)
    assert hello.startswith(b'{"type":"hello"')
    assert lines == [encode([message]) for message in of.messages()]
    assert bye == b'{"type":"bye"}\n'
    assert [heard.turn for heard in told.answers] == [asked.place for asked in of.turns]
    assert all(heard.same for heard in told.answers)


def test_the_game_goes_on_with_the_recorded_answer(tmp_path: Path) -> None:
    """Though the bot answers otherwise, even what would lose the game."""
    record = game(bot("scribe", "/dev/null", name="mine"))
    for how in ("illegal", "resign"):
        path = tmp_path / how
        told = again(record, bot("scribe", path, how, 2, name="mine"))
        lines = path.read_bytes().splitlines(keepends=True)[1:-1]
        assert lines == [encode([message]) for message in dialogue(record, 0).messages()]
        (other,) = [heard for heard in told.answers if not heard.same]
        assert (told.differences, told.holds, told.seen) == (1, False, None)
        assert other.recorded == dialogue(record, 0).turns[1].answer
        assert other.trouble is not None
        assert other.trouble.startswith(how)


def test_answers_before_a_turn_are_heard_and_not_shown() -> None:
    """The bot counts its turns, so a turn left out would change what it plays."""
    mine = bot("scribe", "/dev/null", "illegal", 4, name="mine")
    record = game(mine)
    assert record.fault is not None
    assert record.fault.turn == 8
    shown: list[Told] = []
    pauses: list[int] = []
    told = again(
        record, mine, from_turn=5, tell=shown.append, pause=lambda: pauses.append(len(shown))
    )
    assert told.came_again
    assert [heard.turn for heard in told.answers] == [5]
    assert [type(each) for each in shown[:2]] == [Running, Heard]
    assert pauses == [1], "once, before the first turn that is shown"
    whole = again(record, mine, pause=lambda: pauses.append(-1))
    assert len(whole.answers) == 3
    assert pauses == [1, -1]
    with pytest.raises(BadRepro, match="mine has no turn 9 or later: its last one is 8"):
        again(record, mine, from_turn=9)


def test_a_game_that_was_never_played() -> None:
    record = game(honest(name="mine"), "deck")
    void = replace(
        record,
        ending=Ending.HOST_STALL,
        reason="why",
        attempt=3,
        moves=[],
        chance=[],
        spent_us=[],
    )
    with pytest.raises(Mistake, match="game 1 was never played: host_stall, why"):
        again(void, honest(name="mine"))


# The command.


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
        ),
    )
    assert same.status == 0
    again, differs, mended, good, new = each(tmp_path, found)
    title = "Game 2 of underdog: good against bad. bad has seat 1, and the clock is off."
    lines = again.out.splitlines()
    assert (again.status, lines[0]) == (0, title)
    assert lines[1].startswith("turn 2: 1 as recorded (")
    assert lines[2].startswith("turn 4: illegal, 99 is not legal here; legal are [2, 3, ")
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
    assert differs.out.endswith(
        "1 of 1 answer not as recorded\nThe recorded fault, illegal at turn 4, came again.\n"
    )
    assert mended.status == 1
    assert "turn 3: 2, recorded is illegal, 99 is not legal here; " in mended.out
    assert mended.out.endswith("The recorded fault, illegal at turn 3, did not come again.\n")
    assert (good.status, good.out.splitlines()[-1]) == (0, "The record has no fault of good.")
    assert new.status == 1
    assert "new has seat 1 in place of good, " in new.out


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
            "no game": (("repro", "games", "9", *fine), r"games: there is no game '9' in it; .*"),
            "a folder": (("repro", "folder", *fine), r".*folder.*"),
            "a stranger": (
                ("repro", "games", "--bot", "b=python3 b.py"),
                r"b is no player of game 1: a has seat 0, good seat 1; --seat says .*",
            ),
            "too late": (
                ("repro", "games", *fine, "--from-turn", 99),
                r"a has no turn 99 or later: its last one is \d+",
            ),
            "stdin": (("repro", "-", *fine, "--wait"), r"--wait and records on standard input .*"),
            "variant": (("repro", "games", *fine, "-v", "deck"), r"games: game 1: options: .*"),
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
    repro = ("repro", "g", "--bot", bots[0], "-v", script)
    _, found = each(tmp_path, [match, repro])
    assert (found.status, found.out.splitlines()[-1]) == (0, "The record has no fault of a.")


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
