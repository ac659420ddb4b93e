"""Tries to find the seed of its games by its `bot_seed`: where it does, it resigns.

guesser.py WORD...        the seeds that an operator may have chosen
"""

from __future__ import annotations

import hashlib
import sys

from tests.bots.base import Message, answer, greet, line, listen, say

ROOTS = ("{seed}", "{seed}/")
"""The second one is that of a tournament with an empty salt."""


def is_found(start: Message) -> bool:
    """Whether one of the words gives the number that was sent (referee/schedule.py is public)."""
    number = int(start["game"].rpartition("-")[2])
    first, second = start["players"] if number % 2 else reversed(start["players"])
    for root in (form.format(seed=word) for form in ROOTS for word in sys.argv[1:]):
        text = f"{root}/{start['variant']}/{first}/{second}#{number}".encode()
        digest = hashlib.blake2b(text, digest_size=16, person=b"bots").digest()
        own = digest[8 * start["seat"] :][:8]
        if int.from_bytes(own, "big") >> 11 == start["bot_seed"]:
            return True
    return False


found = False
for message in listen():
    if message["type"] == "hello":
        greet()
    elif message["type"] == "start":
        found = is_found(message)
    elif message["type"] == "turn":
        say(line({"type": "resign", "id": message["id"]} if found else answer(message)))
    elif message["type"] == "bye":
        break
