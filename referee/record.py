"""What a finished game was: one value, one JSON object, enough to judge the game again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from referee.clock import Clock
from referee.mistake import Mistake
from referee.protocol.codec import Garbled, read_object
from referee.verdict import UNRATED, Ending, Fault

FORMAT = 1
LONGEST_LINE = 16 * 1024 * 1024

SeatNumber = Annotated[int, Meta(ge=0, le=1)]
Micros = Annotated[int, Meta(ge=0)]


class BadRecord(Mistake):
    """A line that is no record; the message says where and what is wrong."""


class BotInfo(Struct, frozen=True, forbid_unknown_fields=True):
    """Which version of a bot played."""

    version: str
    hash: str


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """One game. protocol.md says what each field means."""

    format: int = FORMAT
    game: str
    pair: Annotated[int, Meta(ge=1)]
    attempt: Annotated[int, Meta(ge=1)]
    tournament: str | None
    variant: str
    rules: int
    options: dict[str, int | str]
    clock: Clock
    players: tuple[str, str]
    bots: tuple[BotInfo, BotInfo]
    started: str
    level: str
    bot_seeds: tuple[int, int]
    chance: list[int | list[int]]
    moves: list[tuple[SeatNumber, int | str]]
    spent_us: list[Micros]
    cpu_us: list[Micros]
    notes: dict[str, str]
    dropped: Annotated[int, Meta(ge=0)]
    ending: Ending
    reason: str
    winner: SeatNumber | None
    at_fault: tuple[SeatNumber, ...]
    scores: tuple[int, int]
    fault: Fault | None
    other_fault: Fault | UnsetType = UNSET
    """The second fault of a void game in which both seats were at fault; else left out."""

    @property
    def rated(self) -> bool:
        """Whether the game says anything about the strength of the players."""
        return self.ending not in UNRATED

    def faults(self) -> tuple[Fault, ...]:
        """Every fault in the game: none, one, or one of each seat."""
        if self.fault is None:
            return ()
        return (self.fault,) if self.other_fault is UNSET else (self.fault, self.other_fault)

    def points(self) -> tuple[float, float]:
        """Points in seat order: 1, ½ or 0; nothing for either in a void game."""
        if self.winner is not None:
            return (1.0, 0.0) if self.winner == 0 else (0.0, 1.0)
        return (0.5, 0.5) if self.ending is Ending.RULES else (0.0, 0.0)


encode_record = msgspec.json.Encoder().encode
"""A record as one JSON object, without the line end."""


def read_record(line: bytes) -> Record:
    """The record in one line of JSON. Raises BadRecord."""
    try:
        fields = read_object(line, limit=LONGEST_LINE)
    except Garbled as garbled:
        raise BadRecord(
            str(garbled).removesuffix("; stdout is for the protocol; log to stderr")
        ) from None
    try:
        record = msgspec.convert(fields, Record, strict=True)
    except msgspec.ValidationError as error:
        newer = fields.get("format", FORMAT)
        if newer != FORMAT:
            raise BadRecord(f"format is {_short(newer)}; this referee reads {FORMAT}") from None
        raise BadRecord(_short(error)) from None
    _check_keys(fields, msgspec.to_builtins(record))
    return record


def _check_keys(given: dict[str, Any], read: dict[str, Any], within: str = "") -> None:
    """That nothing was left out or passed over in silence, in the record or in its parts."""
    for key in sorted(given.keys() ^ read.keys()):
        trouble = "is missing" if key in read else "is no field of a record"
        raise BadRecord(f"{_short(within + key)} {trouble}")
    for key in ("clock", "fault", "other_fault"):
        if isinstance(read.get(key), dict) and not within:
            _check_keys(given[key], read[key], f"{key}.")


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 200 else text[:199] + "…"


def lines_of(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a file; one without end is cut, so that it cannot fill the memory."""
    return iter(lambda: file.readline(LONGEST_LINE + 2), b"")


def read_records(lines: Iterable[bytes]) -> Iterator[tuple[int, Record]]:
    """Line numbers and records. Raises BadRecord, which names the line."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if not line.endswith(b"\n"):
            hint = " (the file is cut off: its last line has no end)"
        else:
            hint = ""
        try:
            yield number, read_record(line.rstrip(b"\r\n"))
        except BadRecord as bad:
            raise BadRecord(f"line {number}: {bad}{hint}") from None
