"""Plays the lowest or the highest legal move, notes a secret, and writes one to stderr.

bot.py SECRET low|high
"""

from __future__ import annotations

import json
import sys

secret, way = sys.argv[1:]
for text in sys.stdin:
    message = json.loads(text)
    if message["type"] == "hello":
        print(f"stderr of {secret}", file=sys.stderr, flush=True)
        print(json.dumps({"type": "hello", "name": "a bot"}), flush=True)
    elif message["type"] == "turn":
        move = message["legal"][0 if way == "low" else -1]
        answer = {"id": message["id"], "move": move, "note": f"note of {secret}"}
        print(json.dumps(answer), flush=True)
    elif message["type"] == "bye":
        break
