"""Plays the variant target: finds the quickest way to the target, and goes it.

How it thinks. Nothing that one player does touches the other, so the game is a race. The bot
looks one play further at a time, from its own score and numbers to every score and set of numbers
that it can reach, and takes the first way that it finds to the target: no way is shorter. Where
none is found it goes for the highest score at the end. Falling back to half the target is a way
like any other.

With many numbers the reachable scores are too many, and only the most promising of each step are
kept: those that could still get closest to the target by multiplying with all that is left.
"""

import functools
import json
import os
import time

HELLO = {"type": "hello", "protocol": 1, "name": "target-racer", "games_at_once": 64}
PLAYS = 50_000  # plays that a search may try: some 0.1 s of work


class Game:
    """One game, from `start` to `over`."""

    def __init__(self, start):
        self.moves = []

    def choose(self, view, legal, events):
        """The next move of the way, which is searched for once."""
        if not self.moves:
            mine = view["mine"]
            self.moves = list(way(view["target"], mine["score"], tuple(mine["numbers"])))
        return self.moves.pop(0)


@functools.lru_cache(maxsize=1000)
def way(target, score, numbers):
    """The moves that lead to the target, or else to the highest score."""
    kept = max(5, PLAYS // len(numbers) ** 2)
    ways = {(score, numbers): ()}
    for _ in numbers:
        longer = {}
        for (score, left), moves in ways.items():
            for place, number in enumerate(left):
                rest = left[:place] + left[place + 1 :]
                for sign, reached in (("+", score + number), ("*", score * number)):
                    if reached == target:
                        return (*moves, f"{sign}{number}")
                    after = (reached if reached < target else target // 2, rest)
                    if after not in longer:
                        longer[after] = (*moves, f"{sign}{number}")
        ways = longer
        if len(ways) > kept:
            best = sorted(ways, key=lambda at: (promise(*at, target), at[0]), reverse=True)
            ways = {at: ways[at] for at in best[:kept]}
    return ways[max(ways)]


def promise(score, numbers, target):
    """How far multiplying alone could still go, up to the target."""
    for number in reversed(numbers):
        score *= number
        if score >= target:
            return target
    return score


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
