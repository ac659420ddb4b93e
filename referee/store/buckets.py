"""Times per move in buckets, so that a percentile over millions of moves needs a few hundred rows.

Below 64 µs a bucket is a microsecond. Above, every octave has 32 buckets, so that the middle of a
bucket is within 1/64 of any time in it. Buckets go on without a gap: 63 is 63 µs, 64 is 64 and
65 µs, 96 is 128 to 131 µs.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence


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


_QUICK = [bucket_of(us).to_bytes(2, "little") for us in range(4096)]
"""Most moves of quick bots: looked up, for workers pack thousands of games a second."""
_IN_TURN = [0, 1] * 500


def pack(times_us: Iterable[int]) -> bytes:
    """The buckets of some times, two bytes each, the low byte first."""
    return b"".join(_packed(times_us))


def pack_by_seat(seats: Sequence[int], times_us: Sequence[int]) -> tuple[bytes, bytes]:
    """The packed times of seat 0 and of seat 1, from the seat and the time of each move."""
    packed = _packed(times_us)
    if seats == _IN_TURN[: len(seats)]:
        # Both play at once, or in turn from seat 0: no need to look at every move.
        return b"".join(packed[0::2]), b"".join(packed[1::2])
    first = [each for seat, each in zip(seats, packed, strict=True) if seat == 0]
    second = [each for seat, each in zip(seats, packed, strict=True) if seat == 1]
    return b"".join(first), b"".join(second)


def _packed(times_us: Iterable[int]) -> list[bytes]:
    return [_QUICK[us] if us < 4096 else bucket_of(us).to_bytes(2, "little") for us in times_us]


def unpack(packed: bytes) -> tuple[int, ...]:
    """The buckets again."""
    return struct.unpack(f"<{len(packed) // 2}H", packed)
