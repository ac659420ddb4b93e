"""The parts of protocol.md that are made from the protocol itself.

Tables come from the message types, the diagram from the session's transitions, the blame codes
from the verdicts. Only the meaning of a field is written here, next to nothing else; a field
without a meaning, or a meaning without a field, is a KeyError or a failing test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import get_args

import msgspec
from msgspec import Struct, inspect

from referee.clock import DEFAULT_GRACE_MS, DEFAULT_STARTUP_MS, DEFAULT_WARM_UP_MS, Clock, show_ms
from referee.protocol.codec import encode
from referee.protocol.messages import (
    FLOOD_BYTES,
    LINE_LIMIT,
    NAME_LIMIT,
    NESTING_LIMIT,
    NOTE_LIMIT,
    NOTES_LIMIT,
    PROTOCOL,
    STALE_LIMIT,
    Bye,
    Error,
    Hello,
    HelloReceived,
    MoveReceived,
    OddMoveReceived,
    Over,
    Ping,
    PongReceived,
    ResignReceived,
    Start,
    ToBot,
    Turn,
)
from referee.protocol.session import RECEIVED, SENT, State
from referee.verdict import (
    AT_START,
    ENDS_PROCESS,
    MEANINGS,
    PRECEDENCE,
    UNRATED,
    Ending,
    exit_status,
)

FIELDS_TO_BOT: Mapping[str, Mapping[str, str]] = {
    "hello": {
        "protocol": "version of the protocol that the referee speaks",
        "referee": "version of the referee",
    },
    "start": {
        "game": "name of the game; every message about it carries the same",
        "variant": "which game is played",
        "rules": "version of the variant's rules",
        "options": "every option of the variant with its value",
        "seat": "your seat, 0 or 1",
        "players": "names of the players in seat order",
        "clock": "the time limits, see [Clocks](#clocks)",
        "bot_seed": "a number from 0 to 2^53 - 1 for your random generator, so that your games "
        "can be played again; it tells nothing of the game's own chance",
    },
    "turn": {
        "game": "the game in which you are to move",
        "id": "echo it in your answer; ids rise on a connection and are never used twice",
        "view": "all that you may know, from your side; see [Variants](#variants)",
        "events": "what became known since your last turn in this game, in order",
        "legal": "every legal move, or null where a variant has too many to list "
        "(none of the five has)",
        "left_ms": "what you may take for this move, without the grace; null is no limit",
    },
    "over": {
        "game": "the game that is over",
        "result": "how it ended for you",
        "ending": "`rules`, a blame code or another ending, see [Blame](#blame)",
        "at_fault": "the seats that were at fault; mostly none",
        "scores": "two numbers in seat order; the variant says what they count",
        "events": "what became known since your last turn",
    },
    "error": {
        "code": "a blame code",
        "detail": "one sentence for you: what came and what was due",
        "game": "the game that the fault lost, or null where it names none",
        "id": "the turn that the fault belongs to, or null where it names none",
    },
    "ping": {},
    "bye": {},
}

FIELDS_FROM_BOT: Mapping[str, Mapping[str, str]] = {
    "hello": {
        "protocol": "version of the protocol that you speak",
        "name": "the bot's name; a bot that the referee starts goes by the name in its manifest "
        "or on the command line instead",
        "token": "proof of who you are, where one was given to you; not needed over stdio",
        "version": "version of the bot",
        "author": "who wrote it",
        "variants": "names of the variants that it plays; null is all of them",
        "games_at_once": "how many games it can play at once, 1 to 10000",
        "stateless": "whether it keeps nothing from game to game, so that one process may play "
        "many pairings",
    },
    "move": {
        "type": "an answer without a type is a move",
        "id": "the `id` of the turn that you answer",
        "move": "one of the turn's `legal` moves",
        "note": f"kept in the record, for your own eyes; cut after {NOTE_LIMIT} bytes of UTF-8",
    },
    "resign": {"id": "the `id` of the turn that you answer"},
    "pong": {},
}

FIELDS_OF_CLOCK: Mapping[str, str] = {
    "move_ms": "limit for every move",
    "bank_ms": "time for all your moves in the game, at its start",
    "increment_ms": "added to your bank after each of your moves",
    "grace_ms": "an answer that is late by no more than this still counts",
}

EXAMPLES_TO_BOT: Mapping[str, ToBot] = {
    "hello": Hello(PROTOCOL, "0.1.0"),
    "start": Start(
        game="17",
        variant="underdog",
        rules=1,
        options={"size": 10, "points": 3, "wrap": "no", "exhausted": "points"},
        seat=1,
        players=("greedy", "mine"),
        clock=Clock(move_ms=1000),
        bot_seed=4168182510844958,
    ),
    "turn": Turn(
        game="17",
        id=52,
        view={
            "round": 2,
            "mine": {"numbers": [1, 2, 3, 4, 5, 6, 7, 8, 10], "points": 1},
            "theirs": {"numbers": [1, 2, 3, 4, 5, 6, 7, 8, 9], "points": 0},
        },
        events=[{"round": 1, "mine": 9, "theirs": 10, "result": "won"}],
        legal=[1, 2, 3, 4, 5, 6, 7, 8, 10],
        left_ms=1000,
    ),
    "over": Over(
        game="17",
        result="win",
        ending=Ending.RULES,
        at_fault=(),
        scores=(1, 3),
        events=[{"round": 4, "mine": 8, "theirs": 2, "result": "won"}],
    ),
    "error": Error(Ending.ILLEGAL, "9 is not legal here; legal are [1, 2, 3]", "17", 12),
    "ping": Ping(),
    "bye": Bye(),
}

EXAMPLES_FROM_BOT: Mapping[str, Sequence[str]] = {
    "hello": [
        '{"type":"hello","name":"mine"}',
        '{"type":"hello","protocol":1,"name":"mine","version":"2.1","author":"Ann",'
        '"variants":["underdog","duel"],"games_at_once":64}',
    ],
    "move": [
        '{"id":52,"move":7}',
        '{"type":"move","id":52,"move":7,"note":"they hold no 8"}',
        '{"id":61,"move":"*5"}',
    ],
    "resign": ['{"type":"resign","id":52}'],
    "pong": ['{"type":"pong"}'],
}

FROM_BOT: Mapping[str, type[Struct]] = {
    "hello": HelloReceived,
    "move": MoveReceived,
    "resign": ResignReceived,
    "pong": PongReceived,
}


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def fields_of(struct: type[Struct]) -> Sequence[inspect.Field]:
    """The fields of a message as they are on the wire."""
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    return info.fields


def show_type(info: inspect.Type) -> str:
    """The JSON type of a field in words."""
    match info:
        case inspect.UnionType(types=types):
            shown = [show_type(each) for each in types if not isinstance(each, inspect.NoneType)]
            null = ", or null" if shown[0].startswith("list") else " or null"
            return " or ".join(shown) + (null if len(shown) < len(types) else "")
        case inspect.IntType():
            return "integer"
        case inspect.FloatType():
            return "number"
        case inspect.BoolType():
            return "true or false"
        case inspect.StrType() | inspect.EnumType():
            return "text"
        case inspect.LiteralType(values=values):
            return ", ".join(f'`"{value}"`' for value in values)
        case inspect.TupleType(item_types=items):
            shown = [show_type(item) for item in items]
            return f"[{', '.join(shown)}]"
        case inspect.CollectionType(item_type=item):
            return f"list of {show_type(item)}"
        case inspect.DictType() | inspect.StructType():
            return "object"
        case inspect.AnyType():
            return "any"
    raise TypeError(f"no words for {info}")


def field_rows(
    fields: Iterable[inspect.Field], meanings: Mapping[str, str], *, optional: bool = False
) -> list[list[str]]:
    """Name, type and meaning of each field; for a bot's message also whether it is required."""
    rows = []
    for field in fields:
        row = [f"`{field.encode_name}`", _wire_type(field), meanings[field.encode_name]]
        if optional:
            row.insert(2, _required(field))
        rows.append(row)
    return rows


