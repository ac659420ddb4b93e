"""Checks of confined bots, for real: what passes, and what those are told that are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from referee.bots.confinement import Confinement
from referee.bots.confinement.levels import Level
from referee.bots.confinement.limits import Limits
from referee.bots.manifest import Bot, find_bot
from referee.workshop.check.refusals import COMPARE, explained
from referee.workshop.check.report import Step
from tests.cli.running import referee, sentence
from tests.workshop.check.checking import by_result, check, step
from tests.workshop.confined import STANDARD, put_bot

ONE = ("difference",)
SLOW = ("--time", "20s", "--startup", "60s")
WRITES = "can write to /tmp alone, and not beside its own files"
ONE_PROCESS = "is one process with threads, unless processes in its bot.toml asks for more"
EXPOSE = "--expose shows it more"
PROGRAMS = f"finds programs in /usr and in its own folder alone; {EXPOSE}"
FILES = "sees /usr and its own files alone"
MEMORY = "of memory; --limit memory allows more"


def refused(fact: str) -> str:
    """The end of the sentence of a step that failed."""
    return f"; at level standard a bot {fact}; {COMPARE}"


def test_a_good_bot_passes_every_step(place: Path) -> None:
    bot = find_bot(str(put_bot(place, "good")))
    bare, confined = check(bot, variants=None), check(bot, variants=None, confinement=STANDARD)
    assert (bare.level, confined.level) == ("none", "standard")
    assert confined.passed, confined.failed
    assert by_result(confined, "passed") == by_result(bare, "passed")
    assert len(confined.steps) == len(by_result(confined, "passed"))


@pytest.mark.usefixtures("place")
def test_a_sample_bot_passes() -> None:
    report = check(find_bot("counter"), time_ms=20_000, confinement=STANDARD)
    assert report.passed, report.failed


def test_it_can_write_to_its_tmp_alone(place: Path) -> None:
    says_where = 'def over(self, message): open(self.where, "a").write("over")'
    tidy = put_bot(place, "tidy", f"where = '/tmp/log'\n{says_where}")
    messy = put_bot(place, "messy", f"where = 'log.txt'\n{says_where}")
    assert check(find_bot(str(tidy)), variants=ONE, confinement=STANDARD).passed
    report = check(find_bot(str(messy)), variants=ONE, confinement=STANDARD)
    failed = step(report, report.failed[0])
    assert failed.detail.endswith(refused(WRITES))
    assert "Read-only file system: 'log.txt'" in failed.stderr[-1]
    assert not (messy / "log.txt").exists()
    assert check(find_bot(str(messy)), variants=ONE).passed
    assert (messy / "log.txt").exists()


@pytest.mark.parametrize(
    ("body", "fact"),
    [
        ("open('log.txt', 'w')", WRITES),
        ("open('bot.toml', 'a')", WRITES),
        ("subprocess.run(['true'])", ONE_PROCESS),
        ("bytearray(1 << 30)", f"has 256M {MEMORY}"),
        ("import sibling", f"{FILES}; {EXPOSE}"),
        (
            "import socket; socket.create_connection(('192.0.2.1', 9), 5)",
            "has no network",
        ),
        (
            "open('/tmp/a', 'wb').write(b'x' * 10_000)",
            "writes files of 1K at most; --limit file_size allows more",
        ),
    ],
)
def test_a_bot_that_cannot_start_is_told_why(place: Path, body: str, fact: str) -> None:
    limits = Limits(memory=256 * 1024 * 1024, file_size=1024)
    bot = find_bot(str(put_bot(place, "bad", body)))
    report = check(bot, confinement=replace(STANDARD, limits=limits))
    assert report.failed == ["start"]
    told = step(report, "start").detail
    assert told == f"the bot exited with status 1 before its hello{refused(fact)}"


def test_more_processes_where_the_manifest_asks(place: Path) -> None:
    bot = put_bot(place, "family", "subprocess.run(['true'])", processes=4)
    assert check(find_bot(str(bot)), variants=ONE, confinement=STANDARD).passed


def test_a_program_that_is_not_behind_the_walls(place: Path) -> None:
    elsewhere = place / "elsewhere"
    elsewhere.mkdir()
    program = elsewhere / "my-python"
    program.symlink_to("/usr/bin/python3")
    by_path = find_bot(str(put_bot(place, "path", command=[str(program), "bot.py"])))
    report = check(by_path, confinement=STANDARD)
    assert report.failed == ["start"]
    told = step(report, "start").detail
    assert told == f"the bot exited with status 127 before its hello{refused(PROGRAMS)}"
    shown = replace(STANDARD, expose=(str(elsewhere),))
    assert check(by_path, variants=ONE, confinement=shown).passed

    by_name = find_bot(str(put_bot(place, "name", command=["my-python", "bot.py"])))
    by_name = replace(by_name, env={"PATH": str(elsewhere)})
    report = check(by_name, confinement=STANDARD)
    assert report.failed == ["build"]
    assert "my-python was not found where confined bots look" in step(report, "build").detail
    assert check(replace(by_name, env={}), variants=ONE, confinement=shown).passed


def test_a_confined_build(place: Path) -> None:
    copies = ["sh", "-c", "cp bot.py made.py"]
    good = find_bot(str(put_bot(place, "made", build=copies, command=["python3", "made.py"])))
    assert check(good, variants=ONE, confinement=STANDARD).passed
    fetches = ["python3", "-c", "import socket; socket.create_connection(('192.0.2.1', 9), 5)"]
    bad = find_bot(str(put_bot(place, "fetched", build=fetches)))
    report = check(bad, confinement=STANDARD)
    assert report.failed == ["build"]
    assert step(report, "build").detail.endswith(refused("has no network"))


# What people and graders read.


def test_the_level_is_told(place: Path) -> None:
    put_bot(place, "mine", processes=2)
    words = ("check", "mine", "--variant", "difference", *SLOW, "--sandbox", "standard")
    plain, as_json = referee(place, *words), referee(place, *words, "--json")
    assert (plain.status, plain.err) == (0, "")
    heading = "Checking mine at level standard, with 2 processes: python3 bot.py"
    assert plain.out.splitlines()[0] == heading
    report = json.loads(as_json.out)
    assert (report["passed"], report["level"]) == (True, "standard")


def test_the_best_level_is_taken_without_a_word(place: Path) -> None:
    put_bot(place, "mine")
    words = ("check", "mine", "--variant", "difference", *SLOW, "--json")
    done = referee(place, *words, REFEREE_SANDBOX="")
    assert (done.status, done.err) == (0, "")
    assert json.loads(done.out)["level"] in ("standard", "full")


def test_limits_of_the_command_line(place: Path) -> None:
    put_bot(place, "greedy", "memory = bytearray(200 << 20)")
    words = ("check", "greedy", "--variant", "difference", *SLOW, "--sandbox", "standard")
    assert referee(place, *words).status == 0
    tight = referee(place, *words, "--limit", "memory=64M")
    assert tight.status == 1
    assert refused(f"has 64M {MEMORY}") in tight.out
    assert sentence(referee(place, *words, "--limit", "memory=big")).startswith("the limit memory")


# The words that are looked for, in the languages that there are.


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("Error: EROFS: read-only file system, open 'log.txt'", WRITES),
        ("java.io.FileNotFoundException: log.txt (Read-only file system)", WRITES),
        ("panic: open log.txt: read-only file system", WRITES),
        ("Error: EACCES: permission denied, open 'bot.js'", WRITES),
        ("bash: fork: Operation not permitted", ONE_PROCESS),
        ("sh: 1: Cannot fork", ONE_PROCESS),
        ("bot.rb:1:in `fork': Operation not permitted - fork(2) (Errno::EPERM)", ONE_PROCESS),
        ("Error: spawn ls EPERM", ONE_PROCESS),
        ("FATAL ERROR: Reached heap limit - JavaScript heap out of memory", "has 1G of memory; "),
        ("java.lang.OutOfMemoryError: Java heap space", "has 1G of memory; "),
        ("terminate called after throwing an instance of 'std::bad_alloc'", "has 1G of memory; "),
        ("memory allocation of 9000000000 bytes failed", "has 1G of memory; "),
        ("OutOfMemoryError: unable to create native thread", "has 64 processes and threads"),
        ("RuntimeError: can't start new thread", "has 64 processes and threads"),
        ("write /tmp/a: no space left on device", "can keep 64M in /tmp; "),
        ("getaddrinfo EAI_AGAIN example.org", "has no network"),
        ("dial tcp: lookup example.org: no such host", "has no network"),
        ("Error: Cannot find module '../shared.js'", f"{FILES}; "),
        ("ModuleNotFoundError: No module named 'numpy'", f"{FILES}; "),
    ],
)
def test_words_of_many_languages(said: str, fact: str) -> None:
    failed = Step(name="start", result="failed", detail="it ended", stderr=["a log", said])
    bot = Bot(name="mine", command=("mine",))
    told = explained(failed, bot, STANDARD).detail
    elsewhere = explained(failed, bot, STANDARD, handed_in=True).detail
    assert elsewhere.endswith("; try it at home: referee check --sandbox standard")
    assert "--limit" not in elsewhere and "--expose" not in elsewhere
    assert told.startswith(f"it ended; at level standard a bot {fact}")
    assert told.endswith(COMPARE)
    for unexplained, confinement in (
        (failed, Confinement()),
        (replace(failed, result="passed"), STANDARD),
        (replace(failed, stderr=["a log"]), STANDARD),
    ):
        assert explained(unexplained, bot, confinement) == unexplained


def test_what_holds_for_the_bot_alone() -> None:
    """Its manifest, its level, and the step that builds it, which may do more."""
    step = Step(name="start", result="failed", detail="it ended", stderr=["fork: not permitted"])
    plain = Bot(name="mine", command=("mine",), limits={"memory": "64M"})
    full = Confinement(level=Level.FULL)
    assert explained(replace(step, stderr=["MemoryError"]), plain, full).detail == (
        f"it ended; at level full a bot has 64M {MEMORY}; to compare: --sandbox none"
    )
    assert ONE_PROCESS in explained(step, plain, STANDARD).detail
    assert explained(step, plain, full) == step
    assert explained(step, replace(plain, processes=4), STANDARD) == step
    build = Step(name="build", result="failed", detail="", stderr=["cc: Permission denied"])
    assert explained(build, plain, STANDARD) == build
    refused = Step(name="start", result="failed", detail="", stderr=["exec: b: Permission denied"])
    assert explained(refused, plain, STANDARD) == refused


def test_a_program_that_a_build_names() -> None:
    bot = Bot(name="mine", command=("mine",))
    here = Step(name="build", result="failed", detail="the command sh was not found")
    assert PROGRAMS in explained(here, bot, STANDARD).detail
    nowhere = replace(here, detail="the command no-such-compiler was not found")
    assert explained(nowhere, bot, STANDARD) == nowhere
