"""Time limits: how they are written, what is charged, and the sentence for what is no time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.clock import (
    DEFAULT_GRACE_MS,
    NS_PER_MS,
    BadTime,
    BankClock,
    Clock,
    read_clock,
    read_duration_ms,
    show_ms,
)

WEEK_MS = 7 * 24 * 3_600_000
TOO_LONG = "is longer than a week"
HOW = (
    ". A time is a limit for every move (100ms), a bank with an increment (10s+100ms, 60s+0s), "
    "or none"
)


# Durations.


def no_duration(text: str) -> str:
    return f"{text!r} is not a duration; write 100ms, 1.5s, 2m or 1h"


@pytest.mark.parametrize(
    ("text", "duration_ms"),
    [
        ("100ms", 100),
        ("0ms", 0),
        ("1s", 1_000),
        ("1.5s", 1_500),
        ("0.001s", 1),
        ("2m", 120_000),
        ("2min", 120_000),
        ("1h", 3_600_000),
        ("0.25h", 900_000),
        (" 10 s ", 10_000),
        ("168h", WEEK_MS),
    ],
)
def test_a_duration_is_read(text: str, duration_ms: int) -> None:
    assert read_duration_ms(text) == duration_ms


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "s", "ms", "5", "-5s", "+5s", "5x", "5S", "5 sec", "1,5s", "1.s", ".5s"),
        *("1e3s", "1.0001s", "5s5s", "1m30s", "infs", "nans", "none", "٣s", "5s\0", "1_000ms"),
        "9" * 10 + "s",
    ],
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(BadTime) as bad:
        read_duration_ms(text)
    assert str(bad.value) == no_duration(text)


@pytest.mark.parametrize("text", ["168.001h", "999999999h", "604801s"])
def test_too_long_a_duration(text: str) -> None:
    with pytest.raises(BadTime, match=rf"^'\S+' {TOO_LONG}$"):
        read_duration_ms(text)


@given(st.integers(0, WEEK_MS))
def test_a_duration_is_shown_as_it_is_read(duration_ms: int) -> None:
    assert read_duration_ms(show_ms(duration_ms)) == duration_ms


@pytest.mark.parametrize(
    ("duration_ms", "shown"),
    [
        *((0, "0ms"), (50, "50ms"), (1_000, "1s"), (1_050, "1050ms"), (1_500, "1.5s")),
        *((123_456_700, "123456.7s"), (WEEK_MS, "604800s")),
    ],
)
def test_a_duration_is_shown(duration_ms: int, shown: str) -> None:
    assert show_ms(duration_ms) == shown


# Clocks.


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("100ms", Clock(move_ms=100)),
        (" 1s ", Clock(move_ms=1_000)),
        ("none", Clock()),
        ("10s+100ms", Clock(bank_ms=10_000, increment_ms=100)),
        ("60s + 0s", Clock(bank_ms=60_000, increment_ms=0)),
    ],
)
def test_a_clock_is_read_and_shown(text: str, clock: Clock) -> None:
    assert read_clock(text) == clock
    assert clock.grace_ms == DEFAULT_GRACE_MS
    assert read_clock(str(clock)) == clock


def test_a_grace_is_kept() -> None:
    assert read_clock("1s", 7) == Clock(move_ms=1_000, grace_ms=7)
    assert read_clock("none", 0) == Clock(grace_ms=0)
    assert read_clock("1s+1s", 0) == Clock(bank_ms=1_000, increment_ms=1_000, grace_ms=0)
    with pytest.raises(BadTime, match=r"^a grace of -1 ms is less than none$"):
        read_clock("1s", -1)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", no_duration("") + HOW),
        ("fast", no_duration("fast") + HOW),
        ("None", no_duration("None") + HOW),
        ("10s+", no_duration("") + HOW),
        ("+1s", no_duration("") + HOW),
        ("1s+1s+1s", no_duration("1s+1s") + HOW),
        ("10s+x", no_duration("x") + HOW),
        ("200h", f"'200h' {TOO_LONG}{HOW}"),
        ("0s", "a limit of 0s leaves no time to move" + HOW),
        ("0.4ms", "a limit of 0.4ms leaves no time to move" + HOW),
        ("0s+5s", "a bank of 0s leaves no time for the first move"),
    ],
)
def test_what_is_no_clock(text: str, sentence: str) -> None:
    with pytest.raises(BadTime) as bad:
        read_clock(text)
    assert str(bad.value) == sentence


# What is left to a seat.


def ms(left_ns: int | None) -> float | None:
    return None if left_ns is None else left_ns / NS_PER_MS


def test_a_limit_for_every_move_is_never_used_up() -> None:
    clock = BankClock(Clock(move_ms=100, grace_ms=20))
    for _ in range(3):
        assert (ms(clock.left_ns(0)), ms(clock.limit_ns(0))) == (100, 120)
        clock.charge(0, 99 * NS_PER_MS)
    assert not clock.banked


def test_no_limit_is_none() -> None:
    clock = BankClock(Clock())
    clock.charge(1, 10**15)
    assert (clock.left_ns(1), clock.limit_ns(1)) == (None, None)


def test_a_bank_is_charged_and_gets_its_increment() -> None:
    clock = BankClock(Clock(bank_ms=1_000, increment_ms=100, grace_ms=50))
    clock.charge(0, 400 * NS_PER_MS)
    assert (ms(clock.left_ns(0)), ms(clock.limit_ns(0))) == (700, 750)
    assert ms(clock.left_ns(1)) == 1_000, "each seat has its own"
    clock.charge(0, 0)
    assert ms(clock.left_ns(0)) == 800


def test_the_grace_is_never_charged() -> None:
    clock = BankClock(Clock(bank_ms=1_000, increment_ms=0, grace_ms=50))
    clock.charge(0, 1_030 * NS_PER_MS)
    assert (ms(clock.left_ns(0)), ms(clock.limit_ns(0))) == (0, 50)
    clock.charge(0, 40 * NS_PER_MS)
    assert (ms(clock.left_ns(0)), ms(clock.limit_ns(0))) == (0, 50)


def test_both_limits_at_once() -> None:
    clock = BankClock(Clock(move_ms=300, bank_ms=500, increment_ms=0, grace_ms=0))
    assert ms(clock.left_ns(0)) == 300
    clock.charge(0, 300 * NS_PER_MS)
    assert ms(clock.left_ns(0)) == 200


def test_what_is_excused_is_not_charged() -> None:
    clock = BankClock(read_clock("1s+0s"))
    clock.excuse(0, 700 * NS_PER_MS)
    clock.charge(0, 900 * NS_PER_MS)
    assert clock.left_ns(0) == 800 * NS_PER_MS
    clock.excuse(1, 300 * NS_PER_MS)
    clock.charge(1, 300 * NS_PER_MS)
    assert clock.left_ns(1) == 1_000 * NS_PER_MS
