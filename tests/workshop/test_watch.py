"""`referee watch`: one game as it happens, with the verdict and the record of a match."""

from __future__ import annotations

import errno
import os
import re
import select
import shlex
import signal
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from referee.bots.manifest import Bot
from referee.clock import Clock
from referee.record import Record, read_records
from referee.replaying import replay
from referee.rules.registry import BadVariant, build_variant
from referee.verifying import verify
from referee.workshop.watching import Play, Show, watch
from tests.arena.playing import MARK, ROOT, bot, honest, left_of
from tests.cli.running import (
    REFEREE,
    each,
    environment,
    no_duration,
    on_terminal,
    planned,
    referee,
    refuses,
    sentence,
)
from tests.facts import Naming
from tests.waiting import PATIENCE_S

VARIANTS = ("difference", "underdog", "duel", "target", "deck")
SLOW = Clock(move_ms=60_000)
TIMES = re.compile(r"  \w+ took \d+\.\d ms(, \w+ took \d+\.\d ms)?")


class Listener:
    """An audience that remembers."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.rounds: list[tuple[list[str], list[Play]]] = []

    def tell(self, *lines: str) -> None:
        self.lines += lines

    def round(self, lines: list[str], plays: list[Play]) -> None:
        self.lines += lines
        self.rounds.append((lines, plays))


def watched(
    first: Bot, second: Bot, variant: str = "underdog", clock: Clock = SLOW, **options: object
) -> tuple[Record, Listener]:
    listener = Listener()
    rules = build_variant(variant, options)
    show = Show(variant=rules, bots=(first, second), seed="watch", clock=clock)
    return watch(show, listener), listener


@pytest.mark.parametrize("variant", VARIANTS)
def test_it_tells_what_the_replay_of_its_record_tells(variant: str) -> None:
    record, heard = watched(honest(name="a"), honest(name="b"), variant)
    story = replay(record).story()
    assert [lines for lines, _ in heard.rounds] == story.steps
    steps = [line for lines in story.steps for line in lines]
    assert heard.lines[2:] == [*story.opening, *steps, "", *story.ending]
    plays = [play for _, done in heard.rounds for play in done]
    assert [play.seat for play in plays] == [seat for seat, _ in record.moves]
    assert [play.spent_us for play in plays] == record.spent_us


def test_notes_come_with_their_round() -> None:
    record, heard = watched(bot("notes", 1, name="a"), honest(name="b"))
    assert len(record.notes) == len(heard.rounds)
    for number, (_, plays) in enumerate(heard.rounds):
        assert [play.note for play in plays] == [record.notes[str(2 * number)], None]


@pytest.mark.parametrize(
    ("bad", "variant", "code"),
    [
        (("illegal", "number"), "underdog", "illegal"),
        (("illegal", "resign"), "duel", "resign"),
        (("crash", "answered"), "underdog", "crash"),
        (("crash", "half"), "deck", "crash"),
        (("garbage", "NaN"), "target", "garbled"),
        (("flood", "garbage"), "underdog", "flood"),
        (("startup", "exits"), "deck", "no_start"),
    ],
)
def test_the_verdict_is_that_of_a_match(bad: tuple[str, ...], variant: str, code: str) -> None:
    record, heard = watched(bot(*bad), honest(), variant)
    assert (record.ending, record.at_fault, record.winner) == (code, (0,), 1)
    assert heard.lines[-1] == f"good wins the game: bad is at fault ({code})."
    assert len(heard.rounds) == len(replay(record).steps)


def test_both_at_fault() -> None:
    bots = bot("illegal", "number", name="a"), bot("illegal", "resign", name="b")
    record, heard = watched(*bots)
    assert (record.ending, len(record.faults())) == ("void", 2)
    assert [*replay(record).tell()][-1] == heard.lines[-1] == Naming("Both", "void.")


def test_a_script_that_cannot_tell_its_game(tmp_path: Path) -> None:
    script = tmp_path / "mute.py"
    script.write_text(
        "from referee.rules.underdog import Underdog\n\n\n"
        "class Mute(Underdog):\n"
        '    name = "mute"\n\n'
        "    def narrate(self, *_):\n"
        '        raise ValueError("no words")\n'
    )
    with pytest.raises(BadVariant, match=r"mute\.py, line 8: ValueError: no words"):
        watched(honest(name="a"), honest(name="b"), str(script))


# The command.


def test_what_people_see(tmp_path: Path) -> None:
    words = ("watch", planned("a", "note"), planned("b", "last"), "-v", "difference")
    more = ("--seed", "x y", "--time", "60s", "--records", "g", "--option", "size=3")
    done = referee(tmp_path, *words, *more)
    assert (done.status, done.err) == (0, "")
    ((_, record),) = read_records((tmp_path / "g").read_bytes().splitlines(keepends=True))
    assert verify([(tmp_path / "g").read_bytes()]).judged == 1
    assert record.options["size"] == 3
    lines = done.out.splitlines()
    assert lines[0].startswith("difference: ")
    assert lines[1] == "a against b"
    assert lines[-1] == Naming("Seed x y: with --seed 'x y'")
    assert len([line for line in lines if TIMES.fullmatch(line)]) == 3
    notes = [line for line in lines if line.startswith("  a notes: ")]
    assert notes == [f"  a notes: of {count} the first" for count in (3, 2, 1)]
    story = [line for line in replay(record).tell() if line][1:]
    told = [line for line in lines[2:-1] if line and line not in notes]
    assert [line for line in told if not TIMES.fullmatch(line)] == story


def test_the_same_seed_deals_the_same_game(tmp_path: Path) -> None:
    words = ("watch", "random", "highest", "-v", "deck", "--time", "60s", "--seed")
    first, second, other = each(tmp_path, [(*words, seed) for seed in ("1", "1", "2")])
    stories = [TIMES.sub("", done.out) for done in (first, second, other)]
    assert stories[0] == stories[1] != stories[2]


def test_a_fault_in_one_line(tmp_path: Path) -> None:
    loud = (
        "import sys; print('oh dear', file=sys.stderr, flush=True); sys.argv = ['', 'first', '99']"
    )
    code = f"{loud}; exec(open({str(ROOT / 'tests/records/bot.py')!r}).read())"
    bad = f"bad=python3 -c {shlex.quote(code)}"
    done = referee(tmp_path, "watch", bad, planned("good", "last"), "--time", "60s")
    assert (done.status, done.err) == (0, "")
    winner, line, log, end, _ = done.out.splitlines()[-5:]
    assert winner == "good wins the game: bad is at fault (illegal)."
    assert line.startswith("bad, game 1, turn 3: illegal, 99 ")
    assert line.endswith(" referee-logs/bad.stderr.txt")
    assert (log, end) == ("stderr of bad: referee-logs/bad.stderr.txt", "  which ends: oh dear")
    assert (tmp_path / "referee-logs/bad.stderr.txt").read_text() == "oh dear\n"


def test_it_says_where_stderr_went(tmp_path: Path) -> None:
    """Though nobody is at fault."""
    command = planned("", "first").removeprefix("=")
    loud = f"loud=sh -c {shlex.quote(f'echo hm >&2; exec {command}')}"
    done = referee(tmp_path, "watch", loud, planned("b", "last"), "--time", "60s", "--logs", "kept")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[-2] == "stderr of loud: kept/loud.stderr.txt"
    assert "which ends" not in done.out
    assert (tmp_path / "kept/loud.stderr.txt").read_text() == "hm\n"


def test_twins(tmp_path: Path) -> None:
    done = referee(tmp_path, "watch", "lowest", "lowest", "--time", "60s")
    assert done.status == 0
    assert done.out.splitlines()[1] == "lowest against lowest#2"


def test_step_by_step_and_the_clock_stands(tmp_path: Path) -> None:
    """Each round waits for Enter; a bot that has far less time than that is not late."""
    mark = uuid.uuid4().hex
    small = ("-v", "difference", "--option", "size=2", "--time", "2s", "--step")
    process = subprocess.Popen(
        [*REFEREE, "watch", planned("a", "first"), planned("b", "last"), *small],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(**{MARK: mark}),
    )
    assert process.stdout is not None
    assert process.stdin is not None
    out = b""
    try:
        for number in (1, 2):
            while out.count(b" took ") < 2 * number:
                line = process.stdout.readline()
                assert line, out
                out += line
            # Longer than a bot may take for its move.
            assert not select.select([process.stdout], [], [], 2.2)[0]
            process.stdin.write(b"\n")
            process.stdin.flush()
        rest, err = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, err.count(b"press Enter")) == (0, 2)
    assert b"fault" not in out + rest
    assert left_of(mark) == []


def test_a_screen_has_time_to_read(tmp_path: Path) -> None:
    words = (
        "watch",
        planned("a", "first"),
        planned("b", "last"),
        "-v",
        "difference",
        "--time",
        "9s",
    )
    began = time.monotonic()
    status, seen = on_terminal(tmp_path, *words, "--option", "size=3")
    assert time.monotonic() - began >= 3 * 0.5
    assert (status, seen.count(" took ")) == (0, 6)


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        [*REFEREE, "watch", "random", "lowest", "--pause", "60s", "--time", "60s"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(**{MARK: mark}),
    )
    assert process.stdout is not None
    out = b""
    try:
        while b" took " not in out:
            line = process.stdout.readline()
            assert line, out
            out += line
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, err) == (130, b"referee: interrupted\n")
    assert left_of(mark) == []


def test_a_reader_that_has_had_enough(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    theirs, ours = os.pipe()
    process = subprocess.Popen(
        [*REFEREE, "watch", "random", "lowest", "--time", "60s"],
        stdout=ours,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(**{MARK: mark}),
    )
    os.close(ours)
    os.close(theirs)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, err) == (141, b"")
    assert left_of(mark) == []


def test_a_script_that_fails(tmp_path: Path) -> None:
    script = ROOT / "tests/arena/broken.py"
    words = ("watch", "random", "lowest", "-v", script, "--time", "60s")
    done = referee(tmp_path, *words, "--option", "bug=apply")
    assert done.status == 4
    assert re.fullmatch(
        r"referee: the variant failed, nobody loses .*: ZeroDivisionError: a bug in apply .*\n",
        done.err,
    )
    assert done.out.count("The game was spoilt by no bot and is played again.") == 2
    unwritten = referee(tmp_path, *words[:3], "--records", "/dev/full", "--time", "60s")
    assert sentence(unwritten._replace(out=""), 3) == f"/dev/full: {os.strerror(errno.ENOSPC)}"


def test_what_is_refused(tmp_path: Path) -> None:
    refuses(
        tmp_path,
        {
            "no bot": (("watch", "nobody", "random"), r"no bot 'nobody': .*"),
            "one bot": (("watch", "random"), r"missing argument 'BOT'; see referee watch --help"),
            "another's": (
                ("watch", "random", "duel-wall"),
                r"duel-wall does not play underdog; .*",
            ),
            "variant": (("watch", "a=b", "c=d", "-v", "x"), r".* variant 'x'.*"),
            "time": (("watch", "random", "lowest", "--time", "x"), no_duration("x")),
            "pause": (("watch", "random", "lowest", "--pause", "x"), no_duration("x")),
            "seed": (("watch", "random", "lowest", "--seed", ""), r"a seed is .*"),
            "records": (
                ("watch", "random", "lowest", "--records", "-"),
                r".*--records takes a file",
            ),
            "no folder": (
                ("watch", "random", "lowest", "--records", "no/game"),
                r"records .* no/game: .* folder no",
            ),
            "a folder": (
                ("watch", "random", "lowest", "--records", "."),
                r"records .* \.: .* folder",
            ),
        },
    )
