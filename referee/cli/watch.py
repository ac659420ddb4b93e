"""`referee watch`: one game between two bots, live in the terminal."""

from __future__ import annotations

import secrets
import shlex
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from referee.arena.core import own_cores
from referee.bots.builds import both_built
from referee.bots.manifest import Bot, find_bot
from referee.bots.starting import several_processes
from referee.cli import console
from referee.cli.confining import confinement, several_lines
from referee.cli.logs import log_lines
from referee.cli.match_played import default_logs
from referee.cli.options import Expose, Limit, Sandbox
from referee.cli.records_file import RecordsFile
from referee.clock import DEFAULT_TIME, read_clock, read_duration_ms
from referee.match import BadMatch, check_logs
from referee.mistake import FAILED
from referee.record import Record
from referee.reports.fault_line import fault_line
from referee.rules.registry import build_variant
from referee.verdict import Ending
from referee.workshop.watching import Play, Show, watch

PAUSE_S = 0.5
"""Between two rounds, where somebody sits at the screen."""


def watch_command(
    first: Annotated[
        str, typer.Argument(metavar="BOT", help="The bot in seat 0.", show_default=False)
    ],
    second: Annotated[
        str, typer.Argument(metavar="BOT", help="The bot in seat 1.", show_default=False)
    ],
    variant: Annotated[
        str, typer.Option("--variant", "-v", help="Name of a variant, or path of a script.")
    ] = "underdog",
    option: Annotated[
        list[str] | None,
        typer.Option(help="An option of the variant, name=value. Can be repeated."),
    ] = None,
    seed: Annotated[
        str | None, typer.Option(help="Any text; the same seed deals the same game.")
    ] = None,
    time_limit: Annotated[
        str, typer.Option("--time", help="100ms for every move, 10s+100ms as bank, or none.")
    ] = DEFAULT_TIME,
    pause: Annotated[
        str | None,
        typer.Option(help="Wait so long after each round; 500ms on a terminal, else 0ms."),
    ] = None,
    step: Annotated[bool, typer.Option("--step", help="Wait for Enter after each round.")] = False,
    sandbox: Sandbox = None,
    limit: Limit = None,
    expose: Expose = None,
    records: Annotated[
        str | None, typer.Option(help="Write the record of the game here, one line of JSON.")
    ] = None,
    logs: Annotated[
        Path | None,
        typer.Option(help="Folder for what the bots write to stderr; referee-logs if not given."),
    ] = None,
) -> None:
    """Watch two bots play one game, round by round, with their times and their notes.

    While the screen waits, no bot's clock runs.

    **Examples**

        referee watch random counter --variant duel

        referee watch ./my_bot highest --variant target --step

        referee watch "mine=python3 my_bot.py" random --seed 7 --pause 2s --records game.jsonl

    A BOT is a folder with `bot.toml`, the name of a sample bot, or `"name=command line"`.
    """
    if records == "-":
        raise BadMatch("the game is told on standard output; --records takes a file")
    rules = build_variant(variant, console.read_options(option or []))
    bots = _two(find_bot(first), find_bot(second), rules.name)
    clock, pause_s = read_clock(time_limit), _pause_s(pause)
    seed = secrets.token_hex(8) if seed is None else seed
    if not seed or not seed.isprintable():
        raise BadMatch(f"a seed is printable text, not {seed!r}")
    file = RecordsFile(records)
    folder = default_logs() if logs is None else check_logs(logs)
    confined = confinement(sandbox, limit, expose, bots=bots)
    bots = both_built(bots, confined, own_cores(), on_build=console.tell_build, compiler_cache=True)
    audience = _Audience((bots[0].name, bots[1].name), pause_s, step=step)
    show = Show(variant=rules, bots=bots, seed=seed, clock=clock, logs=folder, confinement=confined)
    audience.tell(*several_lines(several_processes(bots, confined)))
    with file:
        record = watch(show, audience)
        file.add(record)
    audience.tell(*_fault_and_log_lines(record, folder, variant))
    if record.ending is Ending.REFEREE_ERROR:
        told = f"the variant failed, nobody loses by it: {record.reason}"
        raise typer.Exit(console.fail(told, FAILED))
    audience.tell(f"Seed {seed}: with --seed {shlex.quote(seed)} the same game is dealt again.")


def _fault_and_log_lines(record: Record, folder: Path | None, variant: str) -> list[str]:
    """Why a bot lost, and where the stderr of each is that wrote any."""
    paths = {name: folder / f"{name}.stderr.txt" for name in record.players} if folder else {}
    logs = {name: log for name, log in paths.items() if log.exists()}
    failed = {record.players[fault.seat]: fault for fault in record.faults()}
    lines = [
        fault_line(record, fault, logs.get(name), variant, kept=folder is not None)
        for name, fault in failed.items()
    ]
    for name, log in logs.items():
        lines += log_lines(name, log, failed=name in failed)
    return lines


def _two(first: Bot, second: Bot, variant: str) -> tuple[Bot, Bot]:
    for bot in (first, second):
        bot.must_play(variant)
    return first, second.renamed(f"{second.name}#2") if first.name == second.name else second


def _pause_s(pause: str | None) -> float:
    if pause is not None:
        return read_duration_ms(pause) / 1000
    return PAUSE_S if console.out.is_terminal else 0.0


class _Audience:
    """A person at the terminal, or a file that is read later."""

    def __init__(self, names: tuple[str, str], pause_s: float, *, step: bool) -> None:
        self._names = names
        self._pause_s = pause_s
        self._step = step

    def tell(self, *lines: str) -> None:
        for line in lines:
            console.out.print(console.printable(line))
        sys.stdout.flush()

    def round(self, lines: list[str], plays: list[Play]) -> None:
        if not (lines and lines[0].startswith(" ")):  # An indented line goes on with the last.
            self.tell("")
        self.tell(*lines)
        spent = (f"{self._names[play.seat]} took {play.spent_us / 1000:.1f} ms" for play in plays)
        self.tell("  " + ", ".join(spent))
        for play in plays:
            if play.note is not None:
                self.tell(f"  {self._names[play.seat]} notes: {play.note}")
        if self._step:
            self._wait_for_enter()
        else:
            time.sleep(self._pause_s)

    def _wait_for_enter(self) -> None:
        console.err.print("press Enter to go on", end="")
        if not sys.stdin.readline().endswith("\n"):
            self._step = False  # Nobody is there to press it any more.
