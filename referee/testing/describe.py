"""The generated parts of protocol.md: all of them, and the command that writes them anew.

    python -m referee.testing.describe --write protocol.md

A generated part stands between two comments, `<!-- generated: NAME -->` and `<!-- end: NAME -->`.
What needs the protocol alone is made in `referee.protocol.describe`; here is what needs the rules,
the records or a game that is really played.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from referee.clock import Clock
from referee.protocol import describe as protocol
from referee.protocol.codec import encode
from referee.protocol.describe import field_rows, fields_of, table
from referee.protocol.messages import Over, Start, Turn
from referee.protocol.session import Session
from referee.record import Record
from referee.rules.chance import Recorded
from referee.rules.difference import Difference
from referee.rules.options import Option
from referee.rules.registry import BUNDLED, build_variant
from referee.rules.variant import Variant
from referee.testing.playthrough import OTHER_OPTIONS, random_game
from referee.verdict import Fault

AnyVariant = Variant[Any, Any]

PART = re.compile(r"<!-- generated: (\S+) -->\n(.*?)<!-- end: \1 -->", re.DOTALL)
MARK = re.compile(r"<!-- (?:generated|end): ")
GAMES = 20
"""How many games are played, with each set of options, to find an event of every kind."""

FIELDS_OF_RECORD: Mapping[str, str] = {
    "format": "version of this format, 1",
    "game": "name of the game in its match",
    "pair": "the pair of games that it belongs to, from 1; the two games of a pair have the same "
    "chance and swapped seats; a game whose chance no other has is a pair by itself",
    "attempt": "1, or more where a stall of the host or a bug of the referee made the game void "
    "and it was played again",
    "tournament": "name of the tournament, or null for a match of its own",
    "variant": "name of the variant",
    "rules": "version of its rules",
    "options": "every option of the variant with its value",
    "clock": "the time limits, as in `start`",
    "players": "names in seat order",
    "bots": "of each bot, in seat order, its `version` and a `hash` of its files",
    "started": "when it began, in UTC",
    "level": "how strictly the bots were confined: `full`, `standard` or `none`",
    "bot_seeds": "the `bot_seed` of each seat",
    "chance": "every random outcome in the order in which it was used",
    "moves": "[seat, move] in the order in which they took effect; of a round that both play at "
    "once, seat 0 first",
    "spent_us": "time that each of the `moves` took, in microseconds",
    "cpu_us": "CPU time that each of the `moves` took its bot, with what it used since its move "
    "before, in microseconds; empty where the bots played other games at the same time",
    "notes": "the bots' notes: place of the move in `moves`, counted from 0 and written as text, "
    "to note",
    "dropped": "answers of both bots that were dropped, because they were late or second ones; "
    "they count in the game that ends next",
    "ending": "`rules`, a blame code or another ending, see [Blame](#blame)",
    "reason": "with the ending `rules`, the variant's reason; else the blame code, "
    "`both_at_fault`, or what went wrong on the referee's side",
    "winner": "the seat that won, or null in a draw or a void game",
    "at_fault": "the seats that were at fault",
    "scores": "in seat order, at the end or where a fault ended the game; the variant says what "
    "they count",
    "fault": "the fault that decided the game, or null",
    "other_fault": "only in void games with both seats at fault: the other fault; `fault` is the "
    "one whose code comes first in the list of blame codes",
}

FIELDS_OF_FAULT: Mapping[str, str] = {
    "seat": "who was at fault",
    "turn": "the place in `moves` that the fault left empty, counted from 1",
    "code": "the blame code, or `forfeit`",
    "detail": "one sentence",
    "received": "what the bot had sent, cut after 200 bytes and with unprintable characters "
    "escaped",
    "spent_us": "for `timeout`: how long it took; else null",
    "limit_us": "for `timeout`: how long it might have taken, with grace and warm-up; else null",
}


def record_fields() -> str:
    return table(["field", "type", "meaning"], field_rows(fields_of(Record), FIELDS_OF_RECORD))


def fault_fields() -> str:
    return table(["field", "type", "meaning"], field_rows(fields_of(Fault), FIELDS_OF_FAULT))


def conversation() -> str:
    """A whole game of two rounds, as seat 0 sees it."""
    variant, luck = Difference(size=2), Recorded([])
    clock, seed = Clock(move_ms=1000), 4168182510844958
    session = Session()
    lines: list[str] = []

    def referee(said: bytes) -> None:
        lines.extend(f"→ {line}" for line in said.decode().splitlines())

    def bot(line: str) -> None:
        lines.append(f"← {line}")
        session.receive(line.encode() + b"\n")

    referee(session.hello("0.1.0"))
    bot('{"type":"hello","name":"mine"}')
    settings, rules = variant.settings, variant.rules
    referee(encode([Start("1", variant.name, rules, settings, 0, ("mine", "other"), clock, seed)]))
    position = variant.setup(luck)
    known: list[dict[str, Any]] = []
    for mine, theirs in ((1, 2), (2, 1)):
        turn_id = session.ask()
        view, legal = variant.view(position, 0), variant.legal(position, 0)
        referee(encode([Turn("1", turn_id, view, known, legal, clock.move_ms)]))
        bot(f'{{"id":{turn_id},"move":{mine}}}')
        plays = ((0, mine), (1, theirs))
        before, position = position, variant.apply(position, plays, luck)
        known = variant.events(before, plays, position, 0)
    outcome = variant.outcome(position)
    assert outcome is not None and outcome.winner == 0
    referee(encode([Over("1", "win", "rules", (), variant.scores(position), known)]))
    referee(session.bye())
    return "\n".join(["```text conversation", *lines, "```"])


# Variants.


def rules(variant: AnyVariant) -> str:
    """The rule book without its thoughts on best play."""
    book = variant.book().partition("\nBest play\n")[0].strip()
    return book.replace("\nRulings\n", "\nRulings:\n\n")


def options(variant: AnyVariant) -> str:
    rows = [
        [f"`{each.name}`", _default(each), each.allowed(), each.help] for each in variant.options
    ]
    return table(["option", "default", "allowed", "meaning"], rows)


def _default(option: Option) -> str:
    return "see there" if option.default is None else f"`{option.default}`"


def reasons(variant: AnyVariant) -> str:
    rows = [[f"`{reason}`", meaning] for reason, meaning in variant.reasons.items()]
    scores = f"The two `scores` count: {variant.scores_mean}."
    return f"{scores}\n\n{table(['reason', 'meaning'], rows)}"


def turn(variant: AnyVariant) -> str:
    """A turn of a real game: from its middle on, the first with the most to tell."""
    turns = list(_turns(variant, "doc"))
    shown = max(turns[len(turns) // 2 :], key=lambda turn: len(turn.events))
    line = encode([shown]).decode().strip()
    return f"```json referee\n{line}\n```"


def _turns(variant: AnyVariant, seed: str) -> Iterator[Turn]:
    """Every turn of a random game, as both seats are sent them."""
    session = Session()
    game = random_game(variant, seed)
    known: list[list[dict[str, Any]]] = [[], []]
    for number, plays in enumerate(game.rounds):
        before, after = game.positions[number : number + 2]
        for seat, _ in plays:
            view, legal = variant.view(before, seat), variant.legal(before, seat)
            yield Turn("1", session.ask(), view, known[seat], legal, 1000)
            known[seat] = []
        for seat in (0, 1):
            known[seat] += variant.events(before, plays, after, seat)


def events(variant: AnyVariant) -> str:
    """One event of each kind that occurs in random games. A kind is a set of fields."""
    kinds: dict[tuple[str, ...], dict[str, Any]] = {}
    for each in (variant, type(variant)(**OTHER_OPTIONS[variant.name])):
        for number in range(GAMES):
            game = random_game(each, f"doc/{number}")
            for at, plays in enumerate(game.rounds):
                before, after = game.positions[at : at + 2]
                for event in each.events(before, plays, after, 1):
                    kinds.setdefault(tuple(event), event)
    lines = [msgspec.json.encode(event).decode() for event in kinds.values()]
    return "\n".join([f"```json events {variant.name}", *lines, "```"])


def parts() -> dict[str, Callable[[], str]]:
    """Every generated part by its name."""
    found: dict[str, Callable[[], str]] = {
        **protocol.PARTS,
        "conversation": conversation,
        "record-fields": record_fields,
        "fault-fields": fault_fields,
    }
    for name in BUNDLED:
        variant = build_variant(name, {})
        for part in (rules, options, turn, events, reasons):
            found[f"{name}-{part.__name__}"] = partial(part, variant)
    return found


def refresh(text: str, known: Mapping[str, Callable[[], str]]) -> str:
    """A document with all its generated parts made anew. Raises KeyError on an unknown name."""
    fresh = PART.sub(
        lambda part: (
            f"<!-- generated: {part[1]} -->\n\n{known[part[1]]()}\n\n<!-- end: {part[1]} -->"
        ),
        text,
    )
    lost = len(MARK.findall(text)) - 2 * len(PART.findall(text))
    if lost:
        raise ValueError(f"{lost} comments of generated parts have no partner")
    return fresh


def main(arguments: list[str]) -> None:
    if len(arguments) != 2 or arguments[0] != "--write":
        sys.exit("usage: python -m referee.testing.describe --write protocol.md")
    path = Path(arguments[1])
    path.write_text(refresh(path.read_text(encoding="utf-8"), parts()), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
