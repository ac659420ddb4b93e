"""Tells on stderr which process it is, and which games that process plays.

lasting.py HABIT

HABIT   plain: nothing else
        learner: its moves depend on how many games its process has played, and take half a
        millisecond each
        illegal: an illegal move in its fourth game
        stray: after its fourth game it gives its last answer once more
        resigns: an illegal move in its third game, and it resigns the fourth
        deaf: it answers no ping
        half: after its answer to a ping it begins another line
        burner: half a second of CPU time in each game
        grower: 4 MB more in each game
        opener: two more open files in each game
        starter: two more threads in each game
        parent: it has a child with 30 MB
        says: its hello says that it is stateless
        talker: it tells on stderr that it was pinged
"""

from __future__ import annotations

import _thread
import os
import sys
import time

from tests.bots.base import answer, greet, line, listen, say

habit = sys.argv[1]
games = 0
last = b""
grown: list[object] = []
_thread.stack_size(65536)
if habit == "parent":
    up, child_up = os.pipe()
    if not os.fork():
        grown.append(os.urandom(30_000_000))
        os.write(child_up, b"up")
        time.sleep(600)
    os.read(up, 2)
say(f"process {os.getpid()}\n".encode(), 2)
for message in listen():
    if message["type"] == "hello":
        if habit == "says":
            say(b'{"type": "hello", "name": "lasting", "stateless": true}\n')
        else:
            greet()
    elif message["type"] == "start":
        games += 1
        say(f"{os.getpid()} plays {message['game']} seat {message['seat']}\n".encode(), 2)
        if habit == "grower":
            grown.append(os.urandom(4_000_000))
        for _ in range(2 * (habit == "opener")):
            grown.append(os.dup(0))
        for _ in range(2 * (habit == "starter")):
            _thread.start_new_thread(time.sleep, (600,))
        until = time.process_time() + 0.5 * (habit == "burner")
        while time.process_time() < until:
            pass
    elif message["type"] == "turn":
        legal = message["legal"]
        move = legal[games % len(legal)] if habit == "learner" else legal[0]
        if habit == "learner":
            time.sleep(0.0005)
        if (habit, games) in (("illegal", 4), ("resigns", 3)):
            move = 99
        if (habit, games) == ("resigns", 4):
            say(line({"type": "resign", "id": message["id"]}))
        else:
            last = line(answer(message, move=move))
            say(last)
    elif message["type"] == "over" and habit == "stray" and games == 4:
        say(last)
    elif message["type"] == "ping" and habit != "deaf":
        if habit == "talker":
            say(b"pinged\n", 2)
        say(b'{"type": "pong"}\n' + b'{"type' * (habit == "half"))
    elif message["type"] == "bye":
        say(f"{os.getpid()} leaves\n".encode(), 2)
        break
