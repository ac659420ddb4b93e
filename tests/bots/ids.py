"""Answers what it was not asked.

twice       answers every turn twice, with another move the second time
old         says something on the last turn before it answers this one
never       answers an id that was never given
stale N     answers its first turn N times over before it answers the second
pongs N     as stale, with pongs
"""

from __future__ import annotations

import sys

from tests.bots.base import Message, answer, line, say, serve

how = sys.argv[1]
count = int(sys.argv[2]) if len(sys.argv) > 2 else 0
before: list[Message] = []


def on_turn(turn: Message) -> None:
    right, other = line(answer(turn)), line(answer(turn, move=turn["legal"][-1]))
    if how == "twice":
        say(right + other)
    elif how == "never":
        say(line(answer(turn, id=turn["id"] + 1)))
    elif before and how == "old":
        say(line(answer(before[-1], move=turn["legal"][-1])) + right)
    elif len(before) == 1 and how == "stale":
        say(line(answer(before[-1])) * count + right)
    elif len(before) == 1 and how == "pongs":
        say(line({"type": "pong"}) * count + right)
    else:
        say(right)
    before.append(turn)


serve(on_turn)
