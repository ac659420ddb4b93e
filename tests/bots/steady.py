"""Plays at random, but from the game's `bot_seed` alone: the same seed gives the same game.

steady.py GAMES_AT_ONCE
"""

from __future__ import annotations

import sys

from tests.bots.base import answer, greet, line, listen, say

states: dict[str, int] = {}
for message in listen():
    kind = message["type"]
    if kind == "hello":
        greet(int(sys.argv[1]))
    elif kind == "start":
        states[message["game"]] = message["bot_seed"]
    elif kind == "turn":
        state = (states[message["game"]] * 6364136223846793005 + 1442695040888963407) % 2**64
        states[message["game"]] = state
        legal = message["legal"]
        say(line(answer(message, move=legal[(state >> 33) % len(legal)])))
    elif kind == "bye":
        break
