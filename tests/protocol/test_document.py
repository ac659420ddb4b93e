"""protocol.md says what is true: every example is decoded, every table is held to the code."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from referee.clock import Clock
from referee.match import play_match
from referee.protocol.codec import decode_line, encode
from referee.protocol.describe import (
    FIELDS_FROM_BOT,
    FIELDS_OF_CLOCK,
    FIELDS_TO_BOT,
    FROM_BOT,
    fields_of,
)
from referee.protocol.messages import ToBot, Turn
from referee.protocol.session import Session, State
from referee.record import Record, encode_record, read_record
from referee.replaying import replay
from referee.rules.registry import BUNDLED, build_variant
from referee.rules.underdog import Underdog
from referee.rules.variant import IllegalMove, UnreadableMove
from referee.testing.describe import FIELDS_OF_FAULT, FIELDS_OF_RECORD, PART, main, parts, refresh
from referee.testing.playthrough import OTHER_OPTIONS, random_game
from referee.verdict import Ending, Fault
from referee.verifying import verify

DOCUMENT = Path(__file__).parents[2] / "protocol.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")
ANEW = "write it anew by: python -m referee.testing.describe --write protocol.md"
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
ROW = re.compile(r"^\| `([\w.]+)` \| ([^|]+) \|", re.MULTILINE)
GAMES = 12


def blocks(language: str, kind: str, text: str = TEXT) -> list[str]:
    return [
        body for lang, rest, body in BLOCK.findall(text) if (lang, rest.strip()) == (language, kind)
    ]


def lines(kind: str, text: str = TEXT) -> list[str]:
    return [line for block in blocks("json", kind, text) for line in block.splitlines()]


def section(name: str) -> str:
    """What the document says of a variant."""
    _, _, rest = TEXT.partition(f"\n### `{name}`\n\n<!-- generated: {name}-rules")
    return re.split(r"\n##[#]? ", rest)[0]


def strict(struct: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """The same message, but unknown fields are refused."""
    return msgspec.defstruct(
        struct.__name__,
        [],
        bases=(struct,),
        tag=struct.__struct_config__.tag,
        forbid_unknown_fields=True,
        frozen=True,
    )


STRICT = {struct.__struct_config__.tag: strict(struct) for struct in get_args(ToBot)}


def to_bot(line: str) -> ToBot:
    """A message of the referee, without a field too many or too few."""
    message = msgspec.json.decode(line, type=STRICT[json.loads(line)["type"]])
    # A struct made at run time stands in for the message's own type; it encodes the same.
    assert encode([message]).decode() == line + "\n"  # type: ignore[list-item]
    return message  # type: ignore[return-value]


# Generated parts.


@pytest.mark.parametrize("name", parts())
def test_a_generated_part_is_up_to_date(name: str) -> None:
    found = [body for part, body in PART.findall(TEXT) if part == name]
    assert len(found) == 1, f"{name} is {len(found)} times in protocol.md"
    assert found[0].strip() == parts()[name]().strip(), ANEW


def test_the_command_refreshes_the_document(tmp_path: Path) -> None:
    assert refresh(TEXT, parts()) == TEXT, ANEW
    copy = tmp_path / "protocol.md"
    copy.write_text(PART.sub(r"<!-- generated: \1 -->\nold\n<!-- end: \1 -->", TEXT), "utf-8")
    main(["--write", str(copy)])
    assert copy.read_text("utf-8") == TEXT


def test_a_lost_comment_is_noticed() -> None:
    with pytest.raises(ValueError, match="no partner"):
        refresh(TEXT.replace("<!-- end: limits -->", ""), parts())


def test_every_field_has_a_meaning_and_every_meaning_a_field() -> None:
    for struct in get_args(ToBot):
        kind = struct.__struct_config__.tag
        assert set(FIELDS_TO_BOT[kind]) == {field.encode_name for field in fields_of(struct)}
    assert len(FIELDS_TO_BOT) == len(get_args(ToBot))
    for kind, struct in FROM_BOT.items():
        more = {"note"} if kind == "move" else set()
        fields = {field.encode_name for field in fields_of(struct)}
        assert set(FIELDS_FROM_BOT[kind]) == fields | more
    assert set(FIELDS_OF_CLOCK) == {field.name for field in fields_of(Clock)}
    assert set(FIELDS_OF_RECORD) == {field.name for field in fields_of(Record)}
    assert set(FIELDS_OF_FAULT) == {field.name for field in fields_of(Fault)}


def test_links_within_the_page_lead_somewhere() -> None:
    heads = {
        head.lower().replace(" ", "-") for head in re.findall(r"^#+ (.*)$", TEXT, re.MULTILINE)
    }
    assert set(re.findall(r"\]\(#([^)]*)\)", TEXT)) <= heads


# Examples.


def test_every_json_example_is_of_a_kind_that_is_tested() -> None:
    kinds = {rest.strip() for lang, rest, _ in BLOCK.findall(TEXT) if lang == "json"}
    assert kinds == {"referee", "bot", "record", *(f"events {name}" for name in BUNDLED)}
    fenced = "".join(body for _, _, body in BLOCK.findall(TEXT))
    assert TEXT.count('{"type":') == fenced.count('{"type":'), "an example outside of a block"


@pytest.mark.parametrize("line", lines("referee"))
def test_a_message_of_the_referee(line: str) -> None:
    assert to_bot(line)


@pytest.mark.parametrize("line", lines("bot"))
def test_a_message_of_a_bot(line: str) -> None:
    kind, _ = decode_line(line.encode())
    assert kind == json.loads(line).get("type", "move")


def test_every_message_has_an_example() -> None:
    assert {json.loads(line)["type"] for line in lines("referee")} == set(FIELDS_TO_BOT)
    assert {json.loads(line).get("type", "move") for line in lines("bot")} == set(FIELDS_FROM_BOT)


def test_the_conversation() -> None:
    (block,) = blocks("text", "conversation")
    session = Session()
    session.hello("0.1.0")
    for line in block.splitlines():
        arrow, said = line.split(" ", 1)
        if arrow == "→":
            message = to_bot(said)
            if isinstance(message, Turn):
                assert session.ask() == message.id
        else:
            session.receive(said.encode() + b"\n")
            assert session.state is State.PLAYING
    assert session.dropped == 0
    assert json.loads(said) == {"type": "bye"}


@pytest.mark.parametrize("text", blocks("json", "record"))
def test_a_record_is_read_and_judged_again(text: str) -> None:
    line = text.replace("\n ", "").strip().encode()
    record = read_record(line)
    assert json.loads(encode_record(record)) == json.loads(text)
    report = verify([line + b"\n"])
    assert (report.judged, report.mismatches) == (1, [])
    game = replay(record)
    outcome = game.variant.outcome(game.end)
    assert record.scores == game.variant.scores(game.end)
    assert (outcome is not None) == (record.ending is Ending.RULES)
    if outcome is not None:
        assert (record.winner, record.reason) == (outcome.winner, outcome.reason)


def test_the_table_of_moves() -> None:
    rows = re.findall(
        r"^\| ((?:`[^`]+`,? ?)+)[^|]*\| (taken|`illegal`|`garbled`)", TEXT, re.MULTILINE
    )
    verdicts = {"`illegal`": IllegalMove, "`garbled`": UnreadableMove}
    underdog = Underdog()
    start = underdog.setup(None)  # type: ignore[arg-type]
    without_five = underdog.apply(start, ((0, 5), (1, 5)), None)  # type: ignore[arg-type]
    moves = 0
    for cell, verdict in rows:
        for raw in map(json.loads, re.findall(r"`([^`]+)`", cell)):
            moves += 1
            if verdict == "taken":
                assert underdog.read_move(start, 0, raw) == raw
            else:
                with pytest.raises(verdicts[verdict]):
                    underdog.read_move(without_five, 0, raw)
    assert moves == 10


# The bot.


@pytest.mark.parametrize("variant", BUNDLED)
def test_the_ten_line_bot_plays_every_variant(variant: str, tmp_path: Path) -> None:
    (source,) = blocks("python", "")
    assert len([line for line in source.splitlines() if line]) == 10
    (tmp_path / "bot.py").write_text(source, encoding="utf-8")
    bot = f"mine={sys.executable} {tmp_path / 'bot.py'}"
    records: list[Record] = []
    result = play_match(
        bot,
        bot,
        variant=variant,
        games=4,
        seed="doc",
        time="20s",
        pin=False,
        on_record=records.append,
    )
    assert [record.ending for record in records] == [Ending.RULES] * 4
    assert result.faults == []
    assert verify(encode_record(record) + b"\n" for record in records).judged == 4


# Views and events.


def kind_of(value: object) -> str:
    names = {bool: "true or false", int: "integer", str: "text", type(None): "null"}
    return "list of integer" if isinstance(value, list) else names[type(value)]


def leaves(value: dict[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Every path to a value in a view or an event, and the value's type."""
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from leaves(inner, f"{before}{key}.")
        else:
            yield before + key, kind_of(inner)


