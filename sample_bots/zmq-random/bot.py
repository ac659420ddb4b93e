"""Plays any legal move, over ZeroMQ and in MessagePack. Plays every variant. Needs pyzmq, msgpack.

In a match or a tournament the referee starts it, since its bot.toml says `transport = "zmq"`. To
bring it to a referee that runs as a daemon, start it yourself and tell it where that is:

    REFEREE_ENDPOINT=tcp://127.0.0.1:7781 REFEREE_TOKEN=… python3 bot.py

Over a network it proves who it is by a key instead, the file REFEREE_KEY, and knows the referee by
REFEREE_SERVER_KEY. REFEREE_NAME is the name under which it is registered there.

One message is one map of MessagePack; the referee answers in the encoding of the bot's hello. What
is printed here goes to the bot's log.
"""

import os
import random
import sys
import tomllib

import msgpack
import zmq

HELLO = {"type": "hello", "protocol": 1, "name": "zmq-random", "games_at_once": 64}
SILENCE_MS = 30_000
"""After so long without a word, the referee may have been started anew: say hello again."""


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
    luck = {}
    with zmq.Context() as context, connect(context) as dealer:
        dealer.send(msgpack.packb(hello))
        while True:
            if not dealer.poll(SILENCE_MS):
                dealer.send(msgpack.packb(hello))
                continue
            message = msgpack.unpackb(dealer.recv())
            kind = message["type"]
            if kind == "turn":
                legal = message["legal"]
                move = luck[message["game"]].choice(legal) if legal else None
                answer = {"type": "resign"} if move is None else {"move": move}
                dealer.send(msgpack.packb({"id": message["id"], **answer}))
            elif kind == "start":
                luck[message["game"]] = random.Random(message["bot_seed"])
            elif kind == "over":
                luck.pop(message["game"], None)
            elif kind == "ping":
                dealer.send(msgpack.packb({"type": "pong"}))
            elif kind == "error":
                print(message["code"], message["detail"], file=sys.stderr, flush=True)
            elif kind == "bye":
                break


if __name__ == "__main__":
    main()
