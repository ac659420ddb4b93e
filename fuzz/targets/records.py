"""A file of records: read, written again, judged, told and rated.

What must hold: a line is a record or a `BadRecord`; a record that is written reads back as the same
one, by the strict way and by the quick one of `rate`; judging and telling raise a `Mistake` or
nothing, and every record is counted once.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

import msgspec

from fuzz.counting import Counted, read_with
from fuzz.packages import looked_up_once
from referee.mistake import Mistake
from referee.record import BadRecord, Record, encode_record, read_record, read_records
from referee.replaying import replay
from referee.results.blocks import BadResults
from referee.results.records_file import RecordsReader
from referee.rules.registry import BadVariant
from referee.verifying import verify

_quickly = msgspec.json.Decoder(Record).decode


def try_it(data: bytes) -> None:
    lines = io.BytesIO(data).readlines()
    try:
        records = [record for _, record in read_records(lines)]
    except BadRecord:
        records = []
        _rate(data)
    else:
        _rate_all(data, records)
    with looked_up_once():
        for record in records:
            _write_again(record)
            _tell(record)
        _judge(lines)


def _write_again(record: Record) -> None:
    line = encode_record(record)
    assert read_record(line) == record, "what is written reads back as another record"
    assert _quickly(line) == record, "the quick way reads another record"
    assert encode_record(read_record(line)) == line


def _tell(record: Record) -> None:
    try:
        told = list(replay(record).tell())
    except Mistake:
        return
    assert all(isinstance(each, str) for each in told)


def _judge(lines: Sequence[bytes]) -> None:
    try:
        report = verify(lines)
    except (BadRecord, BadVariant):
        return
    assert report.judged >= 0
    assert report.attested >= 0
    assert report.records == report.judged + report.attested + len(report.mismatches)
    assert all(1 <= found.line <= len(lines) for found in report.mismatches)


def _rate(data: bytes) -> Counted | None:
    try:
        return read_with(RecordsReader, data)
    except BadResults:
        return None


def _rate_all(data: bytes, records: Sequence[Record]) -> None:
    """What is a file of records is one for `rate` too, and each of them counts or is left out."""
    counted = _rate(data)
    if counted is None:
        names = [record for record in records if "" in record.players or len({*record.players}) < 2]
        unwon = [each for each in records if each.rated and each.points() == (0.0, 0.0)]
        assert names or unwon, "rate refuses records that can be read"
        return
    assert len(counted.games) + sum(counted.skipped.values()) == len(records)
    rated = [record for record in records if record.rated]
    assert [(*each.players, each.points()[0]) for each in rated] == [
        (first, second, points / 2) for first, second, points, _ in counted.games
    ]
