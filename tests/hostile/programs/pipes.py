"""Uses its pipes in odd ways on its turn.

    pipes.py HOW MARK

drip           sends its answer byte by byte, with long pauses
deaf           reads nothing any more after the hello, with 64 games at once
closes stdout  and stays, instead of an answer
closes stdin   and stays, before it answers
two halves     sends half of its answer, and the rest a moment later
half           sends half of its answer and exits

Bounded: whoever stays ends after 20 seconds.
"""

from __future__ import annotations

import os
import sys
import time

from tests.hostile.programs.bot import Turn, answer, greet, say, serve

LASTS_S = 600.0
PAUSE_S = 0.03
DRIP_S = 0.5

how = sys.argv[1]


def on_turn(turn: Turn) -> None:
    data = answer(turn)
    half = len(data) // 2
    if how == "drip":
        for at in range(len(data)):
            say(data[at : at + 1])
            time.sleep(DRIP_S)
    elif how == "closes stdout":
        os.close(1)
        time.sleep(LASTS_S)
    elif how == "closes stdin":
        os.close(0)
        say(data)
        time.sleep(LASTS_S)
    elif how == "two halves":
        say(data[:half])
        time.sleep(PAUSE_S)
        say(data[half:])
    elif how == "half":
        say(data[:half])
        os._exit(7)


if how == "deaf":
    os.read(0, 65_536)
    greet(games_at_once=64)
    time.sleep(LASTS_S)
else:
    serve(on_turn)
