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

from tests.bots.base import answer, greet, line, listen, say

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
turns = 0
for message in listen():
    if message["type"] == "hello":
        greet()
    elif message["type"] == "start":
        turns = 0
    elif message["type"] == "turn":
        if turns == TURN:
            if os.fork() == 0:
                os.kill(referee, signal.SIGSTOP)
                time.sleep(STOPPED_S)
                os.kill(referee, signal.SIGCONT)
                os._exit(0)
            time.sleep(THINKS_S)
        turns += 1
        say(line(answer(message, move=message["legal"][0])))
    elif message["type"] == "ping":
        say(b'{"type": "pong"}\n')
    elif message["type"] == "bye":
        break
