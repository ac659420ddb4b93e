"""Numbers and times as people read them, for templates."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

MINUS = "−"


def moment(stamp: str) -> str:
    """
    >>> moment("2026-03-01T12:34:56.789Z")
    '2026-03-01 12:34'
    """
    return stamp[:16].replace("T", " ")


def day(stamp: str) -> str:
    return stamp[:10]


def clock(stamp: str) -> str:
    """
    >>> clock("2026-03-01T12:34:56.789Z")
    '12:34:56'
    """
    return stamp[11:19]


def elo(value: float | None) -> str:
    """
    >>> elo(-12.4), elo(None), elo(-0.2)
    ('−12', '–', '0')
    """
    if value is None:
        return "–"
    whole = round(value)
    return f"{MINUS}{-whole}" if whole < 0 else str(whole)


def signed(value: float) -> str:
    """
    >>> signed(12.4), signed(-3), signed(0.3)
    ('+12', '−3', '±0')
    """
    whole = round(value)
    return f"+{whole}" if whole > 0 else f"{MINUS}{-whole}" if whole < 0 else "±0"


def percent(share: float | None) -> str:
    """
    >>> percent(0.5), percent(None)
    ('50 %', '–')
    """
    return "–" if share is None else f"{round(100 * share)} %"


def spent(microseconds: int) -> str:
    """
    >>> spent(312), spent(31_200), spent(3_120_000)
    ('0.3 ms', '31 ms', '3.1 s')
    """
    if microseconds >= 1_000_000:
        return f"{microseconds / 1_000_000:.1f} s"
    if microseconds >= 10_000:
        return f"{round(microseconds / 1000)} ms"
    return f"{microseconds / 1000:.1f} ms"


def thousands(number: int) -> str:
    """With spaces that do not break.

    >>> thousands(1234567)
    '1\\xa0234\\xa0567'
    """
    return f"{number:,}".replace(",", "\N{NO-BREAK SPACE}")


def sentence(text: str, named: bool = False) -> str:
    """As it stands alone; where it begins with a name, that stays as it is.

    >>> sentence("there is no bot 'x'"), sentence("rocky does not play.", named=True)
    ("There is no bot 'x'.", 'rocky does not play.')
    """
    if not named:
        text = f"{text[:1].upper()}{text[1:]}"
    return text if text.endswith((".", "!", "?")) else f"{text}."


def seconds_of(stamp: str) -> float:
    """A time as a number, to be drawn."""
    return datetime.fromisoformat(stamp).timestamp()


FILTERS: dict[str, Callable[..., Any]] = {
    each.__name__: each for each in (moment, day, clock, elo, signed, percent, spent, thousands)
}
