"""Whoever changes a record is found out, and told in which field: every field, one by one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from referee.record import BadRecord, Record, read_record
from referee.schedule import ATTEMPTS
from referee.verdict import Fault
from tests.records import Fields, faulty, fields, games, judge, with_notes

ATTESTED: dict[str, tuple[Any, str]] = {
    "game": ("99", "a name, which means something in its match alone"),
    "pair": (99, "which games belong together is known to the schedule alone"),
    "tournament": ("cup", "a name"),
    "clock": (
        {"move_ms": 1, "bank_ms": None, "increment_ms": None, "grace_ms": 0},
        "what the bots were granted; the times are attested, and so is what they are held against",
    ),
    "bots": ([{"version": "2", "hash": "0"}] * 2, "which files were run is gone with them"),
    "started": ("2001-01-01T00:00:00.000Z", "the referee's clock"),
    "level": ("strict", "how the bots were confined"),
    "bot_seeds": ([1, 2], "what the bots were sent; no rule depends on it"),
    "dropped": (7, "lines that left no other trace"),
    "fault.detail": ("it was so", "prose"),
    "fault.limit_us": (1, "the clock, the grace and the warm-up of that moment"),
}
"""What nothing else in a record contradicts: it is only as true as the referee that wrote it."""

Change = Callable[[Any], Any]


class Case(NamedTuple):
    game: Callable[[], Record]
    path: str
    change: Change
    found_in: str | None = None
    """The field that `verify` names, where the change makes another one wrong (a pattern)."""


def to(value: object) -> Change:
    return lambda _: value


def rules_of(variant: str) -> Callable[[], Record]:
    return lambda: games(variant)[0]


def fault_of(name: str) -> Callable[[], Record]:
    return lambda: faulty(name)


underdog, difference, duel, deck = map(rules_of, ("underdog", "difference", "duel", "deck"))
illegal, timeout, void = map(fault_of, ("illegal", "timeout", "void"))

CASES = {
    "format": Case(underdog, "format", to(2)),
    "attempt": Case(underdog, "attempt", to(ATTEMPTS + 1)),
    "variant: another": Case(underdog, "variant", to("difference"), "options"),
    "variant: a path": Case(underdog, "variant", to("/dev/zero")),
    "variant: a script": Case(underdog, "variant", to("evil.py")),
    "rules": Case(underdog, "rules", to(2)),
    "options: unknown": Case(underdog, "options", lambda old: old | {"sizes": 9}),
    "options: out of range": Case(underdog, "options", lambda old: old | {"size": 0}),
    "options: as text": Case(underdog, "options", lambda old: old | {"size": "10"}),
    "options: left out": Case(underdog, "options", to({"size": 10})),
    "options: another game": Case(
        underdog, "options", lambda old: old | {"points": 1}, r"moves\[\d+\]|scores"
    ),
    "players": Case(underdog, "players", to(["a", "a"])),
    "chance: where there is none": Case(underdog, "chance", to([0])),
    "chance: missing": Case(duel, "chance", to([])),
    "chance: too long": Case(duel, "chance", lambda old: [*old, 0]),
    "chance: no seat": Case(duel, "chance", to([2])),
    "chance: a list": Case(duel, "chance", to([[0]])),
    "chance: the other seat": Case(duel, "chance", lambda old: [1 - old[0]], r"moves\[0\]"),
    "chance: no deck": Case(deck, "chance", to([])),
    "chance: a card too few": Case(deck, "chance", lambda old: [old[0][1:], *old[1:]]),
    "chance: a card twice": Case(deck, "chance", lambda old: [[old[0][0], *old[0][:-1]]]),
    "chance: a number": Case(deck, "chance", to([5])),
    "chance: another hand": Case(
        deck, "chance", lambda old: [old[0][::-1], *old[1:]], r"moves\[\d+\]|scores"
    ),
    "moves: illegal": Case(underdog, "moves", lambda old: [[0, 99], *old[1:]], r"moves\[0\]"),
    "moves: used up": Case(
        underdog, "moves", lambda old: [*old[:2], [0, old[0][1]], *old[3:]], r"moves\[2\]"
    ),
    "moves: text": Case(underdog, "moves", lambda old: [[0, "5"], *old[1:]], r"moves\[0\]"),
    "moves: wrong seat": Case(underdog, "moves", lambda old: old[::-1], r"moves\[0\]"),
    "moves: wrong seat, in turn": Case(
        duel, "moves", lambda old: [[1 - old[0][0], old[0][1]], *old[1:]], r"moves\[0\]"
    ),
    "moves: extra": Case(underdog, "moves", lambda old: [*old, *old[:2]], "spent_us"),
    "moves: missing": Case(underdog, "moves", lambda old: old[:-2], "spent_us"),
    "spent_us: short": Case(underdog, "spent_us", lambda old: old[1:]),
    "spent_us: long": Case(underdog, "spent_us", lambda old: [*old, 0]),
    "cpu_us": Case(underdog, "cpu_us", to([1])),
    "notes: no number": Case(with_notes, "notes", to({"first": "x"})),
    "notes: beyond the moves": Case(with_notes, "notes", to({"99": "x"})),
    "notes: negative": Case(with_notes, "notes", to({"-1": "x"})),
    "notes: other digits": Case(with_notes, "notes", to({"٣": "x"})),
    "notes: a zero before": Case(with_notes, "notes", to({"00": "x"})),
    "notes: endless": Case(with_notes, "notes", to({"9" * 5_000: "x"})),
    "ending: a fault": Case(underdog, "ending", to("crash")),
    "ending: void": Case(underdog, "ending", to("void")),
    "ending: a stall": Case(underdog, "ending", to("host_stall")),
    "ending: by the rules": Case(illegal, "ending", to("rules")),
    "ending: another fault": Case(illegal, "ending", to("timeout")),
    "reason": Case(underdog, "reason", to("more_points")),
    "reason: of a fault": Case(illegal, "reason", to("timeout")),
    "reason: of a void game": Case(void, "reason", to("illegal")),
    "winner: the other": Case(underdog, "winner", lambda old: 1 - old),
    "winner: nobody": Case(underdog, "winner", to(None)),
    "winner: by fault": Case(illegal, "winner", lambda old: 1 - old),
    "winner: of a void game": Case(void, "winner", to(0)),
    "at_fault": Case(underdog, "at_fault", to([1])),
    "at_fault: the other": Case(illegal, "at_fault", lambda old: [1 - old[0]]),
    "at_fault: nobody": Case(illegal, "at_fault", to([])),
    "at_fault: one of two": Case(void, "at_fault", to([0])),
    "scores": Case(underdog, "scores", lambda old: [old[0] + 1, old[1]]),
    "scores: swapped": Case(difference, "scores", lambda old: [old[0] + 1, old[1] - 1]),
    "scores: at a fault": Case(illegal, "scores", lambda old: [old[0] - 1, old[1]]),
    "fault: of nobody": Case(underdog, "fault", lambda _: fields(illegal())["fault"]),
    "fault: missing": Case(illegal, "fault", to(None)),
    "fault: missing, of two": Case(void, "fault", to(None), "other_fault"),
    "other_fault: alone": Case(underdog, "other_fault", lambda _: fields(illegal())["fault"]),
    "other_fault: of one fault": Case(illegal, "other_fault", lambda _: fields(void())["fault"]),
    "fault.seat: the other": Case(illegal, "fault.seat", lambda old: 1 - old),
    "fault.seat: at once": Case(
        fault_of("illegal, both at once"), "fault.seat", lambda old: 1 - old
    ),
    "fault.seat: of two": Case(void, "fault.seat", lambda old: 1 - old),
    "fault.seat: no seat": Case(illegal, "fault.seat", to(2)),
    "other_fault.seat": Case(void, "other_fault.seat", lambda old: 1 - old),
    "fault.seat: at the start": Case(
        fault_of("void, no start"), "fault.seat", lambda old: 1 - old, "other_fault.seat"
    ),
    "fault.turn": Case(illegal, "fault.turn", lambda old: old - 1),
    "fault.turn: attested": Case(timeout, "fault.turn", lambda old: old + 1),
    "fault.turn: at the start": Case(fault_of("no_start"), "fault.turn", to(2)),
    "other_fault.turn": Case(void, "other_fault.turn", lambda old: old + 1),
    "fault.code: another": Case(illegal, "fault.code", to("crash")),
    "fault.code: no fault": Case(void, "fault.code", to("rules")),
    "fault.code: one of the start": Case(void, "fault.code", to("no_start"), "moves"),
    "other_fault.code: a graver one": Case(void, "other_fault.code", to("crash"), "fault"),
    "fault.received: legal": Case(illegal, "fault.received", to('{"id":1,"move":5}')),
    "fault.received: garbled": Case(illegal, "fault.received", to('{"id":1,"move":true}')),
    "fault.received: no move": Case(illegal, "fault.received", to('{"type":"pong"}')),
    "fault.received: nothing": Case(illegal, "fault.received", to("")),
    "other_fault.received": Case(
        fault_of("void, both illegal"), "other_fault.received", to('{"id":1,"move":5}')
    ),
    "fault.spent_us": Case(timeout, "fault.spent_us", to(1)),
}


def tamper(record: Record, path: str, change: Change) -> Fields:
    """The record with one field changed; a dot leads into a part."""
    changed = fields(record)
    within, _, last = path.rpartition(".")
    part = changed[within] if within else changed
    before = part.get(last)
    part[last] = change(before)
    assert part[last] != before, "nothing was changed"
    return changed


@pytest.mark.parametrize("name", CASES)
def test_a_changed_field_is_named(name: str) -> None:
    case = CASES[name]
    changed = tamper(case.game(), case.path, case.change)
    report = judge(games("target")[0], changed, games("target")[1])
    (finding,) = report.mismatches
    assert (finding.line, finding.game) == (2, changed["game"])
    assert re.fullmatch(case.found_in or re.escape(case.path), finding.field), finding
    assert finding.why


def test_moves_and_times_that_were_changed_together() -> None:
    """`spent_us` has a number for each of the moves: here it is made to fit."""
    game = fields(games("underdog")[0])
    moves, last = game["moves"], len(game["moves"])

    def field_found(changed: list[Any]) -> str:
        report = judge(game | {"moves": changed, "spent_us": [0] * len(changed)})
        return report.mismatches[0].field

    unused = [next(n for n in range(1, 11) if [seat, n] not in moves) for seat in (0, 1)]
    assert field_found([*moves, [0, unused[0]], [1, unused[1]]]) == f"moves[{last}]"
    assert field_found(moves[:-1]) == f"moves[{last - 2}]"
    assert field_found(moves[:-2]) == "ending"
    assert field_found([]) == "ending"


def test_what_can_only_be_attested_is_known_and_passes() -> None:
    for path, (value, _) in ATTESTED.items():
        record = timeout() if path.startswith("fault") else games("underdog")[0]
        assert judge(tamper(record, path, to(value))).mismatches == [], path


def test_every_field_is_either_judged_or_attested() -> None:
    judged = {case.path for case in CASES.values()} | set(ATTESTED)
    assert {path.partition(".")[0] for path in judged} == set(Record.__struct_fields__)
    faults = {path.partition(".")[2] for path in judged if "." in path}
    assert faults == set(Fault.__struct_fields__)


def test_unused_cards_are_attested() -> None:
    """Nobody saw the last cards of the pile: no rule tells in which order they lay."""
    game = fields(games("deck")[0])
    first, *rest = game["chance"]
    assert not rest, "this game shuffled again"
    drawn = 6 + len(game["moves"])
    changed = [*first[:drawn], *sorted(first[drawn:])]
    assert changed != first
    assert judge(game | {"chance": [changed]}).mismatches == []


# What is no record at all.


@pytest.mark.parametrize("field", [f for f in Record.__struct_fields__ if f != "other_fault"])
def test_a_missing_field_is_named(field: str) -> None:
    game = fields(games("underdog")[0])
    del game[field]
    with pytest.raises(BadRecord, match=rf"\b{field}\b"):
        judge(game)


@pytest.mark.parametrize("field", Record.__struct_fields__)
def test_a_wrong_type_is_named(field: str) -> None:
    wrong: list[object] = [{"x": []}, True, 1.5]
    for value in wrong:
        with pytest.raises(BadRecord, match=rf"\b{field}\b"):
            judge(fields(games("underdog")[0]) | {field: value})


@pytest.mark.parametrize("path", ["", "clock", "fault"])
def test_an_unknown_field_is_named(path: str) -> None:
    game = fields(faulty("illegal"))
    (game[path] if path else game)["cheers"] = 1
    with pytest.raises(BadRecord, match=r"cheers"):
        judge(game)


@pytest.mark.parametrize("field", Fault.__struct_fields__)
def test_a_missing_field_of_a_fault_is_named(field: str) -> None:
    game = fields(faulty("illegal"))
    del game["fault"][field]
    with pytest.raises(BadRecord, match=field):
        judge(game)


def test_a_later_format_is_called_one() -> None:
    later = fields(games("underdog")[0]) | {"format": 2, "cheers": 1}
    with pytest.raises(BadRecord, match=r"^format is 2; this referee reads 1$"):
        read_record(json.dumps(later).encode())
