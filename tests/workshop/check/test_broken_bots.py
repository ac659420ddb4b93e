"""Every broken bot fails the step that is about what is wrong with it, and no other."""

from __future__ import annotations

import re

import pytest

from referee.workshop.check.games import LOOK_BACK
from referee.workshop.check.run import LESSONS, STEPS
from tests.workshop.check.checking import OVER, broken, by_result, check

AFTER_ONE_GAME = {"error", "games at once", "stateless", OVER}
"""What needs more than one game in a process."""
WITH_IDS = {"games at once", OVER}
"""What needs answers that can be told apart."""

CASES: dict[str, tuple[str, str, set[str]]] = {
    # Bot: the step that fails, a pattern of its sentence, what cannot be tried then.
    "output UnflushedPong": (
        "ping",
        r"timeout: no pong within 3s; .* flush it: .*print\(…, flush=True\).*",
        set(),
    ),
    "output Debug": (
        "output",
        r"garbled: not a JSON object; .* log to stderr; \d+ such lines in all",
        set(),
    ),
    "output Banner": (
        "output",
        r"garbled: not a JSON object; .* log to stderr; \d+ such lines in all",
        set(),
    ),
    "output Pretty": ("output", r"garbled: .* spread over \d lines; .*", set()),
    "output NoLineEnd": ("output", r"garbled: .* end of its line; .*", set()),
    "reading Prefix": ("key order", r"crash: the bot exited with status 1 \(difference, .*", set()),
    "reading LastLegal": (
        "unknown fields",
        r"it resigned \(difference, seat 0, turn 1\), and did not where the same game came plainly",
        set(),
    ),
    "reading Strict": ("unknown fields", r"crash: the bot exited with status 1 .*", set()),
    "reading StrictEvents": ("unknown events", r"crash: the bot exited with status 1 .*", set()),
    "reading CarriageReturn": ("CRLF", r"crash: the bot exited with status 1 .*", set()),
    "reading CarriageReturnSilent": (
        "CRLF",
        r"timeout: no answer within 3s, nor 0ms later \(difference, seat 0, turn 1\)",
        set(),
    ),
    "reading Blocks": ("pieces", r"crash: the bot exited with status 1 .*", set()),
    "reading UnknownType": ("unknown types", r"crash: the bot exited with status 1 .*", set()),
    "reading DiesOfError": ("error", r"crash: the bot exited with status 1 .*", set()),
    "reading DiesOfPing": ("ping", r"crash: the bot exited with status 1", set()),
    "reading NoPong": ("ping", r"timeout: no pong within 3s", set()),
    "playing CountsItself": ("ids", r"garbled: \d+ answers with the wrong id; .*", WITH_IDS),
    "playing LastId": ("ids", r"garbled: \d+ answers with the wrong id; .*", WITH_IDS),
    "playing IllegalAs 0": (
        "both seats",
        r"illegal: .* \(difference, seat 0, turn 1\) \(and 1 more like it\); from seat 1 .*",
        set(),
    ),
    "playing IllegalAs 1": (
        "both seats",
        r"illegal: 9999 .* \(difference, seat 1, turn 1\) .*; from seat 0 .*",
        set(),
    ),
    "playing NoTarget": (
        "variant target",
        r"illegal: a move is a string .* \(target, seat 0, turn 1\)",
        set(),
    ),
    "playing MixesUp": (
        "games at once",
        r"illegal: .* \(\w+, seat \d, turn \d+, one of \d turns in one write\)",
        set(),
    ),
    "playing LastOnly": (
        "games at once",
        r"timeout: 1 of 2 turns that came in one write were not answered within 3s, .*",
        set(),
    ),
    "playing ForgetsAll": (
        OVER,
        r"crash: the bot exited with status 1 \(target, seat 1, turn 2\)",
        set(),
    ),
    "playing FixedSize": (
        "long game",
        r"crash: the bot exited with status 1 \(difference, seat 0, turn 1\)",
        set(),
    ),
    "playing OneGame": (
        "many games",
        r"crash: the bot exited with status 0 .*, after 1 game in one process",
        AFTER_ONE_GAME,
    ),
    "playing TenGames": (
        "many games",
        r"crash: the bot exited with status 1 .*, after 10 games in one process",
        AFTER_ONE_GAME,
    ),
    "playing Stumbles": (
        "many games",
        r"timeout: no answer within 3s, .* turn 2\), after 10 games in one process",
        AFTER_ONE_GAME,
    ),
    "playing Falls": ("bye", r"the bot was killed by SIGSEGV after bye, .* status 0 is due", set()),
    "playing Complains": (
        "end of input",
        r"the bot exited with status 3 after the end of .* input, where status 0 is due",
        set(),
    ),
    "playing Stays": ("bye", r"the bot still runs 3s after bye", set()),
    "playing Waits": ("end of input", r"the bot still runs 3s after the end of .* input", set()),
}

IN_A_GAME = {"playing TenGames", "playing Stumbles"}
"""Those that do not leave after a game but fail in one."""


@pytest.mark.parametrize("bot", CASES)
def test_it_fails_the_right_step(bot: str) -> None:
    name, sentence, out_of_reach = CASES[bot]
    report = check(broken(*bot.split()))
    told = {each.name: each.detail for each in report.steps if each.result == "failed"}
    assert set(told) == {name}, told
    lesson = LOOK_BACK if bot in IN_A_GAME else LESSONS.get(name, "")
    seen = told[name].removesuffix(f"; {lesson}")
    assert re.fullmatch(sentence, seen), seen
    assert (seen != told[name]) == (name in STEPS), "a lesson for its author"
    assert by_result(report, "not tried") == out_of_reach
    assert (report.passed, report.failed) == (False, [name])
