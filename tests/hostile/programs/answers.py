"""Answers what it was not asked.

    answers.py HOW MARK

twice      answers every turn twice, with another move the second time
old        answers the last turn once more, with another move, before it answers this one
many       answers its first turn 300 times over before it answers the second

Bounded: some hundred lines for a turn.
"""

from __future__ import annotations

import sys

from tests.hostile.programs.bot import Turn, answer, say, serve

MANY = 300

how = sys.argv[1]
before: list[Turn] = []


def on_turn(turn: Turn) -> None:
    right, other = answer(turn), answer(turn, move=turn.legal[-1])
    if how == "twice":
        say(right + other)
    elif how == "old" and before:
        say(answer(before[-1], move=turn.legal[-1]) + right)
    elif how == "many" and len(before) == 1:
        say(answer(before[-1]) * MANY + right)
    else:
        say(right)
    before.append(turn)


serve(on_turn)
