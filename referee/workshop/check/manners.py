"""The same messages in other clothes, each of which the protocol allows.

A bot that reads JSON by the book does not notice. One that looks for texts in a line, or for fields
at their places, does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from referee.protocol.codec import encode
from referee.protocol.messages import ToBot

DECOY = {"type": "bye", "game": "none", "id": 0, "legal": [], "move": 0, "view": None}
"""An object in a field that nobody knows: what it holds means nothing."""
NEWS = {"news": "an event of a kind to come"}
HINT = '"id":0,"legal":[]} \\ é 日本 {'


class Manner(Struct, frozen=True):
    """How messages are written."""

    write: Callable[[Sequence[ToBot]], bytes]
    in_pieces: bool = False
    """Whether every line is cut in two, with a pause between."""


def lines(values: Sequence[object]) -> bytes:
    return b"".join(msgspec.json.encode(value) + b"\n" for value in values)


def _with_crlf(messages: Sequence[ToBot]) -> bytes:
    return encode(messages).replace(b"\n", b"\r\n")


def _reordered(messages: Sequence[ToBot]) -> bytes:
    return lines([_reverse(msgspec.to_builtins(message)) for message in messages])


def _reverse(value: Any) -> Any:
    """Every object back to front, the innermost too; the order of a list has a meaning."""
    if isinstance(value, dict):
        return {key: _reverse(each) for key, each in reversed(value.items())}
    if isinstance(value, list):
        return [_reverse(each) for each in value]
    return value


def _with_unknown_fields(messages: Sequence[ToBot]) -> bytes:
    return lines([_extend(msgspec.to_builtins(message)) for message in messages])


def _extend(message: dict[str, Any]) -> dict[str, Any]:
    """New fields behind the known ones, in the objects inside too."""
    for inner, news in (("view", DECOY), ("options", 0), ("clock", 0)):
        if inner in message:
            message[inner] = {**message[inner], "news": news}
    if "events" in message:
        message["events"] = [{**event, "news": DECOY} for event in message["events"]]
    return {**message, "news": DECOY, "hint": HINT, "more": [None, True, 0.5, {}]}


def _with_unknown_events(messages: Sequence[ToBot]) -> bytes:
    values = [msgspec.to_builtins(message) for message in messages]
    for value in values:
        if "events" in value:
            value["events"] = [NEWS, *value["events"], NEWS]
    return lines(values)


PLAIN = Manner(encode)
CRLF = Manner(_with_crlf)
REORDERED = Manner(_reordered)
UNKNOWN_FIELDS = Manner(_with_unknown_fields)
UNKNOWN_EVENTS = Manner(_with_unknown_events)
IN_PIECES = Manner(encode, in_pieces=True)
