"""Plays the variant target: finds the quickest way to the target, and goes it.

How it thinks. Nothing that one player does touches the other, so the game is a race. The bot
looks one play further at a time, from its own score and numbers to every score and set of numbers
that it can reach, and takes the first way that it finds to the target: no way is shorter. Falling
back to half the target is a way like any other. Scores from which nothing leads to the target any
more are not followed: what they can end with is known, since adding the lowest numbers and then
multiplying by the others leads highest. Where no way to the target is found, the bot goes for the
highest end. So it wins whenever a win can be forced: whatever the other does, no play is quicker.

That is exact for up to nine numbers with any target, and for more where the target is near. Beyond
that the reachable scores are too many, and only the most promising of each step are kept: those
that could still get closest to the target by multiplying with all that is left.
"""

import functools
import json
import os
import time
from heapq import nlargest
from math import prod

HELLO = {"type": "hello", "protocol": 1, "name": "target-racer", "games_at_once": 64}
PLAYS = 750_000  # plays that a search may try: some 0.5 s of work, once for all games
KEPT = 50_000  # plays of each step that are tried when the search has to be cut down


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
    """The moves that lead to the target, or else to the highest score.

    A step is the scores that can be reached, by the set of numbers that is left: one bit for the
    place of each number.
    """
    steps, tried, best = [{(1 << len(numbers)) - 1: {score}}], 0, None
    while steps[-1]:
        for at, scores in steps[-1].items():
            left = chosen(at, numbers)
            for move, before in finishes(scores, left, target):
                return [*moves_to(before, at, steps, numbers, target), move]
            least = needed(left, target)
            hopeless = {score for score in scores if score < least}
            if hopeless:
                scores -= hopeless
                top = max(hopeless)
                best = max(best or (), (climb(top, left)[0], len(steps), at, top))
        plays = sum((2 * len(scores) + 4) * at.bit_count() for at, scores in steps[-1].items())
        if tried + plays > PLAYS:
            cut(steps[-1], KEPT // len(numbers) ** 2, numbers, target)
        tried += plays
        steps.append(one_further(steps[-1], numbers, target))
    _, depth, at, top = best
    way_up = climb(top, chosen(at, numbers))[1]
    return [*moves_to(top, at, steps[:depth], numbers, target), *way_up]


def chosen(at, numbers):
    """The numbers of a set, lowest first."""
    return [number for place, number in enumerate(numbers) if at >> place & 1]


def finishes(scores, left, target):
    """The plays that end on the target: the move, and the score before it."""
    for number in left:
        if target - number in scores:
            yield f"+{number}", target - number
        if target % number == 0 and target // number in scores:
            yield f"*{number}", target // number


def needed(left, target):
    """The lowest score that can still reach the target, or go beyond it."""
    added, factor = sum(left), 1
    least = target - added
    for number in reversed(left):
        if least <= 0:
            break
        added -= number
        factor *= number
        least = min(least, -(-target // factor) - added)
    return least


def climb(score, left):
    """The highest score at the end, where the target is out of reach, and the moves to it."""
    ends = [(score + sum(left[:k])) * prod(left[k:]) for k in range(len(left) + 1)]
    added = ends.index(max(ends))
    return max(ends), [f"{'+' if k < added else '*'}{number}" for k, number in enumerate(left)]


def one_further(step, numbers, target):
    """What can be reached with one play more."""
    longer = {}
    for at, scores in step.items():
        for place, number in enumerate(numbers):
            if at >> place & 1 and scores:
                reached = longer.setdefault(at & ~(1 << place), set())
                reached.update([score + number for score in scores])
                reached.update([score * number for score in scores])
    for at, reached in longer.items():
        if max(reached) > target:
            longer[at] = {score for score in reached if score <= target} | {target // 2}
    return longer


def moves_to(score, at, steps, numbers, target):
    """The moves that led to a score with these numbers left; the last one is found first."""
    moves = []
    for step in reversed(steps[:-1]):
        move, score, at = next(last_plays(score, at, step, numbers, target))
        moves.append(move)
    return moves[::-1]


def last_plays(score, at, step, numbers, target):
    """The plays that can have led to a score: the move, and the score and the numbers before."""
    for place, number in enumerate(numbers):
        for before in step.get(at | 1 << place, ()) if not at >> place & 1 else ():
            for sign, reached in (("+", before + number), ("*", before * number)):
                if score == (reached if reached <= target else target // 2):
                    yield f"{sign}{number}", before, at | 1 << place


def cut(step, kept, numbers, target):
    """Keep only the most promising scores of a step, five at least."""
    best = []
    for at, scores in step.items():
        factor = prod(chosen(at, numbers))
        best += [(min(score * factor, target), score, at) for score in scores]
    step.clear()
    for _, score, at in nlargest(max(5, kept), best):
        step.setdefault(at, set()).add(score)


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
