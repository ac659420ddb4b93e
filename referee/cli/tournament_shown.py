"""The end of a tournament: its tables, written and shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import typer

from referee.cli import console
from referee.cli.logs import log_lines, newest_log
from referee.cli.screen import Screen
from referee.mistake import FAILED
from referee.reports.standings import Standings, Timing, standings, timings
from referee.reports.tables.files import write_tables
from referee.reports.tables.text import as_text, timing_table
from referee.rules.numbers import amount
from referee.store.database import Store
from referee.tournament.run import TournamentResult

TOGETHER = "Answers that arrive together are charged to the first of them, hence medians of 0."


def show_tables(screen: Screen, table: Standings, times: Sequence[Timing]) -> None:
    screen.pieces(as_text(table, screen.width))
    screen.print()
    screen.print(timing_table(times, screen.width))
    if any(time.median_us == 0 for time in times):
        screen.prose(TOGETHER)
    screen.print()


def show_written(screen: Screen, folder: Path, written: Iterable[Path]) -> None:
    screen.print(f"Written to {folder}: {', '.join(path.name for path in written)}")


def show_result(result: TournamentResult, *, as_json: bool, to_stderr: bool) -> None:
    """Write the tables, and show them."""
    folder = Path(result.folder)
    with Store.read(folder) as store:
        table, times = standings(store), timings(store)
    written = write_tables(folder, table, times)
    if as_json:
        console.print_json(table)
    else:
        screen = console.err if to_stderr else console.out
        show_tables(screen, table, times)
        rate = f", {result.new / result.took_s:.0f} games/s" if result.new else ""
        screen.print(f"{amount(result.new, 'game')} in {result.took_s:.1f} s{rate}")
        failed = {row.name: 0 for each in table.tables for row in each.rows if row.faults}
        _show_logs(screen, folder, {**failed, **result.out})
        show_written(screen, folder, written)
    if result.stalls:
        console.err.print(
            f"The host stood still {amount(result.stalls, 'time')}; games were replayed."
        )
    if result.errors:
        reason, times_failed = next(iter(result.errors.items()))
        why = f"the variant failed {amount(times_failed, 'time')}, nobody loses by it: {reason}"
        raise typer.Exit(console.fail(why, FAILED))


def _show_logs(screen: Screen, folder: Path, bots: Iterable[str]) -> None:
    """Where the stderr is of bots that were at fault, and how it ends."""
    for name in bots:
        log = newest_log(folder / "logs", name)
        if log is not None:
            for line in log_lines(name, log, failed=True):
                screen.print(line)
