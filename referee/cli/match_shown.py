"""The end of a match: its score, the Elo difference, and the faults of each bot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from referee.cli import console
from referee.cli.confining import several_lines
from referee.cli.logs import log_lines
from referee.cli.match_played import SHOWN_FAULTS
from referee.deciding import SprtResult
from referee.match import MatchResult
from referee.ratings.sprt import Decision
from referee.record import Record
from referee.reports.fault_line import fault_line
from referee.reports.tables.cells import points_cell
from referee.rules.numbers import amount
from referee.verdict import Fault

FirstFaults = Mapping[str, Sequence[tuple[Record, Fault]]]
"""Of each player."""


def show(screen: Console, result: MatchResult, took_s: float, *, pin: bool) -> None:
    score = result.score
    first, second = result.players
    screen.print(
        Text.assemble(
            *((first, "bold"), " against ", (second, "bold"), f", {result.variant}: "),
            f"{amount(result.games, 'game')} in {took_s:.1f} s, seed {result.seed}, "
            f"level {result.level}",
        )
    )
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("", "wins", "draws", "losses", "points"):
        table.add_column(heading, justify="left" if not heading else "right")
    won, drawn, lost, points = score.wins, score.draws, score.losses, score.points
    table.add_row(first, f"{won}", f"{drawn}", f"{lost}", points_cell(points))
    table.add_row(second, f"{lost}", f"{drawn}", f"{won}", points_cell(score.games - points))
    screen.print(table)
    screen.print(_elo_line(result))
    if result.sprt is not None:
        screen.print(_sprt_line(result.sprt, first))
    if result.unrated:
        screen.print(f"{amount(result.unrated, 'game')} void or forfeited, in no score.")
    for line in several_lines(result.processes):
        screen.print(console.printable(line))
    if result.stalls:
        screen.print(f"The host stood still {amount(result.stalls, 'time')}; games were replayed.")
    if pin and result.pinned is None:
        console.err.print("no core was free to pin to: moves take longer than they need to")


def _elo_line(result: MatchResult) -> str:
    score = result.score
    name = result.players[0]
    if score.elo is not None and score.err95 is not None:
        told = [
            f"Elo difference {score.elo:+.0f} ± {score.err95:.0f} (95 %, from "
            f"{amount(score.pairs, 'pair')} of games)"
        ]
        if score.normalised_elo is not None:
            told.append(f"Normalised Elo {score.normalised_elo:+.0f}")
        told.append(f"{name} is the stronger one with {score.superiority:.1%} likelihood")
        return "\n".join(told)
    if score.bound_elo is not None:
        word, done = ("more", "won") if score.bound == ">" else ("less", "lost")
        if (score.bound_elo > 0) == (score.bound == ">"):
            bound = f"Elo difference {word} than {score.bound_elo:+.0f} (95 %)"
        else:
            bound = "Elo difference unknown, the games are too few"
        return f"{bound}: {name} has {done} every game"
    return "Elo difference unknown: no game was rated"


def _sprt_line(told: SprtResult, name: str) -> str:
    test = told.test
    ratio = f"log-likelihood ratio {told.llr:+.2f}, bounds {told.lower:.2f} and {told.upper:.2f}"
    if told.decision == Decision.CONTINUE.value:
        return f"Not decided between {test.elo0:+g} and {test.elo1:+g} Elo ({ratio})"
    if told.decision == Decision.ACCEPT_H1.value:
        told_of = f"H1, {name} is rather {test.elo1:+g} Elo or more than {test.elo0:+g}"
    else:
        told_of = f"H0, {name} is rather {test.elo0:+g} Elo or less than {test.elo1:+g}"
    return f"Decided: {told_of} ({ratio})"


def show_faults(
    screen: Console, result: MatchResult, first: FirstFaults, variant: str, *, kept: bool
) -> None:
    """The first of each player in a line each. `kept` is whether there are logs."""
    logs = {player: Path(path) for player, path in result.logs.items()}
    for player, counts in result.fault_counts.items():
        if not counts:
            continue
        summary = ", ".join(f"{count} {code}" for code, count in sorted(counts.items()))
        screen.print(f"Faults of {player}: {summary}")
        for fault in first[player]:
            line = fault_line(*fault, logs.get(player), variant, kept=kept)
            screen.print(f"  {line}")
        if sum(counts.values()) > SHOWN_FAULTS:
            screen.print(f"  … and {sum(counts.values()) - SHOWN_FAULTS} more")
    for player, log in logs.items():
        for line in log_lines(player, log, failed=bool(result.fault_counts[player])):
            screen.print(line)
