"""Burns the core on its turn, and answers far too late.

spinning.py threads|processes SECONDS
"""

from __future__ import annotations

import os
import sys
import threading
import time

from tests.bots.base import Message, answer, line, say, serve


def spin() -> None:
    enough = time.monotonic() + float(sys.argv[2])
    while time.monotonic() < enough:
        pass


def on_turn(turn: Message) -> None:
    if sys.argv[1] == "threads":
        for _ in range(3):
            threading.Thread(target=spin, daemon=True).start()
    else:
        for _ in range(3):
            if os.fork() == 0:
                spin()
                os._exit(0)
    spin()
    say(line(answer(turn)))


serve(on_turn)
