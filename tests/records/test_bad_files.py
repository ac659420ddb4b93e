"""Files that hold no records: one sentence with the number of the line, whatever is in them."""

from __future__ import annotations

import json

import pytest

from referee.record import BadRecord, encode_record, read_records
from referee.verifying import verify
from tests.facts import Naming
from tests.records import fields, games

CUT = " (the file is cut off: its last line has no end)"


def good() -> bytes:
    return encode_record(games("underdog")[0]) + b"\n"


def changed(**values: object) -> bytes:
    return json.dumps(fields(games("underdog")[0]) | values).encode()


BAD: dict[str, tuple[bytes, str | Naming]] = {
    "not JSON": (b"game 7: a won", "not JSON (expecting value at column 1)"),
    "binary": (bytes(range(256)).replace(b"\n", b""), "not UTF-8: byte 0x80 at position 127"),
    "zero bytes": (b"\0" * 100, "not JSON (expecting value at column 1)"),
    "compressed": (b"\x1f\x8b\x08\x00\x00", "not UTF-8: byte 0x8b at position 1"),
    "a mark before": (
        b"\xef\xbb\xbf{}",
        Naming("byte order mark", "UTF-8"),
    ),
    "a list": (b"[]", Naming("a list where")),
    "a number": (b"7", Naming("a number where")),
    "two objects": (b"{}{}", "not JSON (extra data at column 3)"),
    "nothing in it": (b"{}", "Object missing required field `game`"),
    "a key twice": (b'{"game":"1","game":"2"}', 'the key "game" appears twice'),
    "a huge number": (b'{"game":1e999}', 'the number "1e999" is too large'),
    "a long number": (
        b'{"game":' + b"9" * 5_000 + b"}",
        "an integer beyond ±2^53 (5000 digits)",
    ),
    "NaN": (b'{"game":NaN}', "NaN is not JSON"),
    "a lone surrogate": (rb'{"game":"\ud800"}', Naming("lone surrogate")),
    "deep lists": (b'{"game":' + b"[" * 100_000, "nested deeper than 32 levels"),
    "deep objects": (b'{"a":' * 100_000, "nested deeper than 32 levels"),
    "20 MB": (
        b'{"game":"' + b"x" * 20_000_000 + b'"}',
        Naming("a line of 20000011 bytes", 16_777_216),
    ),
    "only spaces inside": (b"   x", "not JSON (expecting value at column 4)"),
}


@pytest.mark.parametrize("name", BAD)
def test_the_sentence_names_the_line(name: str) -> None:
    line, sentence = BAD[name]
    for lines in ([good(), b"\n", line + b"\n"], [good(), b"\n", line + b"\n", good()]):
        with pytest.raises(BadRecord) as bad:
            verify(lines)
        assert str(bad.value).startswith("line 3: ")
        assert str(bad.value).removeprefix("line 3: ") == sentence


@pytest.mark.parametrize(
    "value",
    [
        {"ending": "x" * 100_000},
        {"x" * 100_000: 1},
        {"fault": {"x" * 100_000: 1}},
        {"format": "x" * 100_000, "cheers": 1},
    ],
    ids=["ending", "field", "part", "format"],
)
def test_a_sentence_stays_short(value: dict[str, object]) -> None:
    with pytest.raises(BadRecord) as bad:
        verify([changed(**value)])
    assert len(str(bad.value)) < 350


def test_a_mismatch_stays_short() -> None:
    for value in ({"reason": "x" * 100_000}, {"variant": "y" * 1_000 + ".py"}):
        (finding,) = verify([changed(**value)]).mismatches
        assert len(finding.why) < 350


@pytest.mark.parametrize("left", [1, 100, 300])
def test_a_file_that_was_cut_off_is_called_so(left: int) -> None:
    whole = good()
    with pytest.raises(BadRecord) as bad:
        verify([whole, whole[:left]])
    assert str(bad.value).startswith("line 2: not JSON (")
    assert str(bad.value).endswith(CUT)


def test_a_whole_last_line_needs_no_end() -> None:
    assert verify([good(), good().rstrip()]).records == 2


def test_blank_lines_and_carriage_returns_are_passed_over() -> None:
    lines = [b"\n", b"  \t\r\n", good().replace(b"\n", b"\r\n"), b"\n", good(), b"\n"]
    assert [number for number, _ in read_records(lines)] == [3, 5]
    assert verify(lines).records == 2


@pytest.mark.parametrize("lines", [[], [b"\n"], [b""]])
def test_an_empty_file_holds_no_records(lines: list[bytes]) -> None:
    report = verify(lines)
    assert (report.records, report.judged, report.attested) == (0, 0, 0)


def test_what_comes_before_a_bad_line_is_read() -> None:
    found = read_records([good(), b"x\n"])
    assert next(found)[0] == 1
    with pytest.raises(BadRecord, match=r"^line 2: not JSON"):
        next(found)
