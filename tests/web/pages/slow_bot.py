"""Plays any legal move and takes its time: people can watch.

slow_bot.py SECONDS
"""

from __future__ import annotations

import json
import random
import sys
import time

seconds = float(sys.argv[1])
chance = random.Random(1)
for text in sys.stdin:
    message = json.loads(text)
    if message["type"] == "hello":
        print(json.dumps({"type": "hello", "name": "slow"}), flush=True)
    elif message["type"] == "ping":
        print(json.dumps({"type": "pong"}), flush=True)
    elif message["type"] == "turn":
        time.sleep(seconds)
        print(
            json.dumps({"id": message["id"], "move": chance.choice(message["legal"])}), flush=True
        )
    elif message["type"] == "bye":
        break
