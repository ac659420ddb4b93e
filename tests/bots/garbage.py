"""Sends a line that is no message of the protocol: in game N the N-th of them.

garbage.py [NAME]        with a name, this one in all games
garbage.py NAME behind   in one write with the answer, behind it
"""

from __future__ import annotations

import sys

from tests.bots.base import Message, answer, line, say, serve

LINES = {
    "stray print": "thinking…".encode(),
    "NaN": b'{"id":ID,"move":NaN}',
    "too large a float": b'{"id":ID,"move":1e999}',
    "too large a float in a field that nobody knows": b'{"id":ID,"move":5,"eval":1e999}',
    "the same key twice": b'{"id":ID,"move":5,"move":6}',
    "true as id": b'{"id":true,"move":5}',
    "no id": b'{"move":5}',
    "move true": b'{"id":ID,"move":true}',
    "move null": b'{"id":ID,"move":null}',
    "move in a list": b'{"id":ID,"move":[5]}',
    "lone surrogate": rb'{"id":ID,"move":"\ud800"}',
    "5,000 digits": b'{"id":ID,"move":' + b"5" * 5_000 + b"}",
    "bare number": b"5",
    "bad UTF-8": b'{"id":ID,"move":"\xff"}',
    "60,000 brackets": b'{"id":ID,"move":' + b"[" * 60_000,
    "30,000 pairs of brackets": b'{"id":ID,"move":5,"x":' + b"[" * 30_000 + b"]" * 30_000 + b"}",
    "70,000 bytes": b'{"id":ID,"move":5,"note":"' + b"x" * 70_000 + b'"}',
}


def on_turn(turn: Message) -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else [*LINES][int(turn["game"]) - 1]
    garbage = LINES[name].replace(b"ID", str(turn["id"]).encode())
    lines = [garbage + b"\n", line(answer(turn))]
    say(b"".join(reversed(lines) if "behind" in sys.argv else lines))


if __name__ == "__main__":
    serve(on_turn)
