"""`referee check`: does a bot keep the protocol?"""

from __future__ import annotations

import shlex
import time
from typing import Annotated

import typer
from rich.text import Text

from referee.bots.confinement import Confinement
from referee.bots.manifest import Bot, find_bot
from referee.bots.starting import several_processes
from referee.cli import console
from referee.cli.confining import confinement
from referee.cli.options import Expose, Limit, Sandbox
from referee.clock import (
    DEFAULT_STARTUP_MS,
    DEFAULT_TIME,
    DEFAULT_WARM_UP_MS,
    BadTime,
    Clock,
    read_duration_ms,
    show_ms,
)
from referee.rules.numbers import amount
from referee.rules.registry import build_variant
from referee.workshop.check.report import Report, Step
from referee.workshop.check.run import STEPS, check_bot
from referee.workshop.check.sitting import Terms

FIRST_LINES, LAST_LINES = 12, 16
"""Of stderr: some languages begin a trace with the error, others end it so, and Node has ten lines
of calls below it; before the trace there may be a log."""
LINE_WIDTH = 300
"""Of a line of stderr."""
NARROWEST = 20
"""A column on a terminal, however narrow that is."""
NAME_WIDTH = max(len("variant difference"), *map(len, STEPS))
MARKS = {"passed": "pass", "failed": "FAIL", "skipped": "skip", "not tried": "----"}
STYLES = {"passed": "green", "failed": "bold red", "skipped": "dim", "not tried": "dim"}
EXAMPLES = """
Each step passes or fails, with a sentence; with one that fails comes what the bot was sent and what
it wrote, to stdout and to stderr. A bot that has to be built is built first, which is a step too.
The bot is confined as in a tournament, where this machine can; `--sandbox none` lets it run freely.
Exit status 0 only if all pass, 1 if one fails.

**Examples**

    referee check ./my_bot

    referee check "mine=python3 bot.py" --variant duel --time 100ms

    referee check ./my_bot --variant ./my_game.py --verbose

    referee check highest --json

A BOT is a folder with `bot.toml`, the name of a sample bot, or `"name=command line"`.
"""


def check_command(
    bot: Annotated[str, typer.Argument(metavar="BOT", help="The bot.", show_default=False)],
    variant: Annotated[
        list[str] | None,
        typer.Option(
            "--variant",
            "-v",
            help="Name of a variant, or path of a script, to play instead of those that the bot "
            "names. Can be repeated.",
        ),
    ] = None,
    time_limit: Annotated[str, typer.Option("--time", help="Limit for every move.")] = DEFAULT_TIME,
    startup: Annotated[
        str, typer.Option(help="How long the bot may take to start and say hello.")
    ] = show_ms(DEFAULT_STARTUP_MS),
    sandbox: Sandbox = None,
    limit: Limit = None,
    expose: Expose = None,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            help="Show what was sent and written in the steps that passed as well, and all of "
            "stderr.",
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Check that a bot keeps the protocol, step by step."""
    variants = [build_variant(each, {}) for each in variant] if variant else None
    limits = [_limit(option, text) for option, text in (("time", time_limit), ("startup", startup))]
    terms = Terms(
        clock=Clock(move_ms=limits[0]), startup_ms=limits[1], warm_up_ms=DEFAULT_WARM_UP_MS
    )
    found = find_bot(bot)
    confined = confinement(sandbox, limit, expose, bots=[found])
    began, page = time.monotonic(), _Page(verbose)
    if not json:
        page.begin(found, confined)
    on_step, on_build = None if json else page.add, console.tell_build
    report = check_bot(
        *(found, terms, variants, on_step, on_build), confinement=confined, compiler_cache=True
    )
    if json:
        console.print_json(report)
    else:
        page.end(report, time.monotonic() - began)
    if not report.passed:
        raise typer.Exit(console.DOES_NOT_HOLD)


check_command.__doc__ = f"{check_command.__doc__}\n{EXAMPLES}"


def _limit(option: str, text: str) -> int:
    limit_ms = read_duration_ms(text)
    if limit_ms == 0:
        raise BadTime(f"--{option} {text} leaves no time")
    return limit_ms


class _Page:
    """The steps as people read them."""

    def __init__(self, verbose: bool) -> None:
        self._verbose = verbose
        self._left_out: list[Step] = []
        """Steps in a row that were not tried for the same reason: one line does for them."""

    def begin(self, bot: Bot, confined: Confinement) -> None:
        level: str = confined.level
        for processes in several_processes([bot], confined).values():
            level += f", with {processes} processes"
        # Not filled: a command is there to be copied.
        told = f"Checking {bot.name} at level {level}: {shlex.join(bot.command)}"
        console.out.print(console.printable(told))

    def add(self, step: Step) -> None:
        if self._left_out and (step.result, step.detail) != self._reason():
            self._show_left_out()
        if step.result == "not tried":
            self._left_out.append(step)
            return
        self._show(step.result, step.name, step.detail)
        if step.result == "failed" or self._verbose:
            self._quote("sent", step.sent)
            self._quote("stdout", step.stdout or ["(nothing)"] if step.sent else step.stdout)
            self._quote("stderr", step.stderr if self._verbose else _head_and_tail(step.stderr))

    def end(self, report: Report, seconds: float) -> None:
        self._show_left_out()
        count = amount(len(report.steps), "step")
        if report.passed:
            told = f"{report.bot}: passed, {count} in {seconds:.1f} s."
            _hang(Text(), told, "green")
        else:
            failed = ", ".join(report.failed)
            told = f"{report.bot}: {len(report.failed)} of {count} failed: {failed}."
            _hang(Text(), told, "bold red")

    def _reason(self) -> tuple[str, str]:
        return self._left_out[0].result, self._left_out[0].detail

    def _show_left_out(self) -> None:
        if not self._left_out:
            return
        steps, self._left_out = self._left_out, []
        if len(steps) == 1:
            self._show("not tried", steps[0].name, f"not tried: {steps[0].detail}")
            return
        names = ", ".join(step.name for step in steps)
        self._show("not tried", f"{len(steps)} steps", f"not tried: {steps[0].detail} ({names})")

    def _show(self, result: str, name: str, detail: str) -> None:
        named = f"  {console.printable(name):{NAME_WIDTH}}  "
        _hang(Text.assemble((MARKS[result], STYLES[result]), named), detail)

    def _quote(self, name: str, lines: list[str]) -> None:
        for place, line in enumerate(lines):
            head = name if place == 0 else ""
            _hang(Text(f"        {head:6}  ", "dim"), line, "dim")


def _head_and_tail(lines: list[str]) -> list[str]:
    """The first lines and the last, with one on what is left out between them."""
    cut = [f"{line[:LINE_WIDTH]}…" if len(line) > LINE_WIDTH else line for line in lines]
    left_out = len(lines) - FIRST_LINES - LAST_LINES
    if left_out <= 1:
        return cut
    between = f"({left_out} more lines between; --verbose shows all)"
    return [*cut[:FIRST_LINES], between, *cut[-LAST_LINES:]]


def _hang(head: Text, body: str, style: str = "") -> None:
    """On a terminal, a text that is filled beside its head; elsewhere one line."""
    text = Text(console.printable(body), style)
    if not console.out.is_terminal:
        console.out.print(Text.assemble(head, text))
        return
    width = max(NARROWEST, console.out.width - head.cell_len)
    for line in text.wrap(console.out, width):
        line.rstrip()
        console.out.print(Text.assemble(head, line))
        head = Text(" " * head.cell_len)
