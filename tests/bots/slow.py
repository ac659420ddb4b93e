"""Takes its time, and touches a file when it begins to think.

slow.py FIRST REST [FILE]        seconds for the first answer of the process, and for the others
"""

from __future__ import annotations

import os
import sys
import time

from tests.bots.base import Message, answer, line, say, serve

pauses = [float(sys.argv[1])]


def on_turn(turn: Message) -> None:
    if len(sys.argv) > 3:
        with open(sys.argv[3], "a"):
            os.utime(sys.argv[3])
    time.sleep(pauses.pop() if pauses else float(sys.argv[2]))
    say(line(answer(turn, note=str(turn["left_ms"]))))


serve(on_turn)
