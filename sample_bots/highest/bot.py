"""Plays the highest number that it holds. Plays every variant.

It shows all its strength at once and is easy to foresee. Where a move is a number with a sign
(target), it adds. Where the moves hold no number, it takes the first in the list.
"""

import json
import os
import re
import time

HELLO = {"type": "hello", "protocol": 1, "name": "highest", "games_at_once": 64}


class Game:
    """One game, from `start` to `over`. This bot has nothing to remember."""

    def __init__(self, start):
        pass

    def choose(self, view, legal, events):
        """The move to play, or None to resign."""
        return max(legal, key=size) if legal else None


def size(move):
    """The number in a move, and adding before the rest: 5 for 5, 5.5 for "+5", 5 for "*5"."""
    if type(move) is int:
        return move
    number = re.search(r"-?[0-9]+", str(move))
    return (int(number[0]) if number else 0) + 0.5 * str(move).startswith("+")


def answer(game, turn):
    """The line that answers a turn."""
    move = game.choose(turn["view"], turn["legal"], turn["events"])
    if move is None:
        return f'{{"id":{turn["id"]},"type":"resign"}}\n'
    return f'{{"id":{turn["id"]},"move":{move if type(move) is int else json.dumps(move)}}}\n'


def main():
    """Talk to the referee, one JSON object a line, until it says bye or hangs up.

    What came in one read is answered in one write: with many games at once that saves time. But
    an answer that waits for others is on the clock, so none waits for longer than 10 ms.
    """
    games, rest, talking = {}, b"", True
    while talking and (chunk := os.read(0, 65536)):
        *lines, rest = (rest + chunk).split(b"\n")
        answers, since = [], time.monotonic()
        for line in lines:
            if answers and time.monotonic() - since > 0.01:
                os.write(1, "".join(answers).encode())
                answers, since = [], time.monotonic()
            message = json.loads(line.decode()) if line.strip() else {}
            kind = message.get("type")
            if kind == "turn":
                answers.append(answer(games[message["game"]], message))
            elif kind == "start":
                games[message["game"]] = Game(message)
            elif kind == "over":
                games.pop(message["game"], None)
            elif kind == "hello":
                answers.append(json.dumps(HELLO) + "\n")
            elif kind == "ping":
                answers.append('{"type":"pong"}\n')
            elif kind == "bye":
                talking = False
        os.write(1, "".join(answers).encode())


if __name__ == "__main__":
    main()
