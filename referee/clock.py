"""Time limits as values: what a bot may take, and what of it is charged.

Two kinds, alone or together: a limit for every move, and a bank for the whole game with an
increment after every move. The grace covers the way through pipes and schedulers: an answer that
is late by less is taken, and the bank is charged at most what it held, never the grace.
"""

from __future__ import annotations

import re

from msgspec import Struct

from referee.mistake import Mistake

NS_PER_MS = 1_000_000
DEFAULT_TIME = "1s"
"""For every move."""
DEFAULT_GRACE_MS = 50
DEFAULT_WARM_UP_MS = 1_000
DEFAULT_STARTUP_MS = 10_000
DEFAULT_BUILD_MS = 120_000

_UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000}
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|min|m|h)", re.ASCII)
_LONGEST_MS = 7 * 24 * 3_600_000


class BadTime(Mistake):
    """A duration or a clock that cannot be read; the message says how to write one."""


class Clock(Struct, frozen=True, kw_only=True):
    """The time control of a game; None where a limit is not used."""

    move_ms: int | None = None
    bank_ms: int | None = None
    increment_ms: int | None = None
    grace_ms: int = DEFAULT_GRACE_MS

    def __str__(self) -> str:
        if self.bank_ms is not None:
            return f"{show_ms(self.bank_ms)}+{show_ms(self.increment_ms or 0)}"
        return "none" if self.move_ms is None else show_ms(self.move_ms)


class BankClock:
    """What is left to the two seats of one game, in nanoseconds.

    Without a bank nothing is ever used up, and one such clock does for many games.
    """

    __slots__ = ("_grace_ns", "_increment_ns", "_left_ns", "_move_ns", "banked")

    def __init__(self, clock: Clock) -> None:
        self._grace_ns = clock.grace_ms * NS_PER_MS
        self._move_ns = None if clock.move_ms is None else clock.move_ms * NS_PER_MS
        self.banked = clock.bank_ms is not None
        bank_ns = (clock.bank_ms or 0) * NS_PER_MS
        self._left_ns = [bank_ns, bank_ns]
        self._increment_ns = (clock.increment_ms or 0) * NS_PER_MS

    def left_ns(self, seat: int) -> int | None:
        """What this seat may take for its next move, without the grace; None is no limit."""
        if not self.banked:
            return self._move_ns
        bank_ns = self._left_ns[seat]
        return bank_ns if self._move_ns is None else min(bank_ns, self._move_ns)

    def limit_ns(self, seat: int) -> int | None:
        """After how long this seat's move is late, with the grace."""
        left_ns = self.left_ns(seat)
        return None if left_ns is None else left_ns + self._grace_ns

    def excuse(self, seat: int, spent_ns: int) -> None:
        """This much of the time that is about to be charged is the house's."""
        if self.banked:
            self._left_ns[seat] += spent_ns

    def charge(self, seat: int, spent_ns: int) -> None:
        """Take a move's time from the bank. What the grace covered is not charged."""
        if self.banked:
            left_ns = self._left_ns[seat] - spent_ns
            self._left_ns[seat] = (left_ns if left_ns > 0 else 0) + self._increment_ns


def read_duration_ms(text: str) -> int:
    """`100ms`, `1.5s`, `2m`, `1h` in milliseconds."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise BadTime(f"{text!r} is not a duration; write 100ms, 1.5s, 2m or 1h")
    duration_ms = round(float(match[1]) * _UNITS_MS[match[2]])
    if duration_ms > _LONGEST_MS:
        raise BadTime(f"{text!r} is longer than a week")
    return duration_ms


def read_clock(text: str, grace_ms: int = DEFAULT_GRACE_MS) -> Clock:
    """`100ms` is a limit for every move, `10s+100ms` a bank with an increment, `none` no limit."""
    if grace_ms < 0:
        raise BadTime(f"a grace of {grace_ms} ms is less than none")
    if text.strip() == "none":
        return Clock(grace_ms=grace_ms)
    bank, plus, increment = text.partition("+")
    try:
        first_ms = read_duration_ms(bank)
        if not plus:
            if first_ms == 0:
                raise BadTime(f"a limit of {text.strip()} leaves no time to move")
            return Clock(move_ms=first_ms, grace_ms=grace_ms)
        increment_ms = read_duration_ms(increment)
    except BadTime as error:
        raise BadTime(
            f"{error}. A time is a limit for every move (100ms), a bank with an increment "
            f"(10s+100ms, 60s+0s), or none"
        ) from None
    if first_ms == 0:
        raise BadTime(f"a bank of {bank.strip()} leaves no time for the first move")
    return Clock(bank_ms=first_ms, increment_ms=increment_ms, grace_ms=grace_ms)


def show_ms(duration_ms: int) -> str:
    """A duration as `read_duration_ms` reads it."""
    if duration_ms >= 1_000 and duration_ms % 100 == 0:
        seconds, tenths = divmod(duration_ms // 100, 10)
        return f"{seconds}.{tenths}s" if tenths else f"{seconds}s"
    return f"{duration_ms}ms"
