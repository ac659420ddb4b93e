"""What stands in one cell of a table, the same on a terminal and in Markdown.

A figure that is not known is a dash, never a blank that looks like a zero and never NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

UNKNOWN = "–"
SURE = 0.9995
"""From here on a likelihood would be shown as 100.0, which no number of games earns."""


def elo_cell(elo: float | None, bound: str | None = None, bound_elo: float | None = None) -> str:
    """`+12`, or `>+340` for a perfect score."""
    if elo is not None:
        return signed(elo)
    if bound is not None and bound_elo is not None:
        return f"{bound}{signed(bound_elo)}"
    return UNKNOWN


def signed(number: float) -> str:
    """Whole, with its sign; zero has none."""
    return f"{number:+.0f}" if round(number) else "0"


def error_cell(err95: float | None) -> str:
    return UNKNOWN if err95 is None else f"{err95:.0f}"


def percent_cell(share: float | None) -> str:
    """A share from 0 to 1 as a percentage, without the sign: the heading has it."""
    return UNKNOWN if share is None else f"{100 * share:.1f}"


def likelihood_cell(likelihood: float | None) -> str:
    if likelihood is None:
        return UNKNOWN
    if likelihood >= SURE:
        return ">99.9"
    return "<0.1" if likelihood <= 1 - SURE else percent_cell(likelihood)


def rank_cell(rank: int | None) -> str:
    return UNKNOWN if rank is None else f"{rank}"


def range_cell(best: int | None, worst: int | None) -> str:
    """Ranks that the results do not exclude."""
    return rank_cell(best) if best == worst else f"{best}–{worst}"


def points_cell(points: float) -> str:
    """`12` or `12.5`, never `1e+06`."""
    return f"{points:.1f}".removesuffix(".0")


def faults_cell(faults: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {code}" for code, count in faults.items()) or "0"


def one_line(text: str) -> str:
    """Text that no terminal takes for commands and no line of a table breaks at."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )


def shortened(texts: Iterable[str], most: int) -> str:
    """The first few of a list, and how many there are beside them."""
    listed = list(texts)
    more = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {more} more" if more > 0 else "")
