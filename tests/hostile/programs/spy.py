"""Looks around on its first turn for what is not its own.

    spy.py OPPONENT DATABASE LOGS NEIGHBOUR SECRET MARK

OPPONENT, DATABASE, LOGS and NEIGHBOUR are paths of the machine: the opponent's folder, the
tournament's database and logs, and a file of somebody else. SECRET is the name of a variable in the
referee's environment.

Bounded: it only reads.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.hostile.programs.bot import Turn, answer, attempt, say, serve, tell

opponent, database, logs, neighbour, secret, _ = sys.argv[1:]
turns = 0


def read(path: str) -> bool:
    with Path(path).open("rb") as file:
        return bool(file.read(1))


def listed(path: str) -> bool:
    return any(Path(path).iterdir())


def of_every_process(name: str) -> Iterator[bytes]:
    for process in Path("/proc").glob("[0-9]*"):
        if process.name != str(os.getpid()):
            try:
                yield (process / name).read_bytes()
            except OSError:
                continue


def environment() -> bool:
    """Of any process but its own, process 1 included; its own is told apart."""
    return any(secret.encode() + b"=" in text for text in of_every_process("environ"))


def opponents_process() -> bool:
    return any(text.startswith(b"./honest\0") for text in of_every_process("cmdline"))


def own_program() -> None:
    """Whether it may change itself, and so what the next game is played with."""
    os.close(os.open(sys.argv[0], os.O_WRONLY))


def descriptors() -> None:
    """Those that it was not given: beside 0, 1 and 2 there is only that of the listing itself."""
    strange = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            if int(entry.name) > 2:
                strange.append(f"{entry.name} {entry.readlink()}")
        except OSError:  # that of the listing, which is over
            continue
    tell("descriptors", bool(strange), len(strange), strange)


def on_turn(turn: Turn) -> None:
    global turns
    turns += 1
    if turns == 1:
        attempt("opponent", lambda: listed(opponent))
        attempt("opponent's program", lambda: read(f"{opponent}/honest"))
        attempt("database", lambda: read(database))
        attempt("logs", lambda: listed(logs))
        attempt("neighbour", lambda: read(neighbour))
        attempt("own environment", lambda: secret in os.environ)
        attempt("others' environment", environment)
        attempt("opponent's process", opponents_process)
        attempt("own program, to write", own_program)
        descriptors()
    say(answer(turn))


serve(on_turn)
