"""Our own records: rated games with their pairs; the players are who they are called.

The two games of a pair are those of one tournament, variant and pair number in which the same two
players have swapped seats. A third one begins another pair: several matches can be in one file.
"""

from __future__ import annotations

from array import array

import msgspec

from referee.record import BadRecord, Record, read_record
from referee.results.blocks import BadResults, Blocks
from referee.results.collected import Collected, check_names
from referee.verdict import Ending

_quickly = msgspec.json.Decoder(Record).decode


class RecordsReader:
    """Reads one file into what is collected."""

    def __init__(self, collected: Collected) -> None:
        self._collected = collected
        self._open: dict[tuple[str | None, str, int, str, str], int] = {}
        """Pairs of which one game was seen; by what the other one is known by."""
        self._pairs = 0
        self._games = array("q")

    def read(self, blocks: Blocks) -> None:
        """All of a file. Raises BadResults."""
        number = 0
        for block in blocks:
            for line in block[:-1].split(b"\n"):
                number += 1
                if line and not line.isspace():
                    self._add(_record(line, number), number)
        self._collected.add_rows(self._games)

    def _add(self, record: Record, line: int) -> None:
        first, second = record.players
        try:
            check_names(first, second)
        except BadResults as bad:
            raise BadResults(f"line {line}: {bad}") from None
        seats = self._collected.player(first), self._collected.player(second)
        if not record.rated:
            self._collected.skipped["unrated"] += 1
            return
        if record.winner is None and record.ending is not Ending.RULES:
            raise BadResults(f"line {line}: ending is {record.ending.value}, and nobody has won")
        points = 1 if record.winner is None else 2 - 2 * record.winner
        self._games.extend((*seats, points, self._pair(record)))

    def _pair(self, record: Record) -> int:
        kind = record.tournament, record.variant, record.pair
        pair = self._open.pop((*kind, *record.players), None)
        if pair is None:
            first, second = record.players
            pair = self._open[*kind, second, first] = self._pairs
            self._pairs += 1
        return pair


def _record(line: bytes, number: int) -> Record:
    try:
        return _quickly(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return read_record(line.rstrip(b"\r"))
    except BadRecord as bad:
        raise BadResults(f"line {number}: {bad}") from None
