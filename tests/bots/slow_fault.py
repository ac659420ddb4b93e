"""Thinks for some seconds and then plays a number that it does not have.

slow_fault.py SECONDS
"""

from __future__ import annotations

import sys
import time

from tests.bots.base import Message, answer, line, say, serve


def on_turn(turn: Message) -> None:
    time.sleep(float(sys.argv[1]))
    say(line(answer(turn, move=99)))


serve(on_turn)
