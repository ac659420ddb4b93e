"""A check of bots that speak ZeroMQ: the same steps, but for those that are about lines."""

from __future__ import annotations

import sys

import pytest

from referee.bots.manifest import ZMQ, Bot
from referee.clock import read_clock
from referee.workshop.check.report import Report
from referee.workshop.check.run import check_bot
from referee.workshop.check.sitting import Terms
from tests.arena.playing import ROOT
from tests.facts import Naming

TERMS = Terms(clock=read_clock("10s"), startup_ms=20_000, warm_up_ms=1_000)


def check(*words: str, terms: Terms = TERMS) -> Report:
    command = (sys.executable, str(ROOT / "tests/bots/over_zmq.py"), *words)
    bot = Bot(name="z", command=command, transport=ZMQ, variants=("duel",), stateless=True)
    return check_bot(bot, terms)


@pytest.mark.parametrize("how", ["honest", "packed"])
def test_a_good_bot_passes(how: str) -> None:
    report = check(how)
    assert report.passed, report.failed
    skipped = [step.name for step in report.steps if step.result == "skipped"]
    assert skipped == ["flush", "CRLF", "pieces", "games at once", "end of input"]


@pytest.mark.parametrize(
    ("how", "failed", "detail"),
    [
        ("exits", "start", "the bot exited with status 1 before its hello"),
        ("no token", "hello", "no_hello: the hello carries no token; send what"),
        ("request", "hello", "no_hello: … 'REQ' where a DEALER"),
        ("protocol 2", "hello", "wrong_protocol: … protocol 2, … referee 1"),
        ("parts", "variant duel", "garbled: … several parts"),
        ("status", "variant duel", "crash: the bot exited with status 3"),
    ],
)
def test_what_is_wrong_is_said(how: str, failed: str, detail: str) -> None:
    report = check(how)
    assert not report.passed
    (first, *_) = [step for step in report.steps if step.result == "failed"]
    assert first.name == failed
    assert first.detail == Naming.of(detail)
