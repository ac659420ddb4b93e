"""What a record shows to everybody: all but what bots noted for their authors."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from referee.record import Record
from referee.reports.export import without_notes
from referee.verdict import Fault
from tests.records import faulty, judge, with_notes


def illegal(received: str) -> Record:
    record = faulty("illegal")
    assert isinstance(record.fault, Fault)
    return replace(record, fault=replace(record.fault, received=received))


def received(record: Record) -> str:
    assert record.fault is not None
    return record.fault.received


def test_notes_are_left_out() -> None:
    record = with_notes()
    assert record.notes
    assert without_notes(record) == replace(record, notes={})
    plain = faulty("timeout")
    assert without_notes(plain) == plain


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ('{"id":1,"move":99,"note":"secret"}', {"id": 1, "move": 99}),
        ('{"note": "secret", "id": 1, "move": "ä"}', {"id": 1, "move": "ä"}),
        ('{"id":1,"move":99,"n\\u006fte":"secret"}', {"id": 1, "move": 99}),
        ('{"id":1,"move":99}', {"id": 1, "move": 99}),
    ],
)
def test_a_quoted_answer_loses_its_note(sent: str, shown: object) -> None:
    public = received(without_notes(illegal(sent)))
    assert json.loads(public) == shown


@pytest.mark.parametrize(
    "sent", ['{"id":1,"move":99,"note":"secret and long…', '["note", "secret"]']
)
def test_what_cannot_be_read_is_cut_before_the_note(sent: str) -> None:
    public = received(without_notes(illegal(sent)))
    assert "secret" not in public
    assert public == sent[: sent.index('"note"')] + "…"


def test_both_faults_of_a_void_game() -> None:
    record = faulty("void")
    assert isinstance(record.fault, Fault)
    assert isinstance(record.other_fault, Fault)
    note = '{"id":1,"move":99,"note":"secret"}'
    record = replace(
        record,
        fault=replace(record.fault, received=note),
        other_fault=replace(record.other_fault, received=note),
    )
    public = without_notes(record)
    assert all("secret" not in fault.received for fault in public.faults())


def test_an_illegal_move_is_still_judged() -> None:
    record = faulty("illegal")
    noted = received(record).rstrip("}\n ") + ',"note":"secret"}'
    assert judge(illegal(noted)).judged == 1
    public = without_notes(illegal(noted))
    assert "secret" not in received(public)
    report = judge(public)
    assert (report.judged, report.mismatches) == (1, [])
