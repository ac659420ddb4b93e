"""Bots that speak ZeroMQ, given a recorded game again: the same answers and the same faults."""

from __future__ import annotations

import sys

import pytest

from referee.bots.manifest import ZMQ, Bot
from referee.dialogue import dialogue
from referee.workshop.repro import Repro, repro
from tests.arena.playing import ROOT
from tests.workshop.one_game import game


def zmq_bot(*words: str) -> Bot:
    script = str(ROOT / "tests/bots/over_zmq.py")
    return Bot(name="bad", command=(sys.executable, script, *words), transport=ZMQ)


def again(*words: str) -> Repro:
    bot = zmq_bot(*words)
    record = game(bot)
    return repro(dialogue(record, 0), bot)


@pytest.mark.parametrize("how", ["honest", "packed"])
def test_the_same_answers(how: str) -> None:
    found = again(how)
    assert found.holds
    assert found.answers
    assert found.differences == found.missing == 0


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("status", "crash"),
        ("parts", "garbled"),
        ("no token", "no_hello"),
        ("exits", "no_start"),
        ("protocol 2", "wrong_protocol"),
    ],
)
def test_the_same_fault(how: str, code: str) -> None:
    found = again(how)
    assert found.recorded is not None
    assert found.seen is not None
    assert (found.recorded.code, found.seen.code) == (code, code)
    assert found.recorded.detail == found.seen.detail
    assert found.came_again
