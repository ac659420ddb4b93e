"""Notes with every answer its process id and how many turns came in one read; answers backwards.

notes.py GAMES_AT_ONCE [SECONDS]        SECONDS: how long it sleeps before it reads
"""

from __future__ import annotations

import os
import sys
import time

from tests.bots.base import Message, answer, greet, line, read, say

rest = b""
pause = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
while data := os.read(0, 1 << 20):
    time.sleep(pause)
    *lines, rest = (rest + data).split(b"\n")
    messages: list[Message] = [read(text) for text in lines]
    turns = [message for message in messages if message["type"] == "turn"]
    if any(message["type"] == "hello" for message in messages):
        greet(int(sys.argv[1]))
    note = f"{os.getpid()} {len(turns)}"
    say(b"".join(line(answer(turn, note=note)) for turn in reversed(turns)))
    if any(message["type"] == "bye" for message in messages):
        break
