"""Plays any legal move, each as likely as the others. Plays every variant.

The yardstick: a bot that does not beat this one has not understood its game.

To write a bot of your own, copy this folder, change the name here and in bot.toml, and rewrite
`Game.choose`. Print for yourself to stderr; stdout belongs to the referee.
"""

import json
import os
import random
import time

HELLO = {"type": "hello", "protocol": 1, "name": "random", "games_at_once": 64}


class Game:
    """One game, from `start` to `over`."""

    def __init__(self, start):
        self.luck = random.Random(start["bot_seed"])

    def choose(self, view, legal, events):
        """The move to play, or None to resign.

        `view` is all that this seat may know, `legal` lists the legal moves (None where the
        variant has too many), `events` tells what happened since this seat's last turn.
        """
        return self.luck.choice(legal) if legal else None


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
