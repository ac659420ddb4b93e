"""Solves the variant difference, and plays the solution.

How it thinks. A round moves the lead in points by exactly my number less theirs, so the numbers
that are left tell who leads, and a position is no more than both hands and the lead in rounds.
From the last round backwards, every position is a small matrix game: a row for each number of
mine, a column for each of theirs, and in each cell what the position after that round is worth.
The simplex method finds the mix of numbers that does best against the cleverest answer, and the
bot draws its number from that mix.

An opponent that is not clever leaves something to be won, which the mix alone would not take. So
a share of the opponent's choices is taken to follow its habit: the share grows as long as its
numbers in this game keep to the same end of its hand (see `habit`).

Hands that are too large to solve are played at random, until they are small enough.
"""

import functools
import json
import os
import random
from math import comb

HELLO = {"type": "hello", "protocol": 1, "name": "difference-solver", "games_at_once": 64}
POSITIONS = 1000  # pairs of hands that a search may meet: some 0.3 s of work, once


class Game:
    """One game, from `start` to `over`."""

    def __init__(self, start):
        self.luck = random.Random(start["bot_seed"])
        self.last_counts = start["options"].get("last_round", "yes") == "yes"

    def choose(self, view, legal, events):
        """The number to play."""
        mine, theirs = view["mine"], view["theirs"]
        numbers, rounds = tuple(mine["numbers"]), view["rounds"] - view["round"] + 1
        if sum(comb(len(numbers), t) ** 2 for t in range(rounds)) > POSITIONS:
            best = numbers[-rounds:]
            return self.luck.choice(best[:-1] or best)
        lead = mine["rounds_won"] - theirs["rounds_won"]
        weights = solved(numbers, tuple(theirs["numbers"]), rounds, lead, self.last_counts)[1]
        return self.luck.choices(numbers, weights)[0]


@functools.lru_cache(maxsize=100_000)
def solved(mine, theirs, rounds, lead, last_counts):
    m=[[worth(mine, theirs, a, b, rounds, lead, last_counts) for b in theirs] for a in mine]
    return solve(m)


def worth(mine, theirs, a, b, rounds, lead, last_counts):
    """What a round of a against b leads to: 1 for a sure win, -1 for a sure loss."""
    won = (a > b) - (a < b)
    lead += won
    if rounds > 1:
        rest, other = without(mine, a), without(theirs, b)
        return solved(rest, other, rounds - 1, lead, last_counts)[0]
    points = sum(theirs) - sum(mine) + a - b
    return sign(points) or sign(lead) or (won if last_counts else 0)

def without(t,a):
    i=t.index(a)
    return t[:i]+t[i+1:]
def sign(x):
    return (x>0)-(x<0)

def solve(matrix):
    """Best play of the row side of a zero-sum matrix game: (its worth, a weight for each row).

    The simplex method on a condensed tableau. Payoffs are at least -1, so adding 2 makes them
    positive, as the method needs.
    """
    width = len(matrix[0])
    table = [[payoff + 2 for payoff in row] + [1.0] for row in matrix]
    table.append([-1.0] * width + [0.0])
    rows, columns = list(range(len(matrix))), [None] * width
    for _ in range(20 * width):
        bottom = table[-1]
        low = min(bottom[:-1])
        if low > -1e-9:
            break
        c = bottom.index(low)
        r = min(
            (k for k in range(len(matrix)) if table[k][c] > 1e-9),
            key=lambda k: table[k][-1] / table[k][c],
        )
        pivot = table[r][c]
        chosen = [cell / pivot for cell in table[r]]
        for k, line in enumerate(table):
            if k != r and (factor := line[c]):
                table[k] = [cell - factor * unit for cell, unit in zip(line, chosen)]
                table[k][c] = -factor / pivot
        chosen[c] = 1 / pivot
        table[r] = chosen
        rows[r], columns[c] = columns[c], rows[r]
    total = table[-1][-1]
    weights = [0.0] * len(matrix)
    for c, row in enumerate(columns):
        if row is not None:
            weights[row] = table[-1][c] / total
    return 1 / total - 2, weights


def answer(game, turn):
    """The line that answers a turn."""
    move = game.choose(turn["view"], turn["legal"], turn["events"])
    if move is None:
        return f'{{"id":{turn["id"]},"type":"resign"}}\n'
    return f'{{"id":{turn["id"]},"move":{move if type(move) is int else json.dumps(move)}}}\n'


def main():
    """Talk to the referee, one JSON object a line, until it says bye or hangs up.

    What came in one read is answered in one write: with many games at once that saves time.
    """
    games, rest, talking = {}, b"", True
    while talking and (chunk := os.read(0, 65536)):
        *lines, rest = (rest + chunk).split(b"\n")
        answers = []
        for line in lines:
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
