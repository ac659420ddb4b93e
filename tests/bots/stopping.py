"""Stops the worker process that runs it while it is to move, and answers late.

stopping.py MARK

MARK    what the environment of the worker has, to tell it from others of this machine

At level none a bot has the rights of the referee. Each of its games is called off, since the
referee itself did not run.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from tests.bots.base import Message, answer, line, say, serve

STOPPED_S, THINKS_S = 0.6, 0.3
TURN = 2
"""Which turn of a game it is late in, from 0."""


def worker(mark: str) -> int:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
            if (
                b"referee.tournament.worker" in words
                and mark.encode() in (folder / "environ").read_bytes()
            ):
                return int(folder.name)
        except OSError:
            pass
    raise SystemExit("there is no worker")


referee = worker(sys.argv[1])
turns = [0]


def on_turn(turn: Message) -> None:
    if turns[0] == TURN:
        if os.fork() == 0:
            os.kill(referee, signal.SIGSTOP)
            time.sleep(STOPPED_S)
            os.kill(referee, signal.SIGCONT)
            os._exit(0)
        time.sleep(THINKS_S)
    turns[0] += 1
    say(line(answer(turn)))


def on_over(_: Message) -> None:
    turns[0] = 0


serve(on_turn, on_over)
