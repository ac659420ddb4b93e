"""What stands below a table: sentences that say how it was made and what it cannot tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from referee.bots.confinement import several_told
from referee.ratings.rating import Cycles
from referee.reports.placing import KNOCKOUT
from referee.reports.standings import Cell, Standings, VariantTable
from referee.reports.tables.cells import one_line, shortened
from referee.rules.numbers import amount

SHOWN_PAIRS = 3
SHOWN_NAMES = 6
SHOWN_RULINGS = 50
DOUBT = 0.01
"""Below this p the results are taken to be more than chance around single numbers."""

Name = Callable[[str], str]
"""How the name of a bot is written: as it is on a terminal, escaped elsewhere."""


def headline(standings: Standings) -> str:
    """What was played, and how much of it."""
    played = f"{standings.played} of {amount(standings.planned, 'game')}"
    parts = [standings.format, ", ".join(standings.variants), played]
    if standings.champion is not None:
        parts.insert(0, f"won by {one_line(standings.champion)}")
    if not standings.finished:
        parts.append("in progress")
    if standings.seed is not None:
        parts.append(f"seed {one_line(standings.seed)}")
    if standings.salt is not None:
        parts.append(f"salt {one_line(standings.salt)}")
    return "; ".join(part for part in parts if part)


def notes(table: VariantTable, name: Name = one_line) -> Iterator[str]:
    """The notes to one table, each a sentence or two."""
    yield table.tie_breaks
    if any(row.err95 is not None for row in table.rows):
        to = "the anchors" if any(pool.anchored for pool in table.pools) else "the mean, which is 0"
        yield f"Elo and ± (95 %) refer to {to}; ± is taken between pairs of the same chance."
        if table.ranked_by != KNOCKOUT:
            yield (
                "Range: ranks that the results do not exclude. "
                "> next: likelihood of being stronger than the next."
            )
    if table.partial:
        who = shortened(map(name, table.partial), SHOWN_NAMES)
        yield f"Without a rank over all variants, for not playing each of them: {who}."
    if table.prior:
        yield "One virtual draw with an average opponent was added for each bot."
    if table.advantage is not None:
        error = "" if table.advantage_err95 is None else f" ± {table.advantage_err95:.0f}"
        yield f"The first seat is worth {table.advantage:+.0f}{error} Elo."
    yield from _pools(table, name)
    yield from _perfect(table, name)
    unrated = sum(row.unrated for row in table.rows) // 2
    if unrated:
        yield f"{amount(unrated, 'game')} void or forfeited, in no rating."
    yield from _distinct(table.cells, name)
    if table.cycles is not None:
        yield from _cycles(table.cycles, name)
    yield from _rulings(table, name)


def closing_notes(standings: Standings) -> Iterator[str]:
    """What is true of the tournament as a whole."""
    for bot, why in standings.left_out.items():
        yield f"{one_line(bot)} was left out: {one_line(why)}."
    for told in disqualified_told(standings.disqualified):
        yield f"{told}."
    for change in standings.changes:
        yield f"It went on though {one_line(change)}."
    if standings.dropped is not None:
        yield (
            f"The records of {amount(standings.dropped.games, 'game')}, the last of them of "
            f"{one_line(standings.dropped.last[:10])}, are no longer kept; their results count."
        )
    if standings.level == "none":
        yield "Level none: the bots ran unconfined, with the rights of whoever started them."
    else:
        yield f"The bots ran confined at level {one_line(standings.level)}."
        for bot, number in standings.processes.items():
            yield f"{several_told(one_line(bot), number)}."
    if standings.elsewhere:
        who = shortened(map(one_line, standings.elsewhere), SHOWN_NAMES)
        yield f"{who} connected from elsewhere and ran confined by nobody here, at level none."


def disqualified_told(disqualified: Mapping[str, str], name: Name = one_line) -> Iterator[str]:
    """Whom organisers have excluded, together where it is for the same reason."""
    for why in dict.fromkeys(disqualified.values()):
        who = [name(bot) for bot, reason in disqualified.items() if reason == why]
        yield f"{', '.join(who)} {'is' if len(who) == 1 else 'are'} disqualified: {one_line(why)}"


def _pools(table: VariantTable, name: Name) -> Iterator[str]:
    if len(table.pools) < 2:
        return
    yield (
        f"The results fall into {len(table.pools)} pools; Elo compares only within one. "
        + "; ".join(
            f"Pool {number}: " + shortened(map(name, pool.players), SHOWN_NAMES)
            for number, pool in enumerate(table.pools, start=1)
        )
        + "."
    )


def _perfect(table: VariantTable, name: Name) -> Iterator[str]:
    for bound, done in ((">", "won"), ("<", "lost")):
        names = [name(row.name) for row in table.rows if row.bound == bound]
        if names:
            verb = "has" if len(names) == 1 else "have"
            yield (
                f"{shortened(names, SHOWN_NAMES)} {verb} {done} every game that tells anything: "
                "Elo is a bound, outside the mean."
            )


def _distinct(cells: list[Cell], name: Name) -> Iterator[str]:
    each = [cell for cell in cells if cell.first < cell.second]
    if not each:
        return
    distinct, games = sum(cell.distinct for cell in each), sum(cell.games for cell in each)
    told = (
        f"{distinct} of {amount(games, 'rated game')} {'is' if distinct == 1 else 'are'} distinct"
    )
    few = sorted(
        (cell for cell in each if cell.repeats),
        key=lambda cell: (cell.distinct / cell.games, cell.first, cell.second),
    )
    if not few:
        yield f"{told}."
        return
    pairs = [
        f"{name(cell.first)} – {name(cell.second)} {cell.distinct} of {cell.games}" for cell in few
    ]
    yield f"{told}, so less is known than it seems: {shortened(pairs, SHOWN_PAIRS)}."


def _rulings(table: VariantTable, name: Name) -> Iterator[str]:
    """A footnote for each."""
    for ruling in table.rulings[:SHOWN_RULINGS]:
        met = " – ".join(map(name, ruling.players))
        done = "is void" if ruling.winner is None else f"is awarded to {name(ruling.winner)}"
        yield f"Ruling: game {name(ruling.game)} ({met}) {done}: {name(ruling.reason)}"
    more = len(table.rulings) - SHOWN_RULINGS
    if more > 0:
        yield f"{amount(more, 'more ruling')} in standings.json and rulings.csv."


def _cycles(cycles: Cycles, name: Name) -> Iterator[str]:
    fit = f"χ² {cycles.chi2:.1f} at {amount(cycles.degrees, 'degree')} of freedom, "
    fit += "p < 0.001" if cycles.p < 0.001 else f"p = {cycles.p:.3f}"
    if cycles.p >= DOUBT:
        yield f"The results do not contradict single numbers ({fit})."
        return
    share = ""
    if cycles.cyclic_share is not None:
        share = f"; {100 * cycles.cyclic_share:.0f} % of the differences are cyclic"
    worst = [
        f"{name(pair.first)} – {name(pair.second)} scored {100 * pair.score:.0f} % where "
        f"{100 * pair.expected:.0f} % was expected"
        for pair in cycles.worst
    ]
    told = f". Worst: {shortened(worst, SHOWN_PAIRS)}" if worst else ""
    yield f"Single numbers do not explain the results ({fit}{share}){told}."
