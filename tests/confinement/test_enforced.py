"""Limits that end a bot, or keep it from coming up, and what is told of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from referee.bots.confinement import Confinement
from referee.bots.confinement.levels import Level
from referee.bots.confinement.limits import Limits
from referee.bots.manifest import Bot, find_bot
from referee.match import play_match
from referee.record import Record
from referee.verdict import Fault
from tests.cli.running import referee
from tests.confinement.offered import BEST, LEVELS, a_bot, confined, walls
from tests.facts import Naming
from tests.hostile.pace import PACE

pytestmark = walls
BURN = """
import signal, time
signal.signal(signal.SIGXCPU, signal.{heeds})
while time.process_time() < 20:
    pass
return ""
"""
OUT_OF_CPU = Naming(
    "the bot used up the seconds of", "processor time that its limit cpu gives and was killed"
)


def first_fault(bot: Bot, confinement: Confinement, **terms: object) -> Fault:
    records: list[Record] = []
    given = {"games": 1, "time": "60s", **terms}
    play_match(bot, "highest", confinement=confinement, on_record=records.append, **given)  # type: ignore[arg-type]
    fault = records[0].fault
    assert fault is not None
    return fault


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("heeds", ["SIG_DFL", "SIG_IGN"])
def test_seconds_of_processor_time(tmp_path: Path, level: Level, heeds: str) -> None:
    bot = a_bot(tmp_path / "b", BURN.format(heeds=heeds))
    fault = first_fault(bot, Confinement(level=level, limits=Limits(cpu=PACE)))
    assert fault.code == "crash"
    assert fault.detail == OUT_OF_CPU


def test_who_kills_itself_ran_out_of_nothing(tmp_path: Path) -> None:
    bot = a_bot(tmp_path / "b", "os.kill(os.getpid(), 9)")
    assert first_fault(bot, confined).detail == "the bot was killed by SIGKILL"


@pytest.mark.skipif(shutil.which("node", path="/usr/bin") is None, reason="there is no node")
def test_a_runtime_that_gets_no_threads() -> None:
    few = replace(confined, limits=Limits(processes=4))
    fault = first_fault(find_bot("highest-node"), few, startup_ms=5_000 * PACE)
    if fault.code == "no_hello":  # some end at once instead, and say why themselves
        assert fault.detail == Naming("it may have 4 processes", "and threads at most", "enough?")


def test_a_silent_bot_is_told_what_it_has_little_of(tmp_path: Path) -> None:
    folder = tmp_path / "b"
    bot = a_bot(folder, "return ''")
    (folder / "bot.py").write_text("import time; time.sleep(600)")
    tight = replace(confined, limits=Limits(processes=4, memory=64 << 20))
    told = "it may have 4 processes and threads and 64M of memory at most, is that enough?"
    for confinement, expected in ((tight, True), (confined, False), (Confinement(), False)):
        fault = first_fault(bot, confinement, startup_ms=5_000 * PACE)
        assert fault.code == "no_hello", fault
        assert fault.detail.endswith(told) is expected
    words = ("--limit", "processes=4", "--limit", "memory=64M", "--startup", f"{5_000 * PACE}ms")
    done = referee(tmp_path, "check", "b", *words, REFEREE_SANDBOX=BEST.value)
    assert told in " ".join(done.out.split())


@pytest.mark.parametrize("level", [Level.NONE, *LEVELS])
def test_a_manifest_may_ask_to_send_less(tmp_path: Path, level: Level) -> None:
    murmur = "sys.stdout.write(' ' * 20_000 + '\\n'); return ''"
    bot = a_bot(tmp_path / "b", murmur, limits='{turn = "10K"}')
    fault = first_fault(bot, Confinement(level=level))
    assert fault.code == "flood"
    assert fault.detail == Naming(10_240, "last turn")
    bot = a_bot(tmp_path / "c", murmur, limits='{turn = "64M"}')
    fault = first_fault(bot, Confinement(level=level, limits=Limits(turn=10_000)))
    assert fault.code == "flood"
    assert fault.detail == Naming(10_000, "last turn")
