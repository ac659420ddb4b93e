"""The attempts of the probe can tell: where what they try is allowed, they say so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from referee.bots.confinement import Confinement
from referee.bots.confinement import attempt as module
from referee.bots.confinement.attempt import (
    FILL,
    LEAST,
    LIMITS,
    SCRIPT,
    facts,
    heard_of,
    started,
)
from referee.bots.confinement.group_attempt import MANY, MULTIPLY, judged, moved_when_frozen
from referee.bots.confinement.guard import Guard, guard
from referee.bots.confinement.levels import Level
from referee.bots.confinement.limits import Limits
from referee.bots.confinement.probe import OUTSIDE, findings
from referee.bots.confinement.walls import View
from referee.bots.process import BotProcess
from tests.confinement.offered import LEVELS, walls

pytestmark = walls


def guarded(
    script: str, limits: Limits = LIMITS, *, one_process: bool = False, build: bool = False
) -> Guard:
    confinement = Confinement(level=Level.STANDARD, limits=limits)
    words = ("sh", "-c", script, "sh", OUTSIDE)
    return guard(words, {}, View((), "/tmp"), confinement, one_process=one_process, build=build)


def test_a_process_that_is_kept_has_all_its_seconds_in_every_pairing() -> None:
    """It is kept if it has used up to a tenth before."""
    for seconds in (1, 9, 10, 19, 3600):
        given = guarded(SCRIPT, limits=Limits(cpu=seconds)).limits["CPU"]
        assert seconds <= given - seconds / 10 < seconds + 1


def test_a_bot_has_no_priority_that_its_referee_may_have() -> None:
    """Audio groups have a limit of real-time priorities: a bot that used it would have the core."""
    given = guarded(SCRIPT).limits
    assert given["RTPRIO"] == given["NICE"] == 0


@pytest.mark.parametrize("one_process", [True, False])
def test_a_filter_that_lets_too_much_through(one_process: bool) -> None:
    for build, told in {False: "", True: "a system call that must be refused was not"}.items():
        said, ended = heard_of(guarded(SCRIPT, one_process=one_process, build=build))
        assert module._called(facts(said), ended) == told
        assert ("forked" in facts(said)) is not one_process


def test_no_filter_at_all() -> None:
    assert module._called({"seccomp": "0"}, "exited with status 1") == (
        "a process runs without a filter of system calls"
    )


@pytest.mark.parametrize(("limits", "told"), [(LEAST, ""), (Limits(), "filled\n")])
def test_memory_is_filled_where_there_is_enough(limits: Limits, told: str) -> None:
    """So that it is the limit, and nothing else of the attempt, by which it is refused."""
    said, ended = heard_of(guarded(FILL, limits))
    assert said == told
    assert (ended == "exited with status 0") is bool(told)


@pytest.mark.parametrize(("processes", "refused"), [(8, True), (2 * MANY, False)])
def test_processes_are_counted(processes: int, refused: bool) -> None:
    """The script and what is made of it; the group's own limit is level full's."""
    limits = replace(LIMITS, processes=processes)
    assert (judged(*heard_of(guarded(MULTIPLY, limits))) == "") is refused


def test_a_process_that_cannot_fork_proves_nothing() -> None:
    assert judged("", "exited with status 2").startswith("no second process could be started")


@pytest.mark.parametrize("level", LEVELS)
def test_standing_still(level: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    assert moved_when_frozen(level) == ""
    monkeypatch.setattr(BotProcess, "hold", lambda _: None)
    # On a busy machine it may not get to go on within one look.
    told = {moved_when_frozen(level) for _ in range(8)}
    assert "a process went on that was to stand still" in told


def test_nothing_is_left_of_an_attempt() -> None:
    with started(guarded("sleep 600")) as process:
        assert process.pid is not None
        assert Path(f"/proc/{process.pid}").exists()
    assert not Path(f"/proc/{process.pid}").exists()
    assert process.pid != os.getpid()


def test_whatever_fails_says_what_to_do() -> None:
    for level in Level:
        for finding in findings(level):
            assert finding.remedy or finding.status == "pass", finding
