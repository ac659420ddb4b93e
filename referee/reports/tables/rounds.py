"""The ties of a knockout or Swiss round, a line each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from referee.reports.tables.cells import one_line
from referee.tournament.formats import Round, Tie
from referee.tournament.formats.pairing import show_points


def round_title(each: Round) -> str:
    return each.name[:1].upper() + each.name[1:]


def round_lines(
    each: Round, *, knockout: bool, name: Callable[[str], str] = one_line
) -> Iterator[str]:
    """`counter 3–1 random`; in a knockout also who goes on."""
    for tie in each.ties:
        line = _met(tie, name)
        if not tie.complete:
            line += ", in progress" if tie.meetings else ""
        elif knockout and tie.winner is not None and tie.second is not None:
            # That somebody has more points need not be said twice.
            reason = f" ({tie.why})" if any(map(str.isalpha, tie.why)) else ""
            line += f": {name(tie.winner)}{reason}"
        yield line


def _met(tie: Tie, name: Callable[[str], str]) -> str:
    if tie.second is None:
        return f"{name(tie.first)} has a bye"
    points = ", ".join(show_points(met.first_points, met.second_points) for met in tie.meetings)
    return f"{name(tie.first)} {points or '–'} {name(tie.second)}"
