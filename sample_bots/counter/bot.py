"""Learns what an opponent tends to play, and plays what does best against that. Every variant.

How it thinks. For each opponent, by name, it counts what was played in which situation: in which
round (difference, underdog), in answer to which attack (duel) or card (deck), as which play of its
own (target). Before each move it weighs the possible replies by these counts and scores every legal
move by what it gains on average, less the worth of the number that it spends. In target, where
there is nothing to counter, it copies what the opponent did and takes the target when it can. In a
variant that it does not know it plays at random.

It remembers across the games of one process. So, unlike the other sample bots, it is not stateless:
its answers depend on the games before, and a game of it cannot be reproduced alone. It takes one
game at a time, so that every game knows all games before it; with many at once, how much it has
learnt would be a matter of how many games a referee likes to play side by side.
"""

import json
import os
import random
import time
from collections import Counter, defaultdict

HELLO = {"type": "hello", "protocol": 1, "name": "counter"}
TRUST = 3  # how much one observation weighs against not knowing
SEEN = defaultdict(Counter)  # (opponent, variant) -> how often (situation, reply) was seen


class Game:
    """One game, from `start` to `over`."""

    def __init__(self, start):
        self.luck = random.Random(start["bot_seed"])
        self.size = start["options"].get("size", 10)
        self.score = SCORES.get(start["variant"])
        self.seen = SEEN[start["players"][1 - start["seat"]], start["variant"]]
        self.plays = 0  # of the opponent, where the players move in turn
        self.faced = None  # my card that the opponent's next one will answer

    def choose(self, view, legal, events):
        """The move that promises the most, or None to resign where the moves are not listed."""
        for event in events:
            self.learn(event)
        if not legal:
            return None
        if self.score is None:
            return self.luck.choice(legal)
        return max(legal, key=lambda move: (self.score(self, view, move), self.luck.random()))

    def learn(self, event):
        """Count what the opponent did, if the event tells."""
        if "by" in event:
            if event["by"] == "mine":
                self.faced = event.get("card")
            else:
                situation = self.faced if "card" in event else self.plays
                self.seen[situation, event.get("card", event.get("move"))] += 1
                self.plays += 1
        elif event.get("role") == "attack":
            self.seen[event["mine"], event["theirs"]] += 1
        elif "result" in event:
            self.seen[event["round"], event["theirs"]] += 1

    def expect(self, situation, replies, gain):
        """The mean gain over the replies, in which those seen before weigh more."""
        total = weights = 0
        for reply in replies:
            weight = 1 + TRUST * self.seen[situation, reply]
            weights += weight
            total += weight * gain(reply)
        return total / weights


def difference(game, view, move):
    """To win the round with as low a number as possible."""
    gained = game.expect(
        view["round"], view["theirs"]["numbers"], lambda reply: (move > reply) - (move < reply)
    )
    return gained - 2.4 * move / game.size


def underdog(game, view, move):
    """To win the round; a number exactly one below the other wins."""

    def gain(reply):
        ahead = (move > reply) - (move < reply)
        return -ahead if abs(move - reply) == 1 else ahead

    spent = 0.5 * move / game.size
    return game.expect(view["round"], view["theirs"]["numbers"], gain) - spent


def duel(game, view, move):
    """To lose no life, or to take as much as possible, and to spend little."""
    if view["role"] == "defend":
        return -move - game.size * max(0, view["attack"] - move)
    replies = set(view["theirs"]["numbers"])
    return game.expect(move, replies, lambda reply: max(0, move - reply)) - move / 2


def target(game, view, move):
    """To reach the target, or else to do what the opponent did, but not to go beyond."""
    sign, number, score = move[0], int(move[1:]), view["mine"]["score"]
    reached = score + number if sign == "+" else score * number
    if reached == view["target"]:
        return float("inf")
    played = game.size - len(view["mine"]["numbers"])
    return game.seen[played, move] - 0.5 * (reached > view["target"])


def deck(game, view, move):
    """The lead in HP that the card wins now, and that the answer to it will cost."""
    last, cards = view["theirs"]["last"], range(1, game.size + 1)
    return (move - last if last else 0) + game.expect(move, cards, lambda reply: move - reply)


SCORES = {
    "difference": difference,
    "underdog": underdog,
    "duel": duel,
    "target": target,
    "deck": deck,
}


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
