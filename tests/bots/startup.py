"""Does not come up as it should.

exits       with 1 before its hello
silent      no hello
garbage     something else instead of a hello
half        half a hello, then exits with 2
protocol 2  speaks another protocol
hello, move, then an answer that nobody asked for, in one write with the hello
some FILE N as exits, the first N times (counted in FILE); then it plays
"""

from __future__ import annotations

import os
import sys
import time

from tests.bots.base import Message, answer, greet, line, listen, say, serve

how = sys.argv[1]


def on_turn(turn: Message) -> None:
    say(line(answer(turn)))


if how == "exits":
    sys.exit(1)
elif how == "silent":
    time.sleep(600)
elif how == "garbage":
    say(b"Welcome to MyBot 2.0!\n")
    greet()
    time.sleep(600)
elif how == "half":
    say(b'{"type":"hel')
    sys.exit(2)
elif how == "protocol 2":
    say(line({"type": "hello", "protocol": 2}))
    time.sleep(600)
elif how == "hello, move":
    next(listen())
    say(line({"type": "hello"}) + line({"id": 1, "move": 1}))
    serve(on_turn)
elif how == "some":
    with open(sys.argv[2], "a") as starts:
        starts.write(".")
    if os.stat(sys.argv[2]).st_size <= int(sys.argv[3]):  # noqa: PTH116  # pathlib slows the start
        sys.exit(1)
    serve(on_turn)
