"""Times per move in buckets, so that a percentile over millions of moves needs a few hundred rows.

Below 64 µs a bucket is a microsecond. Above, every octave has 32 buckets, so that the middle of a
bucket is within 1/64 of any time in it. Buckets go on without a gap: 63 is 63 µs, 64 is 64 and
65 µs, 96 is 128 to 131 µs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, compress

import msgspec
from msgspec import MsgspecError, Struct

from referee.record import Record
from referee.store.rows import GameRow, TimesRow


def bucket_of(us: int) -> int:
    """The bucket of a time in microseconds."""
    if us < 64:
        return us
    octave = us.bit_length() - 6
    return octave * 32 + (us >> octave)


def value_of(bucket: int) -> int:
    """The middle of a bucket, in microseconds."""
    if bucket < 64:
        return bucket
    octave = bucket // 32 - 1
    return ((bucket - octave * 32) << octave) + (1 << octave >> 1)


class Spent(Struct):
    """Of a record, what the times of its moves are counted from."""

    moves: list[tuple[int, int | str]]
    spent_us: list[int]


def count_times(
    pairing: int, bots: tuple[int, int], records: Sequence[Spent | Record]
) -> Iterator[TimesRow]:
    """The times of the moves in some games of a pairing with the same seating."""
    seats = [seat for record in records for seat, _ in record.moves]
    spent_us = list(chain.from_iterable([record.spent_us for record in records]))
    # Times are counted before they are put into buckets: most of them are alike.
    second = Counter(compress(spent_us, seats))
    for bot, counts in zip(bots, (Counter(spent_us) - second, second), strict=True):
        moves: dict[int, int] = {}
        for us, times in counts.items():
            bucket = bucket_of(us)
            moves[bucket] = moves.get(bucket, 0) + times
        yield TimesRow(pairing, bot, moves)


def times_of(games: Iterable[GameRow]) -> Iterator[TimesRow]:
    """The times of the moves of these games, read from their records."""
    for game in games:
        # Of what is no record, nothing is known.
        with suppress(MsgspecError):
            yield from count_times(game.pairing, (game.first, game.second), [_read(game.record)])


_read = msgspec.msgpack.Decoder(Spent).decode
