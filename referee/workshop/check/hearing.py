"""A bot's output, heard with more patience than a referee has.

In a game the first line that is no message ends the process. A check wants to know what else is
right and wrong with the bot, so it sets such a line aside, with the sentence that the referee would
have had for it, and listens on. Two habits are understood where a referee would not: a message that
is spread over several lines, and one that lacks the end of its line. Both are told of all the same.
"""

from __future__ import annotations

import json
import re
from typing import Literal

from msgspec import Struct

from referee.protocol.codec import STDOUT_HINT, BotMessage, Garbled, decode_line, excerpt
from referee.protocol.messages import LINE_LIMIT

NO_OBJECT = f"not a JSON object; {STDOUT_HINT}"
NOT_ALONE = f"a message with something before it on its line; {STDOUT_HINT}"
NO_LINE_END = "a message without the end of its line; end it with \\n"
DECODER = json.JSONDecoder()

Meant = Literal["hello", "answer"]
"""What a line that is no message seems to be meant as."""


class Stray(Struct, frozen=True):
    """A line that is no message of the protocol."""

    line: str
    """Cut and escaped."""
    why: str
    meant: Meant | None = None


Heard = BotMessage | Stray


class Ear:
    """Bytes in, messages and strays out."""

    def __init__(self, eager: bool = False) -> None:
        """Eager: for a bot that is known not to end its lines."""
        self.eager = eager
        self.lines = 0
        """Complete lines so far that were not blank."""
        self._tail = b""
        self._pieces: list[bytes] = []
        """Lines of a message that is spread over several."""

    def receive(self, data: bytes) -> list[Heard]:
        """What these bytes say. An incomplete line waits for its rest."""
        *lines, self._tail = (self._tail + data).split(b"\n")
        heard: list[Heard] = []
        for line in lines:
            if line.strip():
                self.lines += 1
                heard += self._line(line)
        if len(self._tail) > LINE_LIMIT:
            why = f"more than {LINE_LIMIT} bytes without the end of a line"
            heard.append(Stray(excerpt(self._tail), why))
            self._tail = b""
        return heard + self.take_unfinished() if self.eager else heard

    def unfinished(self) -> str:
        """What came without the end of its line, cut and escaped."""
        return excerpt(self._tail.strip())

    def take_unfinished(self) -> list[Heard]:
        """The messages that lack nothing but the ends of their lines."""
        heard: list[Heard] = []
        while (whole := _first_object(self._tail)) is not None:
            try:
                _, message = decode_line(whole.strip())
            except Garbled:
                break
            heard += [Stray(excerpt(whole), NO_LINE_END), message]
            self._tail = self._tail[len(whole) :]
            self.lines += 1
            self.eager = True
        return heard

    def _line(self, line: bytes) -> list[Heard]:
        if not self._pieces and not line.lstrip().startswith(b"{"):
            return [Stray(excerpt(line), NOT_ALONE if _ends_in_message(line) else NO_OBJECT)]
        try:
            _, message = decode_line(line.removesuffix(b"\r"))
        except Garbled as garbled:
            return self._garbled(line.strip(), str(garbled))
        return [*self._give_up_pieces(), message]

    def _garbled(self, line: bytes, why: str) -> list[Heard]:
        opens = line.startswith(b"{") and line.count(b"{") > line.count(b"}")
        if not self._pieces and not opens:
            return [Stray(excerpt(line), why, _meaning(line))]
        self._pieces.append(line)
        whole = b" ".join(self._pieces)
        try:
            _, message = decode_line(whole)
        except Garbled:
            return self._give_up_pieces() if len(whole) > LINE_LIMIT else []
        count = len(self._pieces)
        self._pieces.clear()
        why = f"a message spread over {count} lines; write each message on one line"
        return [Stray(excerpt(whole), why), message]

    def _give_up_pieces(self) -> list[Heard]:
        pieces, self._pieces = self._pieces, []
        return [Stray(excerpt(piece), NO_OBJECT) for piece in pieces]


def _first_object(data: bytes) -> bytes | None:
    """The JSON object that the data begin with, blanks before it included."""
    text = data.decode("utf-8", "replace")
    try:
        _, end = DECODER.raw_decode(text, len(text) - len(text.lstrip()))
    except (ValueError, RecursionError):
        return None
    return text[:end].encode()


def _ends_in_message(line: bytes) -> bool:
    try:
        decode_line(line[line.find(b"{") :].strip())
    except Garbled:
        return False
    return b"{" in line


def _meaning(line: bytes) -> Meant | None:
    """What its author meant by a line that is no message, `{'id': 1, 'move': 5}` for example."""
    if not (line.startswith(b"{") and line.endswith(b"}")):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    names = (
        set(value) if isinstance(value, dict) else set(re.findall(r"\w+", line.decode("latin-1")))
    )
    kind = value.get("type") if isinstance(value, dict) else None
    if kind == "hello" or (value is None and "hello" in names):
        return "hello"
    return "answer" if {"id", "move"} & names else None
