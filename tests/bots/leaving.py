"""Leaves in its own way after the last game, and writes down how.

leaving.py "bye"|"end of input"|"neither" FILE
"""

from __future__ import annotations

import sys
import time

from tests.bots.base import answer, greet, line, listen, say

how = sys.argv[1]
for message in listen():
    if message["type"] == "hello":
        greet()
    elif message["type"] == "turn":
        say(line(answer(message)))
    elif message["type"] == "bye" and how == "bye":
        break
if how == "neither":
    time.sleep(600)
with open(sys.argv[2], "w") as diary:
    diary.write(f"left by {how}")
