"""Plays the variant underdog with a mix of numbers that is hard to foresee.

How it thinks. A round is a matrix game: a row for each number of mine, a column for each of
theirs, and in each cell what the position after that round is worth. The simplex method finds the
mix of numbers that does best against the cleverest answer, and the bot draws its number from it.
Positions with few numbers left are worked out to the end. Larger ones are judged as if the rounds
to come were all alike: each side prefers the numbers that beat more of the other's hand, and what
follows from that for one round is carried on until somebody has the points.

An opponent that is not clever leaves something to be won that such a mix would not take. So a
share of opponents is taken to play at random, and a share to have a habit, always the highest or
always the lowest number; after each round that a suspect played as foreseen, the share grows.
"""

import functools
import json
import os
import random
import time
from math import exp, factorial
from operator import mul
from typing import NamedTuple

HELLO = {"type": "hello", "protocol": 1, "name": "underdog-mixer", "games_at_once": 64}
HABITS = (max, min)
RANDOM, HABIT = 0.1, 0.05  # the shares, before the first round: at random, with each habit
EXACT = 3  # numbers left at which positions are worked out to the end
MANY = 10  # numbers left above which there is no time for a matrix


class Rules(NamedTuple):
    """What the options say."""

    size: int
    points: int
    wrap: bool
    rest_counts: bool  # the numbers run out: more points win


class Position(NamedTuple):
    """Both hands, sorted, and the points."""

    mine: tuple
    theirs: tuple
    need: int  # points that I still need
    feared: int  # points that they still need


class Game:
    """One game, from `start` to `over`."""

    def __init__(self, start):
        options = start["options"]
        self.luck = random.Random(start["bot_seed"])
        self.suspects = HABITS
        self.rules = Rules(
            size=options.get("size", 10),
            points=options.get("points", 3),
            wrap=options.get("wrap") == "yes",
            rest_counts=options.get("exhausted") != "draw",
        )

    def choose(self, view, legal, events):
        """The number to play."""
        mine, theirs = view["mine"], view["theirs"]
        numbers, others = tuple(mine["numbers"]), tuple(theirs["numbers"])
        for event in events:
            if "theirs" not in event:
                continue  # of a kind that a later referee may send
            hand = (event["theirs"], *others)
            self.suspects = still_suspect(self.suspects, hand, event["theirs"])
        if len(numbers) > MANY:
            return self.luck.choices(numbers, preference(numbers, others, self.rules))[0]
        points = self.rules.points
        at = Position(numbers, others, points - mine["points"], points - theirs["points"])
        return self.luck.choices(numbers, mix(at, self.suspects, self.rules)[1])[0]


@functools.lru_cache(maxsize=20_000)
def mix(at, suspects, rules):
    """What a position is worth, and how often to play each number."""
    matrix = [[worth(at, a, b, suspects, rules) for b in at.theirs] for a in at.mine]
    played = rules.size - len(at.theirs)
    return solve(blend(matrix, foresee(at.theirs, played, suspects)))


def worth(at, a, b, suspects, rules):
    """What a round of a against b leads to: 1 for a sure win, -1 for a sure loss."""
    won = results(rules)[a][b]
    need, feared = at.need - (won > 0), at.feared - (won < 0)
    if need == 0 or feared == 0:
        return won
    mine, theirs = without(at.mine, a), without(at.theirs, b)
    if not mine:
        return sign(feared - need) if rules.rest_counts else 0
    after = Position(mine, theirs, need, feared)
    if len(mine) <= EXACT:
        return mix(after, still_suspect(suspects, at.theirs, b), rules)[0]
    return estimate(after, rules)


@functools.lru_cache(maxsize=100)
def results(rules):
    """results[a][b] is 1 where a wins a round against b, -1 where it loses, else 0."""
    numbers = range(rules.size + 1)
    upsets = (1, rules.size - 1) if rules.wrap else (1,)
    return [[sign(b - a if abs(a - b) in upsets else a - b) for b in numbers] for a in numbers]