def real_games(name: str) -> Iterator[tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
    """The views and the events of random games, as they are on the wire."""
    for options in ({}, OTHER_OPTIONS[name]):
        variant = build_variant(name, options)
        for seed in range(GAMES):
            game = random_game(variant, f"document/{seed}")
            views: list[dict[str, Any]] = []
            events: list[dict[str, Any]] = []
            for number, plays in enumerate(game.rounds):
                before, after = game.positions[number : number + 2]
                views += [variant.view(before, seat) for seat in variant.actors(before)]
                for seat in (0, 1):
                    events += variant.events(before, plays, after, seat)
            yield msgspec.json.decode(msgspec.json.encode((views, events)))


def types_of(values: list[dict[str, Any]]) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for value in values:
        for path, kind in leaves(value):
            found.setdefault(path, set()).add(kind)
    return {path: " or ".join(sorted(kinds)) for path, kinds in found.items()}


@pytest.mark.parametrize("name", BUNDLED)
def test_the_view_is_as_the_table_says(name: str) -> None:
    views = [view for game in real_games(name) for view in game[0]]
    assert len({tuple(path for path, _ in leaves(view)) for view in views}) == 1
    table = section(name).partition("#### View")[2].partition("####")[0]
    assert dict(ROW.findall(table)) == types_of(views)


@pytest.mark.parametrize("name", BUNDLED)
def test_the_events_are_as_the_tables_say(name: str) -> None:
    kinds: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for _, events in real_games(name):
        for event in events:
            kinds.setdefault(tuple(path for path, _ in leaves(event)), []).append(event)
    text = section(name).partition("#### Events")[2].partition("####")[0]
    tables = [dict(ROW.findall(part)) for part in text.split("| field | type | meaning |")[1:]]
    real = [types_of(events) for events in kinds.values()]
    assert sorted(map(sorted, tables)) == sorted(map(sorted, real))
    assert all(table in real for table in tables)


@pytest.mark.parametrize("name", BUNDLED)
def test_the_examples_of_a_variant_look_like_real_ones(name: str) -> None:
    views, events = zip(*real_games(name), strict=True)
    real_view = {path for path, _ in leaves(views[0][0])}
    real_events = {tuple(path for path, _ in leaves(event)) for game in events for event in game}
    examples = [json.loads(line) for line in lines(f"events {name}")]
    assert {tuple(path for path, _ in leaves(event)) for event in examples} == real_events
    (turn,) = map(json.loads, lines("referee", section(name)))
    assert {path for path, _ in leaves(turn["view"])} == real_view
    assert {tuple(path for path, _ in leaves(event)) for event in turn["events"]} <= real_events


def test_the_other_examples_are_of_underdog() -> None:
    views, events = zip(*real_games("underdog"), strict=True)
    for kind in ("turn", "over"):
        (line,) = (
            line for line in lines("referee") if line.startswith(f'{{"type":"{kind}","game":"17"')
        )
        message = json.loads(line)
        assert all(list(event) == list(events[0][0]) for event in message["events"])
        if kind == "turn":
            assert dict(leaves(message["view"])) == dict(leaves(views[0][0]))
