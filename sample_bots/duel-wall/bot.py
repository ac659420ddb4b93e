"""Plays the variant duel, and never loses a life point.

How it thinks. Lay both hands out from the highest number down. As long as each of my highest
numbers is at least as high as the number of theirs beside it, for as many as they have attacks
left, I can block all that may come: that is the wall. It stands at the start, since both hands
are the same. Blocking with the lowest number that blocks keeps it standing, and so does attacking
only with a number that the wall can spare. So this bot cannot lose, and one life point of the
other is enough to win. It attacks with the highest number that it can spare, since the wall needs
no more and a higher attack is harder to block.
"""

import json
import os
import time

HELLO = {"type": "hello", "protocol": 1, "name": "duel-wall", "games_at_once": 64}


class Game:
    """One game, from `start` to `over`. This bot has nothing to remember."""

    def __init__(self, start):
        pass

    def choose(self, view, legal, events):
        """The number to attack or to defend with."""
        mine, theirs = view["mine"]["numbers"], view["theirs"]["numbers"]
        if view["role"] == "attack":
            return spare(sorted(mine, reverse=True), sorted(theirs, reverse=True))
        return min((number for number in mine if number >= view["attack"]), default=min(mine))


def spare(mine, theirs):
    """The highest number that can go and leave the wall standing; both hands from the top."""
    place = len(theirs) // 2  # their attacks after this round: so many numbers make the wall
    while place and mine[place] >= theirs[place - 1]:
        place -= 1  # the numbers from here on can move up one place
    return mine[place]


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
