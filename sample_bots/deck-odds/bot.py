"""Plays the variant deck by the odds of the cards that it cannot see: a Monte-Carlo bot.

How it thinks. A card that was not played yet and is not in its own hand is with the opponent or in
the pile. The bot shuffles these cards many times. Each time it deals the opponent a hand, lays the
rest out as the pile, and plays the game to its end once for each card that it could play now, with
the same hidden cards for all of them, so that luck spoils the comparison less. In these games both
sides play their highest card, which costs little time and comes close to good play. The card that
ends best on average is the one to play.

High cards are good twice, when they are played and when they are answered, so the highest is often
best, and luck decides most games. The bot differs where a lower card is enough, and at the first
card of the game, which meets nothing.
"""

import json
import os
import random
import time
from collections import Counter

HELLO = {"type": "hello", "protocol": 1, "name": "deck-odds", "games_at_once": 64}
PLAYS = 1_500  # plays that are tried out for one card: some 3 ms of work
LONGEST = 30  # plays after which a game that is tried out is judged by the HP


class Game:
    """One game, from `start` to `over`."""

    def __init__(self, start):
        options = start["options"]
        self.luck = random.Random(start["bot_seed"])
        self.size = options.get("size", 9)
        self.copies = options.get("copies", 4)
        self.both_down = 0 if options.get("double_knockout") == "draw" else 1

    def choose(self, view, legal, events):
        """The card to play."""
        mine, theirs, hand = view["mine"], view["theirs"], view["mine"]["hand"]
        choices = []
        for card in sorted(set(hand), reverse=True):
            own, other = clash(card, theirs["last"], mine["hp"], theirs["hp"])
            if other <= 0 < own:
                return card
            choices.append((card, own, other, without(hand, card)))
        if len(choices) == 1:
            return choices[0][0]
        worths, tried = [0.0] * len(choices), 0
        unseen, held = self.unseen(view), theirs["cards"]
        while tried < PLAYS:
            self.luck.shuffle(unseen)
            for k, (card, own, other, rest) in enumerate(choices):
                worth, plays = self.play_out(own, other, card, rest, unseen[:held], unseen[held:])
                worths[k] += worth
                tried += plays
        return choices[worths.index(max(worths))][0]

    def unseen(self, view):
        """The cards that the opponent or the pile holds."""
        mine, theirs = view["mine"], view["theirs"]
        seen = Counter((*mine["hand"], *view["discard"], mine["last"], theirs["last"]))
        cards = range(1, self.size + 1)
        return [card for card in cards for _ in range(self.copies - seen[card])]

    def play_out(self, own, other, last, rest, theirs, pile):
        """What comes of a card that was just played, and after how many plays.

        The card is `last`, `rest` is what its player still holds. The worth is 1 for a game that
        its player wins, -1 for one that is lost.
        """
        worth, mine = 1, list(rest)
        for play in range(1, LONGEST):
            if own <= 0 or other <= 0:
                if own <= 0 and other <= 0:
                    return worth * self.both_down, play
                return (worth if own > 0 else -worth), play
            if pile:
                mine.append(pile.pop())
            own, other, mine, theirs, worth = other, own, theirs, mine, -worth
            if not mine:
                break
            card = max(mine)
            mine.remove(card)
            if card > last:
                other -= card - last
            elif card < last:
                own -= last - card
            else:
                own, other = own - 1, other - 1
            last = card
        return worth * (own - other) / (abs(own) + abs(other) + 1), play


def clash(card, last, own, other):
    """The HP of who plays a card and of the other, whose last card it meets."""
    if last is None:
        return own, other
    if card == last:
        return own - 1, other - 1
    return (own, other - card + last) if card > last else (own - last + card, other)


def without(hand, card):
    at = hand.index(card)
    return hand[:at] + hand[at + 1 :]


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
