"""Lines to messages, strictly.

msgspec is fast and not strict enough: it takes duplicate keys, and in fields that it skips also
1e999 and integers without end. So there are two paths. The fast one takes answers that are plain
beyond doubt: exactly as many colons as known fields that were found, which leaves no room for a
second `id`, a nested value or a field that nobody looked at. Anything else goes the slow way,
through the standard json module with a hook on every leniency, and comes out as a message or as
`Garbled` with a sentence for the bot's author.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import msgspec
from msgspec import UNSET

from referee.protocol.messages import (
    LARGEST_INT,
    LINE_LIMIT,
    NAME_LIMIT,
    NESTING_LIMIT,
    NOTE_LIMIT,
    PROTOCOL,
    HelloReceived,
    MoveReceived,
    OddMoveReceived,
    PongReceived,
    ResignReceived,
    ToBot,
    cut,
)

STDOUT_HINT = "stdout is for the protocol; log to stderr"

encode: Callable[[Sequence[ToBot]], bytes] = msgspec.json.Encoder().encode_lines
"""Messages to the bot as lines."""
encode_whole: Callable[[ToBot], bytes] = msgspec.json.Encoder().encode
"""One message to the bot, for a link on which messages do not need an end."""
_decode_answer = msgspec.json.Decoder(MoveReceived).decode
_decode_answers = msgspec.json.Decoder(MoveReceived).decode_lines


class Garbled(Exception):
    """A line that is no message; the text is a sentence for the bot's author."""