def _wire_type(field: inspect.Field) -> str:
    if isinstance(field.type, inspect.UnionType):
        kept = [each for each in field.type.types if not _is_unset(each)]
        return show_type(inspect.UnionType(tuple(kept)) if len(kept) > 1 else kept[0])
    return show_type(field.type)


def _is_unset(info: inspect.Type) -> bool:
    return isinstance(info, inspect.CustomType) and info.cls.__name__ == "UnsetType"


def _required(field: inspect.Field) -> str:
    if field.required:
        return "yes"
    if not isinstance(field.default, int):
        return "no"
    return f"no, then `{msgspec.json.encode(field.default).decode()}`"


def state_diagram() -> str:
    """The life of a connection, drawn from the two tables of the session."""
    arrows: dict[tuple[State, State, str], list[str]] = {}
    for who, transitions in (("referee", SENT), ("bot", RECEIVED)):
        for source, leads in transitions.items():
            for what, target in leads.items():
                arrows.setdefault((source, target, who), []).append(what)
    lines = ["```mermaid", "stateDiagram-v2", f"    [*] --> {State.NEW.value}"]
    lines += [
        f"    {source.value} --> {target.value} : {who} sends {', '.join(whats)}"
        for (source, target, who), whats in arrows.items()
    ]
    left = {source for source, target, _ in arrows if source is not target}
    lines += [f"    {state.value} --> [*]" for state in State if state not in left]
    return "\n".join([*lines, "```"])


