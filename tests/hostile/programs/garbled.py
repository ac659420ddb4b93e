"""Sends a line that is no message of the protocol: in game N the N-th of them, and against the
other opponent those after.

    garbled.py MARK

Bounded: a line or two for each game.
"""

from __future__ import annotations

from tests.hostile.programs.bot import Turn, answer, say, serve

LINES = {
    "bad UTF-8": b'{"id":ID,"move":MOVE,"note":"\xff\xfe"}',
    "60,000 brackets": b'{"id":ID,"move":' + b"[" * 60_000,
    "30,000 pairs of brackets": b'{"id":ID,"move":MOVE,"x":' + b"[" * 30_000 + b"]" * 30_000 + b"}",
    "NaN": b'{"id":ID,"move":NaN}',
    "too large a float": b'{"id":ID,"move":MOVE,"x":1e999}',
    "the same key twice": b'{"id":ID,"move":MOVE,"move":MOVE}',
    "a lone surrogate": rb'{"id":ID,"move":MOVE,"note":"\ud800"}',
    "5,000 digits": b'{"id":ID,"move":' + b"5" * 5_000 + b"}",
    "true as a number": b'{"id":true,"move":MOVE}',
    "true as a move": b'{"id":ID,"move":true}',
    "a stray print": b"thinking",
    "nothing but zeros": b"\0" * 100,
}
GAMES = len(LINES) // 2


def on_turn(turn: Turn) -> None:
    pairing, _, number = turn.game.partition("-")
    text = [*LINES.values()][int(number) - 1 + (0 if pairing == "2" else GAMES)]
    text = text.replace(b"ID", str(turn.id).encode())
    text = text.replace(b"MOVE", str(turn.legal[0]).encode())
    say(text + b"\n" + answer(turn))


if __name__ == "__main__":
    serve(on_turn)
