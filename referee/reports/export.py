"""Stored games as records again, in the order of the schedule.

What a bot noted for its author stays private unless it is asked for: the notes themselves, and the
note in an answer that was at fault, which the record quotes. The rest of a record is as it was, so
`verify` judges an export as it judges the original.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from referee.bots.manifest import BadBot
from referee.record import Record
from referee.rules.registry import BadVariant
from referee.store.database import BadStore, Store
from referee.verdict import Fault

_decode = msgspec.msgpack.Decoder(Record).decode
_NOTE = re.compile(r'"(n|\\u006e)(o|\\u006f)(t|\\u0074)(e|\\u0065)"', re.IGNORECASE)
"""The key of a note, however it is spelt in JSON."""


def exported(
    store: Store, *, private: bool = False, variant: str | None = None, bot: str | None = None
) -> Iterator[Record]:
    """The records of a tournament, or of one variant or one bot of it.

    Raises BadVariant or BadBot for one that does not take part, and BadStore.
    """
    wanted = _pairings(store, variant, bot)
    for pairing, number, body in store.records():
        if pairing not in wanted:
            continue
        record = decoded(store, pairing, number, body)
        yield record if private else without_notes(record)


def decoded(store: Store, pairing: int, number: int, body: bytes) -> Record:
    """A stored record. Raises BadStore."""
    try:
        return _decode(body)
    except msgspec.MsgspecError as error:
        told = f"{store.folder}: the record of game {pairing}-{number} cannot be read: {error}"
        raise BadStore(told) from None


def _pairings(store: Store, variant: str | None, bot: str | None) -> Collection[int]:
    rows = store.pairings()
    ids = {row.name: row.id for row in store.bots()}
    variants = list(dict.fromkeys(row.variant for row in rows))
    if variant is not None and variant not in variants:
        known = ", ".join(variants) or "none yet"
        raise BadVariant(f"there is no variant {variant!r} in this tournament; it has {known}")
    if bot is not None and bot not in ids:
        raise BadBot(f"there is no bot {bot!r} in this tournament; it has {', '.join(ids)}")
    return {
        row.id
        for row in rows
        if variant in (None, row.variant) and (bot is None or ids[bot] in (row.first, row.second))
    }


def without_notes(record: Record, kept: Collection[int] = ()) -> Record:
    """The record for everybody, or for the author of the bots in the seats that are `kept`."""
    if not record.notes and record.fault is None:
        return record
    other = record.other_fault
    return replace(
        record,
        notes={
            place: note
            for place, note in record.notes.items()
            if kept and record.moves[int(place)][0] in kept
        },
        fault=None if record.fault is None else _without_note(record.fault, kept),
        other_fault=UNSET if other is UNSET else _without_note(other, kept),
    )


def _without_note(fault: Fault, kept: Collection[int]) -> Fault:
    if fault.seat in kept:
        return fault
    key = _NOTE.search(fault.received)
    if key is None:
        return fault
    try:
        fields = json.loads(fault.received)
    except ValueError:
        # Cut or garbled: where the note ends cannot be known.
        return replace(fault, received=fault.received[: key.start()] + "…")
    if not isinstance(fields, dict):
        return replace(fault, received=fault.received[: key.start()] + "…")
    kept = {name: value for name, value in fields.items() if name != "note"}
    return replace(fault, received=json.dumps(kept, ensure_ascii=False, separators=(",", ":")))