def decode_plain_answers(data: bytes) -> list[MoveReceived] | None:
    """Whole lines that are all plain answers, or None where the strict way has to look."""
    try:
        if data.find(b"\n") == len(data) - 1:
            answer = _decode_answer(data)
            colons = data.count(b":")
            if colons == 2 or (colons == 3 and answer.kind == "move"):
                return [answer]
            return None
        answers = _decode_answers(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    # msgspec does not care where lines end. As many line ends as objects, each right behind an
    # object: one object a line.
    if not 0 < len(answers) == data.count(b"\n") == data.count(b"}\n"):
        return None
    spare = data.count(b":") - 2 * len(answers)
    if spare and spare != sum(answer.kind == "move" for answer in answers):
        return None
    return answers


def decode_plain_message(data: bytes) -> MoveReceived | None:
    """One message that is a plain answer, or None where the strict way has to look."""
    try:
        answer = _decode_answer(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    colons = data.count(b":")
    if colons == 2 or (colons == 3 and answer.kind == "move"):
        return answer
    return None


_USUAL_PONGS = (b'{"type":"pong"}', b'{"type": "pong"}')
"""As encoders write it; a bot that is kept from pairing to pairing says it after each."""
BotMessage = HelloReceived | MoveReceived | OddMoveReceived | ResignReceived | PongReceived


def decode_line(line: bytes) -> tuple[str, BotMessage]:
    """One line of a bot as (type, message). Raises Garbled."""
    if line in _USUAL_PONGS:
        return "pong", PongReceived()
    return decode_fields(read_object(line))


def decode_fields(fields: dict[str, Any]) -> tuple[str, BotMessage]:
    """The fields of a message, in whichever encoding they came, as (type, message)."""
    kind = fields.get("type", "move")
    if kind == "move":
        if not ("type" in fields or "id" in fields or "move" in fields):
            raise Garbled(f"an object with neither type nor id and move; {STDOUT_HINT}")
        return "move", _move(fields)
    if kind == "hello":
        return "hello", _hello(fields)
    if kind == "resign":
        return "resign", ResignReceived(_turn_id(fields))
    if kind == "pong":
        return "pong", PongReceived()
    raise Garbled(f"type is {_short(kind)}; a bot sends hello, move, resign or pong")


def _move(fields: dict[str, Any]) -> MoveReceived | OddMoveReceived:
    turn_id = _turn_id(fields)
    if "move" not in fields:
        raise Garbled("an answer without a move")
    move, note = fields["move"], fields.get("note")
    if isinstance(note, str) and note:
        return OddMoveReceived(turn_id, move, cut(note, NOTE_LIMIT))
    if type(move) is int or type(move) is str:
        return MoveReceived(turn_id, move, "move" if "type" in fields else UNSET)
    return OddMoveReceived(turn_id, move)


def _turn_id(fields: dict[str, Any]) -> int:
    if "id" not in fields:
        raise Garbled("an answer without an id; echo the id of the turn")
    turn_id = fields["id"]
    if type(turn_id) is not int:
        raise Garbled(f"id is {_kind(turn_id)} where a whole number is due; echo the turn's id")
    return turn_id


def _hello(fields: dict[str, Any]) -> HelloReceived:
    protocol = fields.get("protocol", PROTOCOL)
    if type(protocol) is not int:
        raise Garbled(f"protocol is {_kind(protocol)} where a whole number is due")
    at_once = fields.get("games_at_once")
    if at_once is None:
        at_once = 1
    if type(at_once) is not int or not 1 <= at_once <= 10_000:
        raise Garbled(f"games_at_once is {_short(at_once)} where 1 to 10000 is due")
    variants = fields.get("variants")
    if variants is not None and (
        not isinstance(variants, list) or not all(isinstance(name, str) for name in variants)
    ):
        raise Garbled("variants must be a list of names")
    stateless = fields.get("stateless")
    if stateless is not None and type(stateless) is not bool:
        raise Garbled(f"stateless is {_short(stateless)} where true or false is due")
    return HelloReceived(
        protocol=protocol,
        name=_text(fields, "name"),
        token=_text(fields, "token", limit=1_000),
        version=_text(fields, "version"),
        author=_text(fields, "author"),
        variants=None if variants is None else tuple(variants),
        games_at_once=at_once,
        stateless=bool(stateless),
    )


def _text(fields: dict[str, Any], name: str, limit: int = NAME_LIMIT) -> str | None:
    text = fields.get(name)
    if text is None:
        return None
    if not isinstance(text, str):
        raise Garbled(f"{name} is {_kind(text)} where text is due")
    if len(text) > limit:
        raise Garbled(f"{name} is longer than {limit} characters")
    return text


def read_object(line: bytes, limit: int = LINE_LIMIT) -> dict[str, Any]:
    """One line as a JSON object, with nothing let through that JSON or this protocol forbids."""
    if len(line) > limit:
        raise Garbled(f"a line of {len(line)} bytes; the limit is {limit}")
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise Garbled(
            f"not UTF-8: byte 0x{line[error.start]:02x} at position {error.start}"
        ) from None
    if text.startswith("\ufeff"):
        raise Garbled("a byte order mark before the object; write UTF-8 without one")
    if text.count("[") + text.count("{") > NESTING_LIMIT:
        _check_nesting(text)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_no_duplicates,
            parse_int=_bounded_int,
            parse_float=_finite_float,
            parse_constant=_no_constant,
        )
    except json.JSONDecodeError as error:
        raise Garbled(
            f"not JSON ({error.msg.lower().removesuffix(' at')} at column {error.colno}); "
            + STDOUT_HINT
        ) from None
    if type(value) is not dict:
        raise Garbled(f"{_kind(value)} where an object is due; {STDOUT_HINT}")
    if "\\u" in text:
        _check_surrogates(value)
    return value


def _check_nesting(text: str) -> None:
    depth = 0
    in_string = escaped = False
    for char in text:
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "[{":
            depth += 1
            if depth > NESTING_LIMIT:
                raise Garbled(f"nested deeper than {NESTING_LIMIT} levels")
        elif char in "]}":
            depth -= 1


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for place, key in enumerate(keys) if key in keys[:place])
        raise Garbled(f"the key {_short(twice)} appears twice")
    return fields


def _bounded_int(digits: str) -> int:
    if len(digits) <= 17:
        value = int(digits)
        if -LARGEST_INT <= value <= LARGEST_INT:
            return value
    raise Garbled(f"an integer beyond ±2^53 ({len(digits.lstrip('-'))} digits)")


def _finite_float(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise Garbled(f"the number {_short(digits)} is too large")
    return value


def _no_constant(name: str) -> NoReturn:
    raise Garbled(f"{name} is not JSON")


def _check_surrogates(value: dict[str, Any]) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Garbled("a lone surrogate in a string") from None


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return {int: "a number", float: "a number", str: "a string", list: "a list"}.get(
        type(value), "an object"
    )


def _short(value: object) -> str:
    try:
        text = json.dumps(value)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def excerpt(data: bytes, limit: int = 200) -> str:
    """What came, cut and escaped, fit for a terminal, a log and a record."""
    cut = data[:limit].decode("utf-8", "backslashreplace")
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)
    return shown + "…" if len(data) > limit else shown


def quote(answer: MoveReceived | OddMoveReceived) -> str:
    """An answer as the bot might have sent it, where the line itself is gone."""
    return excerpt(json.dumps({"id": answer.id, "move": answer.move}).encode())
