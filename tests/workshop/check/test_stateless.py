"""A bot that says that it is stateless is held to it, and none is accused wrongly."""

from __future__ import annotations

import json
import re

import pytest
from msgspec.structs import replace

from referee.bots.manifest import Bot, find_bot
from referee.workshop.check.report import Report, Step
from referee.workshop.check.stateless import KEEP_APART, NO_CLAIM, UNCLEAR
from tests.workshop.check.checking import broken, check, step

SEEN = re.compile(
    r"(\w+), seat (\d), game (\d+), turn (\d+): "
    r"it played (.+) in a fresh process and (.+) in one .*"
)


def judged(bot: Bot, variant: str = "underdog") -> tuple[Report, Step]:
    report = check(bot, variants=[variant], time_ms=20_000)
    return report, step(report, "stateless")


BESIDE = re.compile(
    r"underdog, seat \d, game \d+, turn \d+: "
    r"it played (.+) where this game was alone and (.+) where 9 other games went on beside it, (.*)"
)


@pytest.mark.parametrize("name", ["Drawing", "EveryWord", "OneAtATime"])
def test_what_depends_on_the_game_alone(name: str) -> None:
    report, found = judged(broken("memory", name))
    assert report.passed
    assert found.result == "passed"


@pytest.mark.parametrize(
    "bot",
    [
        replace(find_bot("counter"), stateless=True),
        broken("memory", "Learner"),
        broken("memory", "OneGenerator"),
        broken("memory", "Tired"),
        broken("memory", "Alternating"),
        broken("memory", "Acquainted"),
        broken("memory", "LastGame"),
        broken("memory", "LastOpponent"),
        broken("memory", "LastSeat"),
        broken("memory", "LastMove"),
        broken("memory", "Sulking"),
    ],
    ids=lambda bot: str(bot.name),
)
def test_what_depends_on_games_before(bot: Bot) -> None:
    report, found = judged(bot)
    assert report.failed == ["stateless"]
    seen = SEEN.fullmatch(found.detail)
    assert seen is not None, found.detail
    variant, seat, game, turn, fresh, later = seen.groups()
    assert variant == "underdog"
    assert fresh != later
    start, *turns, asked, over = map(json.loads, found.sent)
    assert (start["type"], start["game"], start["seat"]) == ("start", game, int(seat))
    assert (asked["game"], over["type"]) == (game, "over")
    assert len(turns) + 1 == int(turn)
    answer = json.loads(found.stdout[-1])
    assert answer["id"] == asked["id"]
    assert answer.get("type") == "resign" or str(answer["move"]) == later


@pytest.mark.parametrize("name", ["System", "Clock"])
def test_what_differs_anyway_is_no_memory(name: str) -> None:
    report, found = judged(broken("memory", name))
    assert report.passed, report.failed
    assert found.result == "skipped"
    assert SEEN.fullmatch(found.detail)
    assert found.detail.endswith(UNCLEAR)


def test_games_at_the_same_time_are_kept_apart() -> None:
    report, found = judged(broken("memory", "Reseeded"))
    assert report.failed == ["stateless"]
    seen = BESIDE.fullmatch(found.detail)
    assert seen is not None, found.detail
    assert seen[1] != seen[2]
    assert found.detail.endswith(KEEP_APART)


def test_luck_that_is_never_the_same_mixes_up_no_games() -> None:
    report, found = judged(broken("memory", "ReseededUnclearly"))
    assert report.passed, report.failed
    assert found.result == "skipped"
    assert BESIDE.fullmatch(found.detail)


def test_the_manifest_counts() -> None:
    learner = broken("memory", "Learner")
    report, found = judged(replace(learner, stateless=False))
    assert report.passed
    assert (found.result, found.detail) == ("skipped", NO_CLAIM)
    assert "stateless" not in step(report, "hello").detail


def test_a_bot_without_a_claim_is_told_of_it() -> None:
    report, found = judged(find_bot("counter"))
    assert report.passed
    assert (found.result, found.detail) == ("skipped", NO_CLAIM)
