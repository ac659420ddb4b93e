"""Records that somebody, or some disk, has changed at random: never anything but a verdict."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from referee.record import BadRecord, read_record
from referee.replaying import Mismatch, replay
from referee.rules.registry import BadVariant
from referee.verifying import verify
from tests.records import FAULTY, VARIANTS, faulty, fields, games

LINES = st.sampled_from([*VARIANTS, *FAULTY]).map(
    lambda name: games(name)[0] if name in VARIANTS else faulty(name)
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 40),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False),
    st.sampled_from(
        ["rules", "void", "illegal", "timeout", "host_stall", "deck", "yes", "+1", "0"]
    ),
    st.text(max_size=8),
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


def mutate(value: Any, data: st.DataObject) -> Any:
    """One change somewhere in the value: another value, less, more, or another order."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 9)):
        key = data.draw(st.sampled_from(sorted(value)))
        if not data.draw(st.integers(0, 7)):
            del value[key]
        else:
            value[key] = mutate(value[key], data)
        return value
    if isinstance(value, list) and value:
        how = data.draw(st.sampled_from(["inside", "inside", "less", "twice", "reverse", "other"]))
        at = data.draw(st.integers(0, len(value) - 1))
        if how == "inside":
            value[at] = mutate(value[at], data)
        elif how == "less":
            del value[at]
        elif how == "twice":
            value.insert(at, copy.deepcopy(value[at]))
        elif how == "reverse":
            value.reverse()
        else:
            return data.draw(JSON)
        return value
    return data.draw(JSON)


def look_at(line: bytes) -> None:
    """All that can be done with a line of a file."""
    with suppress(BadRecord, BadVariant):
        report = verify([line])
        assert report.records == report.judged + report.attested + len(report.mismatches)
    with suppress(BadRecord, BadVariant, Mismatch):
        told = list(replay(read_record(line.rstrip(b"\n"))).tell())
        assert all(isinstance(each, str) for each in told)


@settings(max_examples=250)
@given(st.data())
def test_changed_values(data: st.DataObject) -> None:
    changed = fields(data.draw(LINES))
    for _ in range(data.draw(st.integers(1, 3))):
        changed = mutate(changed, data)
    look_at(json.dumps(changed).encode() + b"\n")


@settings(max_examples=150)
@given(st.data())
def test_changed_bytes(data: st.DataObject) -> None:
    line = bytearray(json.dumps(fields(data.draw(LINES))).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(line) - 1))
        if data.draw(st.booleans()):
            line[at] = data.draw(st.integers(0, 255).filter(lambda byte: byte != 10))
        else:
            line[at : at + data.draw(st.integers(0, 20))] = data.draw(
                st.binary(max_size=4).filter(lambda new: b"\n" not in new)
            )
    look_at(bytes(line) + b"\n")


@settings(max_examples=100)
@given(st.binary(max_size=200))
def test_any_bytes_at_all(line: bytes) -> None:
    look_at(line.replace(b"\n", b"") + b"\n")
