"""Bots of which more is to be said than the one step that they fail."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from referee.bots.manifest import Bot, find_bot, usual_bots
from referee.workshop.check.games import GIVEN_UP, LOOK_BACK
from referee.workshop.check.hearing import NO_OBJECT, NOT_ALONE
from referee.workshop.check.report import Report, Step
from referee.workshop.check.run import CONCLUSIONS, LESSONS, STEPS
from tests.facts import Naming
from tests.workshop.check.checking import OVER, broken, by_result, check, step

ALL = ("difference", "underdog", "duel", "target", "deck")
OPENING = ["start", "hello", "flush"]
NEVER_TRIED = {"both seats", *STEPS, *CONCLUSIONS}


def test_every_step_teaches_something() -> None:
    assert list(LESSONS) == list(STEPS)


def test_a_good_bot_passes_every_step() -> None:
    seen: list[Step] = []
    report = check(broken("base"), variants=None, on_step=seen.append)
    variants = [f"variant {name}" for name in ALL]
    names = [*OPENING, *variants, "both seats", *STEPS, *CONCLUSIONS]
    assert [each.name for each in report.steps] == names
    assert by_result(report, "passed") == set(names)
    assert (report.passed, report.failed, report.bot) == (True, [], "base")
    assert report.variants == list(ALL)
    assert seen == report.steps
    assert "4 games side by side" in step(report, "games at once").detail
    assert step(report, "long game").detail == "100 turns of difference size=100"
    assert step(report, "many games").detail.startswith("30 games ")
    figures = report.figures
    assert figures is not None
    assert 0 < figures.median_us <= figures.p99_us <= figures.slowest_us
    assert (figures.limit_ms, figures.late) == (3_000, 0)
    assert f"{figures.answers} answers: median " in step(report, "time").detail
    assert msgspec.json.decode(msgspec.json.encode(report), type=Report) == report


@pytest.mark.parametrize("name", usual_bots())
def test_the_sample_bots_pass(name: str) -> None:
    report = check(find_bot(name), variants=None, time_ms=20_000)
    assert report.failed == [], [step(report, each) for each in report.failed]
    assert report.passed
    claimed = "skipped" if name == "counter" else "passed"
    assert step(report, "stateless").result == claimed


def test_one_game_at_a_time_is_enough() -> None:
    report = check(broken("base", 1))
    assert report.passed
    assert by_result(report, "skipped") == {"games at once"}
    assert step(report, OVER).detail.endswith("and the next game was played")


def test_the_manifest_counts_before_the_hello() -> None:
    bot = broken("base", 1)
    named = Bot(name="named", command=bot.command, games_at_once=3, variants=("deck",))
    report = check(named, variants=None)
    assert report.passed
    assert report.variants == ["deck"]
    assert "deck, 3 games at once" in step(report, "hello").detail
    assert "3 games side " in step(report, "games at once").detail


# Nothing to be heard.


@pytest.mark.parametrize(
    ("bot", "hello", "what", "came"),
    [
        ("Unflushed", "skipped", "its hello", [r'\{"type": "hello", .*']),
        ("UnflushedHello", "skipped", "its hello", ["MyBot 2.0", r'\{"type": "hello", .*']),
        ("ReadsAll", "skipped", "its hello", [r'\{"type": "hello", .*']),
        ("UnflushedMoves", "passed", "its first answer", [r'\{"id": 1009, "move": 1\}']),
    ],
)
def test_output_that_is_not_flushed(bot: str, hello: str, what: str, came: list[str]) -> None:
    report = check(broken("output", bot))
    assert report.failed == ["flush"]
    assert step(report, "start").result == "passed"
    assert step(report, "hello").result == hello
    told = step(report, "flush").detail
    assert told.startswith(f"{what} came only when its input had ended: the bot does not flush")
    assert told.endswith("in Python write print(…, flush=True), or start it with python3 -u")
    shown = step(report, "flush").stdout[-len(came) :]
    assert all(re.fullmatch(*pair) for pair in zip(came, shown, strict=True)), shown
    variants = {"variant difference", "variant target"}
    assert by_result(report, "not tried") == NEVER_TRIED | variants


def test_what_came_too_late_is_shown_beside_a_later_step() -> None:
    report = check(broken("output", "UnflushedPong"), variants=["difference"])
    assert report.failed == ["ping"]
    assert step(report, "ping").stdout == ['{"type": "pong"}']


def test_a_slow_start_is_not_a_missing_flush() -> None:
    report = check(broken("startup", "Quiet"), variants=["difference"], quiet_ms=100)
    assert report.passed, report.failed


def test_a_bot_that_ends_before_its_hello() -> None:
    report = check(broken("startup", "Exits"))
    assert report.failed == ["start"]
    start = step(report, "start")
    assert start.detail == "the bot exited with status 1 before its hello"
    assert start.stderr == ["no model file"]
    assert [line.partition(",")[0] for line in start.sent] == ['{"type":"hello"']
    assert by_result(report, "not tried") >= {"hello", "flush"} | NEVER_TRIED
    assert not report.passed


def test_a_command_that_is_not_there() -> None:
    report = check(Bot(name="missing", command=("./no-such-bot",)))
    assert report.failed == ["start"]
    assert step(report, "start").detail == (
        "the command does not run: No such file or directory: ./no-such-bot"
    )


@pytest.mark.parametrize(
    ("bot", "told"),
    [
        ("Silent", "no_hello: no hello within 3s"),
        ("Chatty", f'no_hello: no hello within 3s, but "loading..." came: {NO_OBJECT}'),
        (
            "NoLineEnd",
            Naming(
                'no_hello: no hello within 3s, but "loading..." came, without the end',
                "of its line",
            ),
        ),
        ("Half", "no_hello: no hello within 3s, but a message that is not complete"),
        ("Pongs", 'no_hello: {"type": "pong"} came before the hello'),
        ("WrongProtocol", Naming("wrong_protocol: ", "protocol 2", "referee 1")),
        ("Garbled", 'no_hello: games_at_once is "many" where 1 to 10000 is due'),
    ],
)
def test_no_hello(bot: str, told: str | Naming) -> None:
    report = check(broken("startup", bot), startup_ms=3_000 if "within 3s" in str(told) else 60_000)
    assert report.failed == ["hello"]
    assert step(report, "hello").detail == told
    assert by_result(report, "passed") == {"start"}


def test_a_hello_that_is_not_alone_on_its_line() -> None:
    report = check(broken("output", "BannerNoEnd"), startup_ms=3_000)
    assert report.failed == ["hello"]
    told = step(report, "hello").detail
    assert told.startswith('no_hello: no hello within 3s, but "MyBot 2.0: {"type": "hello", ')
    assert told.endswith(f'…" came: {NOT_ALONE}')


def test_a_bot_that_never_answers() -> None:
    report = check(broken("playing", "Hangs"), variants=None, time_ms=500, patience_ms=2_500)
    assert report.failed == ["variant difference", "variant underdog"]
    assert step(report, "flush").result == "skipped"
    told = step(report, "variant difference").detail
    assert told == "timeout: no answer within 500ms, nor 2.5s later (difference, seat 0, turn 1)"
    for name in ("variant duel", "variant target", "variant deck"):
        assert step(report, name).detail == "the bot has not answered a single turn"
    assert {"both seats", "many games", "long game", "time", "ids"} <= by_result(
        report, "not tried"
    )
    assert report.figures is None


# What is wrong with more than one step.


def test_patterns_instead_of_json() -> None:
    report = check(broken("reading", "Regex"), variants=["difference"])
    assert set(report.failed) == {"unknown fields", "key order"}


def test_a_dict_of_python_is_no_json() -> None:
    report = check(broken("output", "PythonDict"))
    assert {"variant difference", "variant target", "output"} == set(report.failed)
    failed = step(report, "variant difference")
    assert failed.detail.startswith("garbled: not JSON (expecting property name")
    assert failed.stdout[-1].startswith("{'id': ")
    assert '"type":"turn"' in failed.sent[-1]


def test_a_flood_is_cut_off() -> None:
    report = check(broken("output", "Flood"), variants=["difference"])
    assert "variant difference" in report.failed
    assert step(report, "variant difference").detail.startswith("flood: more than 1048576 bytes")


def test_games_at_once_in_one_memory() -> None:
    report = check(broken("playing", "OneState"))
    assert set(report.failed) == {"games at once", OVER}


def test_a_bot_that_never_plays() -> None:
    report = check(broken("playing", "Resigns"))
    assert report.failed == ["variant difference", "variant target"]
    failed = step(report, "variant target")
    assert failed.detail == GIVEN_UP
    assert '"type": "resign"' in failed.stdout[-1]
    assert {"both seats", "many games", "games at once"} <= by_result(report, "not tried")
    assert step(report, "many games").detail == "no game was played to its end"
    assert report.variants == []


def test_to_resign_is_no_half_of_a_game() -> None:
    report = check(broken("playing", "ResignsAs", 1, "illegal"), variants=["difference"])
    assert report.failed == ["variant difference"]
    assert step(report, "variant difference").detail.startswith("illegal: 9999 ")
    assert step(report, "both seats").result == "not tried"


def test_a_bot_that_gives_up_after_some_games() -> None:
    report = check(broken("playing", "ResignsAfter"), variants=["difference"])
    assert "variant difference" not in report.failed
    assert step(report, "many games").detail == f"{GIVEN_UP}; {LOOK_BACK}"


def test_a_bot_that_is_slow_is_nothing_else() -> None:
    report = check(
        broken("playing", "Slow", 0.6),
        variants=["difference"],
        time_ms=400,
        patience_ms=700,
        budget_ms=500,
    )
    assert report.failed == ["time"]
    assert step(report, OVER).result == "passed"


def test_a_bot_that_hesitates() -> None:
    report = check(broken("playing", "Hesitates", 4), time_ms=2_000, patience_ms=8_000)
    assert report.failed == ["time"]
    told = step(report, "time").detail
    assert re.search(r"timeout: \d+ answers? too late \([2-9]\.\d\d s in ", told)
    assert told.endswith("the limit is 2s")
    assert report.figures is not None
    assert report.figures.late >= 1
    assert report.figures.slowest_us > 2_050_000


# What is no fault.


def test_to_resign_is_no_fault() -> None:
    report = check(broken("playing", "ResignsLater"))
    assert report.passed, report.failed
    assert step(report, "variant difference").detail == (
        "played to the end: 3 turns as seat 0 (it resigned), 3 turns as seat 1 (it resigned)"
    )
    assert step(report, "games at once").detail.endswith("with a legal move or by resigning")
    assert step(report, "long game").detail.endswith(" (it resigned)")


def test_to_resign_from_one_seat_is_no_fault() -> None:
    report = check(broken("playing", "ResignsAs", 1), variants=["difference"])
    assert report.passed, report.failed
    told = step(report, "variant difference").detail
    assert told == Naming("5 turns as seat 0, 1 turn as seat 1 (it resigned)")


def test_to_answer_twice_is_no_fault() -> None:
    report = check(broken("output", "Twice"))
    assert report.passed, report.failed
    assert "came twice or too late, and would be dropped" in step(report, "ids").detail


# Variants.


def test_a_variant_that_is_none() -> None:
    report = check(broken("startup", "Boaster"), variants=None)
    assert report.failed == ["variant diference"]
    assert "did you mean difference?" in step(report, "variant diference").detail
    assert report.variants == ["difference"]


def test_no_variant_at_all() -> None:
    report = check(broken("startup", "Useless"), variants=None)
    assert report.failed == ["variant"]
    assert step(report, "variant").detail == "the bot names no variant"
    assert step(report, "many games").result == "not tried"
    assert step(report, "ping").result == "passed"
    assert step(report, "flush").result == "skipped"


def test_a_bot_cannot_name_a_script(tmp_path: Path) -> None:
    """The check would run it, with the rights of whoever checks."""
    script, marker = tmp_path / "evil.py", tmp_path / "was run"
    script.write_text(f"open({str(marker)!r}, 'w')\n", "utf-8")
    named = Bot(name="mine", command=broken("base").command, variants=(str(script), "duel"))
    report = check(named, variants=None)
    assert report.failed == [f"variant {script}"]
    told = step(report, f"variant {script}").detail
    assert told == Naming("is a path, where the name of", "a variant is due")
    assert not marker.exists()
