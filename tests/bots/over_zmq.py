"""Speaks ZeroMQ, and does one thing wrong.

At the start: exits, absent, silent, no token, wrong token, protocol 2, request (another type of
socket), not zmq, hello twice. On its turn: status, signal, closes, stall, garbled, parts, large,
other encoding, flood, garbage (without end). Nothing wrong: honest, prints, heartbeats,
packed, hello again (on every turn).
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from typing import Any

import zmq
from msgspec import msgpack

how = sys.argv[1]
packed = how == "packed" or "packed" in sys.argv
hello = {"type": "hello", "name": "z", "token": os.environ.get("REFEREE_TOKEN", "")}
context = zmq.Context()


def encoded(message: dict[str, Any]) -> bytes:
    return (msgpack.encode(message)) if packed else json.dumps(message).encode()


def on_turn(dealer: zmq.Socket[bytes], turn: dict[str, Any]) -> None:
    answer = {"id": turn["id"], "move": turn["legal"][0]}
    if how == "status":
        os._exit(3)
    elif how == "signal":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif how == "closes":
        dealer.close(0)
        time.sleep(600)
    elif how == "stall":
        time.sleep(600)
    elif how == "garbled":
        dealer.send(b"\x81\xa2id" if packed else b"thinking")
    elif how == "parts":
        dealer.send_multipart([b"", encoded(answer)])
    elif how == "large":
        dealer.send(encoded({**answer, "note": "x" * 70_000}))
    elif how == "other encoding":
        dealer.send(json.dumps(answer).encode() if packed else (msgpack.encode(answer)))
    elif how == "flood":
        while True:
            dealer.send(encoded({"type": "pong", "note": "x" * 60_000}))
    elif how == "garbage":
        while True:
            dealer.send(b"x" * 1000)
    elif how == "hello again":
        dealer.send(encoded(hello))
    dealer.send(encoded(answer))


def talk(dealer: zmq.Socket[bytes]) -> None:
    dealer.send(encoded(hello))
    if how == "hello twice":
        dealer.send(encoded({**hello, "token": "another"}))
    while True:
        message = msgpack.decode(dealer.recv()) if packed else json.loads(dealer.recv())
        if how == "prints":
            print("heard", message["type"], flush=True)
        if message["type"] == "turn":
            on_turn(dealer, message)
        elif message["type"] == "ping":
            dealer.send(encoded({"type": "pong"}))
        elif message["type"] == "bye":
            return


def main() -> None:
    if how == "exits":
        sys.exit("this bot exits")
    if how == "absent":
        time.sleep(600)
    where = os.environ["REFEREE_ENDPOINT"]
    if how == "not zmq":
        with socket.socket(socket.AF_UNIX) as raw:
            raw.connect(where.removeprefix("ipc://"))
            raw.sendall(b'{"type":"hello"}\n')
            time.sleep(600)
    if how == "no token":
        del hello["token"]
    elif how == "wrong token":
        hello["token"] = "0" * 32
    elif how == "protocol 2":
        hello["protocol"] = 2  # type: ignore[assignment]
    dealer = context.socket(zmq.REQ if how == "request" else zmq.DEALER)
    dealer.linger = 0
    if how == "heartbeats":
        dealer.heartbeat_ivl = 20
        dealer.heartbeat_timeout = 5000
    dealer.connect(where)
    if how == "silent":
        time.sleep(600)
    talk(dealer)


main()
