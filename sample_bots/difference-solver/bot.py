"""Solves the variant difference, and plays the solution.

How it thinks. A round moves the lead in points by my number less theirs, so the numbers that are
left tell who leads, and a position is no more than both hands and the lead in rounds won. From the
last round backwards, every position is a matrix game: a row for each number of mine, a column for
each of theirs, and in each cell what the position after that round is worth. The simplex method
finds the mix of numbers that does best against the cleverest answer, and the bot draws its number
from that mix.

An opponent that is not clever leaves something to be won that such a mix would not take. So a
share of opponents is taken to play at random, and a share to have a habit, always the highest or
always the lowest number; after each round that a suspect played as foreseen, the share grows.

While the hands are too large to be solved, it keeps its highest number and plays any of the others
that it will need.
"""

import functools
import json
import os
import random
import time
from math import comb, factorial
from operator import mul

HELLO = {"type": "hello", "protocol": 1, "name": "difference-solver", "games_at_once": 64}
HABITS = (max, min)
RANDOM, HABIT = 0.2, 0.08  # the shares before the first round: at random, with each habit
WORK = 35_000  # what may be worked through, once: some 0.2 s; see `work`


class Game:
    """One game, from `start` to `over`."""

    def __init__(self, start):
        self.luck = random.Random(start["bot_seed"])
        self.last_counts = start["options"].get("last_round", "yes") == "yes"
        self.suspects = HABITS

    def choose(self, view, legal, events):
        """The number to play."""
        mine, theirs = view["mine"], view["theirs"]
        numbers, others = tuple(mine["numbers"]), tuple(theirs["numbers"])
        for event in events:
            hand = (event["theirs"], *others)
            self.suspects = still_suspect(self.suspects, hand, event["theirs"])
        played, left = view["round"] - 1, view["rounds"] - view["round"] + 1
        if work(len(numbers), left) > WORK:
            needed = numbers[-left:]
            return self.luck.choice(needed[:-1] or needed)
        lead = mine["rounds_won"] - theirs["rounds_won"]
        weights = mix(numbers, others, played, left, lead, self.suspects, self.last_counts)[1]
        return self.luck.choices(numbers, weights)[0]


@functools.lru_cache(maxsize=50_000)
def mix(mine, theirs, played, left, lead, suspects, last_counts):
    """What a position is worth, and how often to play each number.

    `played` and `left` count rounds, `lead` is the lead in rounds won.
    """

    def worth(a, b):
        """What a round of a against b leads to: 1 for a sure win, -1 for a sure loss."""
        won = sign(a - b)
        if left == 1:
            points = sum(theirs) - sum(mine) + a - b
            return sign(points) or sign(lead + won) or (won if last_counts else 0)
        suspected = still_suspect(suspects, theirs, b)
        rest, others = without(mine, a), without(theirs, b)
        return mix(rest, others, played + 1, left - 1, lead + won, suspected, last_counts)[0]

    matrix = [[worth(a, b) for b in theirs] for a in mine]
    return solve(blend(matrix, foresee(theirs, played, suspects)))


def work(numbers, left):
    """How much there is to work through: pairs of hands, by the time that each matrix takes."""
    return sum(comb(numbers, gone) ** 2 * (numbers - gone) ** 3 for gone in range(left))


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