def messages_to_bot() -> str:
    parts = []
    for struct in get_args(ToBot):
        kind = struct.__struct_config__.tag
        parts.append(f"### `{kind}`\n\n{struct.__doc__}")
        if rows := field_rows(fields_of(struct), FIELDS_TO_BOT[kind]):
            parts.append(table(["field", "type", "meaning"], rows))
        parts.append(_json("referee", [encode([EXAMPLES_TO_BOT[kind]]).decode().strip()]))
    return "\n\n".join(parts)


def messages_from_bot() -> str:
    parts = []
    for kind, struct in FROM_BOT.items():
        doc = (struct.__doc__ or "").partition(". This is also")[0].removesuffix(".")
        parts.append(f"### `{kind}` from the bot\n\n{doc}.")
        if rows := field_rows(_bot_fields(struct), FIELDS_FROM_BOT[kind], optional=True):
            parts.append(table(["field", "type", "required", "meaning"], rows))
        parts.append(_json("bot", EXAMPLES_FROM_BOT[kind]))
    return "\n\n".join(parts)


def _bot_fields(struct: type[Struct]) -> list[inspect.Field]:
    """The fields of a bot's message. What a move can carry beyond a plain one is a note."""
    fields = list(fields_of(struct))
    if struct is MoveReceived:
        fields += [field for field in fields_of(OddMoveReceived) if field.name == "note"]
    return fields


def clock_fields() -> str:
    return table(["field", "type", "meaning"], field_rows(fields_of(Clock), FIELDS_OF_CLOCK))


def times() -> str:
    rows = [
        ["grace, on every answer", show_ms(DEFAULT_GRACE_MS)],
        ["warm-up, on the first answer of a process in a pairing", show_ms(DEFAULT_WARM_UP_MS)],
        ["start-up limit, from the start of a process to its hello", show_ms(DEFAULT_STARTUP_MS)],
    ]
    return table(["time", "unless the organiser says otherwise"], rows)


def limits() -> str:
    rows = [
        ["length of a line, without its end", f"{LINE_LIMIT:,} bytes", "`garbled`"],
        ["nesting of lists and objects", f"{NESTING_LIMIT} levels", "`garbled`"],
        ["integers, anywhere in a line", "-2^53 to 2^53", "`garbled`"],
        ["`name`, `version`, `author`", f"{NAME_LIMIT} characters", "`no_hello`"],
        ["output since the last turn that you were sent", f"{FLOOD_BYTES:,} bytes", "`flood`"],
        ["lines in a row that nobody asked for", f"{STALE_LIMIT}", "`flood`"],
        ["`note`", f"{NOTE_LIMIT} bytes of UTF-8", "the rest is cut off"],
        [
            "all notes of a bot in a game",
            f"{NOTES_LIMIT:,} bytes of UTF-8",
            "the rest is cut off, later notes are not kept",
        ],
    ]
    return table(["what", "limit", "beyond it"], rows)


def blame_codes() -> str:
    rows = [
        [f"`{code}`", MEANINGS[code], _loses(code), str(exit_status([code]))] for code in PRECEDENCE
    ]
    return table(["code", "meaning", "what it costs", "exit status"], rows)


def _loses(code: Ending) -> str:
    if code in ENDS_PROCESS:
        return "every open game of the bot; its process is ended and started anew"
    if code in AT_START:
        return "the game that was to begin; three such starts in a row, and the bot is out"
    return "this game"


def other_endings() -> str:
    rows = [
        [f"`{ending}`", MEANINGS[ending], "no" if ending in UNRATED else "yes"]
        for ending in Ending
        if ending not in PRECEDENCE
    ]
    return table(["ending", "meaning", "rated"], rows)


def _json(kind: str, lines: Sequence[str]) -> str:
    return "\n".join([f"```json {kind}", *lines, "```"])


PARTS: Mapping[str, Callable[[], str]] = {
    "state-diagram": state_diagram,
    "messages-to-bot": messages_to_bot,
    "messages-from-bot": messages_from_bot,
    "clock-fields": clock_fields,
    "times": times,
    "limits": limits,
    "blame-codes": blame_codes,
    "other-endings": other_endings,
}
"""The generated parts of protocol.md that need nothing but the protocol."""
