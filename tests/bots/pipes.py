"""Uses its pipes in odd ways.

closes stdout  and stays, instead of an answer
closes stdin   and stays, before it answers
answers, then  closes stdout and stays
deaf           reads nothing any more after the hello (word 2: games at once)
pause          sends every answer in two halves
bytes          sends every answer byte by byte
"""

from __future__ import annotations

import os
import sys
import time

from tests.bots.base import Message, answer, greet, line, listen, say, serve

how = sys.argv[1]


def on_turn(turn: Message) -> None:
    data = line(answer(turn))
    if how == "closes stdout":
        os.close(1)
        time.sleep(600)
    elif how == "answers, then":
        say(data)
        os.close(1)
        time.sleep(600)
    elif how == "closes stdin":
        os.close(0)
        say(data)
        time.sleep(600)
    elif how == "pause":
        say(data[:9])
        time.sleep(0.03)
        say(data[9:])
    elif how == "bytes":
        for at in range(len(data)):
            say(data[at : at + 1])


if how == "deaf":
    next(listen())
    greet(int(sys.argv[2]))
    time.sleep(600)
else:
    serve(on_turn)