def estimate(at, rules):
    """What a position is worth if all its rounds were like one between simple preferences."""
    mine, theirs = preference(at.mine, at.theirs, rules), preference(at.theirs, at.mine, rules)
    chances = [0.0, 0.0, 0.0]  # chances[1] to win, chances[-1] to lose
    for a, liked in zip(at.mine, mine, strict=True):
        row = results(rules)[a]
        for b, likely in zip(at.theirs, theirs, strict=True):
            chances[row[b]] += liked * likely
    total = sum(chances)
    # Rounded, so that one race serves many positions.
    won, lost = round(chances[1] / total, 2), round(chances[-1] / total, 2)
    return race(at.need, at.feared, len(at.mine), won, lost, rules.rest_counts)


def preference(mine, theirs, rules):
    """How much each number is liked: the more of theirs it beats, the more."""
    table = results(rules)
    return [exp(sum([table[a][b] for b in theirs]) / len(theirs)) for a in mine]


@functools.lru_cache(maxsize=50_000)
def race(need, feared, rounds, won, lost, rest_counts):
    """What it is worth to play `rounds` rounds, each won and lost with these chances."""
    if need == 0 or feared == 0:
        return 1 if need == 0 else -1
    if rounds == 0:
        return sign(feared - need) if rest_counts else 0
    return (
        won * race(need - 1, feared, rounds - 1, won, lost, rest_counts)
        + lost * race(need, feared - 1, rounds - 1, won, lost, rest_counts)
        + (1 - won - lost) * race(need, feared, rounds - 1, won, lost, rest_counts)
    )


def still_suspect(suspects, hand, number):
    """The habits that a number played from this hand bears out."""
    return tuple(habit for habit in suspects if habit(hand) == number)


def foresee(theirs, played, suspects):
    """How likely each of their numbers is next, as far as it can be foreseen.

    The chances add up to less than 1: what is missing belongs to opponents that think.
    """
    mixed = factorial(len(theirs)) / factorial(len(theirs) + played)  # a random play got here
    total = (1 - HABIT * len(HABITS)) * mixed + HABIT * len(suspects)
    foreseen = [RANDOM * mixed / total / len(theirs)] * len(theirs)
    for habit in suspects:
        foreseen[theirs.index(habit(theirs))] += HABIT / total
    return foreseen


def blend(matrix, foreseen):
    """The matrix against an opponent that thinks only where its play is not foreseen."""
    free = 1 - sum(foreseen)
    known = [sum(map(mul, row, foreseen)) for row in matrix]
    return [[free * cell + sure for cell in row] for row, sure in zip(matrix, known, strict=True)]


def solve(matrix):
    """What a matrix game is worth to the side of the rows, and how often to play each row.

    The simplex method on a condensed tableau: rows for my plays, columns for theirs, the bottom
    for what is still to gain. Cells are -1 or more; adding 2 makes them positive, as it needs.
    """
    table = [[cell + 2 for cell in row] + [1.0] for row in matrix]
    table.append([-1.0] * len(matrix[0]) + [0.0])
    rows, columns = list(range(len(matrix))), [None] * len(matrix[0])
    for _ in range(20 * len(matrix)):
        least = min(table[-1][:-1])
        if least > -1e-9:
            break
        c = table[-1].index(least)
        r = min(
            (k for k in range(len(rows)) if table[k][c] > 1e-9),
            key=lambda k, c=c: table[k][-1] / table[k][c],
        )
        pivot = table[r][c]
        chosen = [cell / pivot for cell in table[r]]
        for k, line in enumerate(table):
            if k != r and (factor := line[c]):
                table[k] = [cell - factor * part for cell, part in zip(line, chosen, strict=True)]
                table[k][c] = -factor / pivot
        chosen[c] = 1 / pivot
        table[r] = chosen
        rows[r], columns[c] = columns[c], rows[r]
    total = table[-1][-1]
    weights = [0.0] * len(rows)
    for c, row in enumerate(columns):
        if row is not None:
            weights[row] = max(0.0, table[-1][c] / total)
    return 1 / total - 2, weights


def without(numbers, number):
    at = numbers.index(number)
    return numbers[:at] + numbers[at + 1 :]


def sign(number):
    return (number > 0) - (number < 0)


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
