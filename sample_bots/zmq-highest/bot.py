"""Plays the highest number that it holds, over ZeroMQ. Plays every variant. Needs pyzmq.

In a match or a tournament the referee starts it, since its bot.toml says `transport = "zmq"`. To
bring it to a referee that runs as a daemon, start it yourself and tell it where that is:

    REFEREE_ENDPOINT=tcp://127.0.0.1:7781 REFEREE_TOKEN=… python3 bot.py

Over a network it proves who it is by a key instead, the file REFEREE_KEY, and knows the referee by
REFEREE_SERVER_KEY. REFEREE_NAME is the name under which it is registered there.

One message is one JSON object. What is printed here goes to the bot's log.
"""

import json
import os
import re
import sys
import tomllib

import zmq

HELLO = {"type": "hello", "protocol": 1, "name": "zmq-highest", "games_at_once": 64}
SILENCE_MS = 30_000
"""After so long without a word, the referee may have been started anew: say hello again."""


def choose(legal):
    """The move to play, or None to resign."""
    return max(legal, key=size) if legal else None


def size(move):
    """The number in a move, and adding before the rest: 5 for 5, 5.5 for "+5", 5 for "*5"."""
    if type(move) is int:
        return move
    number = re.search(r"-?[0-9]+", str(move))
    return (int(number[0]) if number else 0) + 0.5 * str(move).startswith("+")


def connect(context):
    """A DEALER socket; with keys, where REFEREE_KEY names the file that they are in."""
    dealer = context.socket(zmq.DEALER)
    dealer.linger = 500
    if "REFEREE_KEY" in os.environ:
        with open(os.environ["REFEREE_KEY"], "rb") as file:
            keys = tomllib.load(file)
        dealer.curve_publickey = keys["public"].encode()
        dealer.curve_secretkey = keys["secret"].encode()
        dealer.curve_serverkey = os.environ["REFEREE_SERVER_KEY"].encode()
    dealer.connect(os.environ["REFEREE_ENDPOINT"])
    return dealer


def main():
    """Say hello first, then answer what comes, until the referee says bye."""
    hello = {**HELLO, "name": os.environ.get("REFEREE_NAME", HELLO["name"])}
    if "REFEREE_TOKEN" in os.environ:
        hello["token"] = os.environ["REFEREE_TOKEN"]
    with zmq.Context() as context, connect(context) as dealer:
        dealer.send(json.dumps(hello).encode())
        while True:
            if not dealer.poll(SILENCE_MS):
                dealer.send(json.dumps(hello).encode())
                continue
            message = json.loads(dealer.recv())
            kind = message["type"]
            if kind == "turn":
                move = choose(message["legal"])
                answer = {"type": "resign"} if move is None else {"move": move}
                dealer.send(json.dumps({"id": message["id"], **answer}).encode())
            elif kind == "ping":
                dealer.send(b'{"type":"pong"}')
            elif kind == "error":
                print(message["code"], message["detail"], file=sys.stderr, flush=True)
            elif kind == "bye":
                break


if __name__ == "__main__":
    main()
