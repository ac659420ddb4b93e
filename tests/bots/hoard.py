"""Answers quickly until many turns come at once; then it sits over each of them.

hoard.py GAMES_AT_ONCE SECONDS        SECONDS: what it takes over each of many turns
"""

from __future__ import annotations

import os
import sys
import time

from tests.bots.base import answer, greet, line, read, say

at_once, seconds = int(sys.argv[1]), float(sys.argv[2])
rest = b""
while data := os.read(0, 1 << 20):
    *lines, rest = (rest + data).split(b"\n")
    messages = [read(text) for text in lines]
    turns = [message for message in messages if message["type"] == "turn"]
    if any(message["type"] == "hello" for message in messages):
        greet(at_once)
    for turn in turns:
        time.sleep(seconds if len(turns) > at_once // 2 else 0)
        say(line(answer(turn)))
    if any(message["type"] == "bye" for message in messages):
        break
