"""How a bot talks to the referee. There is no need to change this file.

`answer` knows the messages and not where they come from, `play` the pipes.
"""

import json
import os
import random
import sys
import time

# --- protocol ---
HELLO = '{"type":"hello","protocol":1,"games_at_once":64}\n'
PONG = '{"type":"pong"}\n'
BYE = None

PATIENCE_S = 0.01
"""An answer that waits for others is on the clock, so none waits for longer than this."""

NOTE_LIMIT = 200
"""Bytes; the referee keeps no more of a note."""
_note = ""
_seeds = {}
"""Of the games that go on, by name."""


def note(text):
    """Send a word to the record with the next move; of several the last counts."""
    global _note
    # Half a character (a lone surrogate) is no text: the referee would end the bot for it.
    _note = str(text).encode(errors="replace")[:NOTE_LIMIT].decode(errors="ignore")


def take_note():
    """The note as the last field of an answer, and of no other; "" where there is none."""
    global _note
    text, _note = _note, ""
    return f',"note":{json.dumps(text)}' if text else ""


def draw_from_seed(game):
    """Seed `random` from the game's bot_seed and the count of its turns, and from nothing else."""
    _seeds[game] = _seeds.get(game, 0) + 1
    random.seed(_seeds[game])


def answer(line, choose):
    """The answer to one line of the referee: a line, "" where none is due, BYE at the end."""
    message = json.loads(line) if line.strip() else {}
    kind = message.get("type")
    if kind == "turn":
        draw_from_seed(message["game"])
        move = choose(message.get("view"), message.get("legal"))
        noted = take_note()
        if move is None:
            return f'{{"id":{message["id"]},"type":"resign"}}\n'
        return f'{{"id":{message["id"]},"move":{json.dumps(move)}{noted}}}\n'
    if kind == "start":
        _seeds[message["game"]] = message["bot_seed"]
    if kind == "over":
        _seeds.pop(message["game"], None)
    if kind == "hello":
        return HELLO
    if kind == "ping":
        return PONG
    if kind == "bye":
        return BYE
    return ""  # to start, over, error, and whatever a later referee may say


def play(choose):
    """Talk to the referee over stdin and stdout until it says bye or hangs up.

    What came in one read is answered in one write: with many games at once that saves time.
    """
    out, sys.stdout = sys.stdout.buffer, sys.stderr  # a stray print on stdout loses the game
    rest, talking = b"", True
    while talking and (chunk := os.read(0, 65536)):
        *lines, rest = (rest + chunk).split(b"\n")
        answers, since = [], time.monotonic()
        for line in lines:
            said = answer(line.decode(), choose)
            if said is BYE:
                talking = False
                break
            answers.append(said)
            if time.monotonic() - since > PATIENCE_S:
                send(out, answers)
                answers, since = [], time.monotonic()
        send(out, answers)


def send(out, answers):
    """Write the answers, and see to it that the pipe does not keep them back."""
    out.write("".join(answers).encode())
    out.flush()


# --- end of protocol ---
