"""Messages in MessagePack, as strict as those in JSON.

Over ZeroMQ a bot may speak MessagePack: one message is one map. MessagePack can say more than JSON
(bytes, dates, keys that are numbers, NaN), and what JSON cannot say is no message here either: the
two encodings carry the same protocol, and a record is JSON. Again there are two ways: a short one
for answers that are plain beyond doubt, and the msgpack library with its limits for all else.
"""

from __future__ import annotations

from typing import Any

import msgpack  # type: ignore[import-untyped]  # it has no types
import msgspec

from referee.protocol.codec import BotMessage, Garbled, decode_fields
from referee.protocol.messages import (
    LARGEST_INT,
    LINE_LIMIT,
    NESTING_LIMIT,
    MoveReceived,
    ToBot,
)

_SMALL_MAPS = range(0x80, 0x90)
_TWO_FIELDS, _THREE_FIELDS = 0x82, 0x83
_TRUE_VALUES = (type(None), bool, str)

_encoder = msgspec.msgpack.Encoder()
_decode_answer = msgspec.msgpack.Decoder(MoveReceived).decode


def is_packed(message: bytes) -> bool:
    """Whether this begins as a MessagePack map does; a JSON object cannot begin like that."""
    return bool(message) and (message[0] in _SMALL_MAPS or message[0] in (0xDE, 0xDF))


def pack(message: ToBot) -> bytes:
    """A message to a bot."""
    return _encoder.encode(message)


def decode_plain_packed(message: bytes) -> MoveReceived | None:
    """A plain answer, or None where the strict way has to look.

    As many fields as were found leave no room for one that nobody looked at or one that is there
    twice.
    """
    try:
        answer = _decode_answer(message)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    if message[0] == _TWO_FIELDS or (message[0] == _THREE_FIELDS and answer.kind == "move"):
        return answer
    return None


def decode_packed(message: bytes) -> tuple[str, BotMessage]:
    """One message of a bot as (type, message). Raises Garbled."""
    return decode_fields(read_packed(message))


def read_packed(message: bytes) -> dict[str, Any]:
    """One map, with nothing let through that JSON or this protocol forbids. Raises Garbled."""
    if len(message) > LINE_LIMIT:
        raise Garbled(f"a message of {len(message)} bytes; the limit is {LINE_LIMIT}")
    if not is_packed(message):
        raise Garbled("no MessagePack map where an object is due")
    try:
        value = msgpack.unpackb(message, object_pairs_hook=_fields, strict_map_key=False)
    except msgpack.ExtraData:
        raise Garbled("something follows the map; one message is one object") from None
    except msgpack.StackError:
        raise Garbled(f"nested deeper than {NESTING_LIMIT} levels") from None
    except UnicodeDecodeError:
        raise Garbled("a string that is not UTF-8") from None
    except (msgpack.UnpackException, ValueError, OverflowError):
        raise Garbled("not MessagePack: it ends too early or holds an unknown code") from None
    fields: dict[str, Any] = value
    _check_nesting(fields)  # First, so that the recursion has an end.
    _check(fields)
    return fields


def _fields(pairs: list[tuple[object, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if type(key) is not str:
            raise Garbled("a key that is no text")
        if key in fields:
            raise Garbled(f"the key {_cut(key)} appears twice")
        fields[key] = value
    return fields


def _check_nesting(top: dict[str, Any]) -> None:
    level: list[Any] = [top]
    for _ in range(NESTING_LIMIT):
        level = [
            each
            for value in level
            for each in (value.values() if type(value) is dict else value)
            if type(each) is dict or type(each) is list
        ]
        if not level:
            return
    raise Garbled(f"nested deeper than {NESTING_LIMIT} levels")


def _check(value: Any) -> None:
    """Look at every value in the order of the message, as in JSON: the first fault is told."""
    if type(value) is dict or type(value) is list:
        for each in value.values() if type(value) is dict else value:
            _check(each)
    else:
        _check_scalar(value)


def _check_scalar(value: object) -> None:
    if type(value) is int:
        if not -LARGEST_INT <= value <= LARGEST_INT:
            raise Garbled(f"an integer beyond ±2^53 ({len(str(abs(value)))} digits)")
    elif type(value) is float:
        if not float("-inf") < value < float("inf"):
            raise Garbled(f"the number {value} is not JSON")
    elif type(value) not in _TRUE_VALUES:
        kind = "bytes" if type(value) is bytes else "an extension"
        raise Garbled(f"{kind} where JSON has nothing like it; send text, numbers, lists or maps")


def _cut(key: str) -> str:
    shown = ascii(key)
    return shown if len(shown) <= 60 else shown[:59] + "…"
