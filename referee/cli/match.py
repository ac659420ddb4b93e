"""`referee match`: two bots, one variant."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from referee.bots.manifest import find_bot
from referee.cli import console
from referee.cli.confining import (
    Expose,
    Freeze,
    Limit,
    Sandbox,
    confinement,
    several_lines,
)
from referee.cli.logs import log_lines
from referee.cli.records_file import RecordsFile
from referee.clock import (
    DEFAULT_GRACE_MS,
    DEFAULT_STARTUP_MS,
    DEFAULT_WARM_UP_MS,
    read_duration_ms,
    show_ms,
)
from referee.deciding import SprtResult
from referee.match import (
    DEFAULT_TIME,
    BadMatch,
    MatchResult,
    check_logs,
    play_match,
)
from referee.mistake import FAILED
from referee.ratings.sprt import Decision, parse_sprt
from referee.record import Record
from referee.reports.fault_line import fault_line
from referee.rules.numbers import amount
from referee.verdict import PRECEDENCE, Ending, Fault, exit_status

DEFAULT_GAMES = 100
MOST_SPRT_GAMES = 100_000
REFRESH_S = 0.1
SHOWN_FAULTS = 3
LOGS = "referee-logs"
EXAMPLES = """
**Examples**

    referee match random highest

    referee match ./my_bot counter --variant duel --games 1000 --time 100ms

    referee match "mine=python3 my_bot.py" highest --variant target --option target=40

    referee match random counter --games 500 --seed 7 --records games.jsonl --json

    referee match ./new_bot ./old_bot --sprt elo0=0 elo1=10 alpha=.05 beta=.05

A BOT is a folder with `bot.toml`, the name of a sample bot, or `"name=command line"`.
"""


def match_command(
    first: Annotated[
        str, typer.Argument(metavar="BOT", help="The bot whose score is shown.", show_default=False)
    ],
    second: Annotated[str, typer.Argument(metavar="BOT", help="Its opponent.", show_default=False)],
    variant: Annotated[
        str, typer.Option("--variant", "-v", help="Name of a variant, or path of a script.")
    ] = "underdog",
    games: Annotated[
        int | None,
        typer.Option(
            "--games",
            "-n",
            help=f"Games, both seatings together; {DEFAULT_GAMES}, or with --sprt at most "
            f"{MOST_SPRT_GAMES}.",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="An option of the variant, name=value. Can be repeated."),
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option(
            help="Any text. The same seed deals the same games and gives bots their seeds. "
            "A bot can guess a seed that you chose."
        ),
    ] = None,
    time_limit: Annotated[
        str,
        typer.Option("--time", help="100ms for every move, 10s+100ms as bank, or none."),
    ] = DEFAULT_TIME,
    grace: Annotated[
        str, typer.Option(help="How much later an answer may come without being late.")
    ] = show_ms(DEFAULT_GRACE_MS),
    warm_up: Annotated[
        str, typer.Option(help="Extra time for the first answer of a process.")
    ] = show_ms(DEFAULT_WARM_UP_MS),
    startup: Annotated[
        str, typer.Option(help="How long a bot may take to start and say hello.")
    ] = show_ms(DEFAULT_STARTUP_MS),
    think: Annotated[
        Literal["in-turn", "parallel"],
        typer.Option(help="One bot thinks at a time on one core, or both at once on two."),
    ] = "in-turn",
    at_once: Annotated[
        int, typer.Option(min=1, help="Most games at once, where both bots take many.")
    ] = 64,
    sandbox: Sandbox = None,
    limit: Limit = None,
    freeze: Freeze = None,
    expose: Expose = None,
    sprt: Annotated[
        str | None,
        typer.Option(
            metavar="TEST",
            help="Stop when it is decided: elo0=0 elo1=10 alpha=.05 beta=.05, any of them.",
        ),
    ] = None,
    records: Annotated[
        str | None, typer.Option(help="Write every record here, JSON lines; - is stdout.")
    ] = None,
    logs: Annotated[
        Path | None,
        typer.Option(help=f"Folder for what bots write to stderr; {LOGS} if not given."),
    ] = None,
    pin: Annotated[bool, typer.Option(help="Pin referee and bots to one core.")] = True,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with the status of the gravest fault.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Play two bots against each other: score, Elo difference, and its 95 % interval."""
    if json and records == "-":
        raise BadMatch("--json and --records - cannot both have standard output")
    screen = console.err if records == "-" else console.out
    test = None if sprt is None else parse_sprt([sprt])
    if games is None:
        games = DEFAULT_GAMES if test is None else MOST_SPRT_GAMES
    bots = find_bot(first), find_bot(second)
    confined = confinement(sandbox, limit, expose, bots=bots, freeze=freeze)
    faults = _FirstFaults()
    file, folder = RecordsFile(records), logs or default_logs()
    with file, _Progress(games) as progress:

        def keep(record: Record) -> None:
            file.add(record)
            faults.add(record)
            progress.advance()

        result = play_match(
            *bots,
            variant=variant,
            options=console.read_options(option or []),
            games=games,
            seed=seed,
            time=time_limit,
            grace_ms=read_duration_ms(grace),
            warm_up_ms=read_duration_ms(warm_up),
            startup_ms=read_duration_ms(startup),
            think="parallel" if think == "parallel" else "in turn",
            at_once=at_once,
            pin=pin,
            logs=folder,
            confinement=confined,
            sprt=test,
            on_record=keep,
            on_build=console.tell_build,
        )
        took_s = progress.took_s()
    if json:
        console.print_json(result)
    else:
        _show(screen, result, took_s, pin=pin and think == "in-turn")
        _show_faults(screen, result, faults.lines(result, variant, kept=folder is not None))
    if result.errors:
        reason, times = next(iter(result.errors.items()))
        told = f"the variant failed {amount(times, 'time')}, nobody loses by it: {reason}"
        raise typer.Exit(console.fail(told, FAILED))
    if strict:
        codes = [Ending(code) for counts in result.fault_counts.values() for code in counts]
        raise typer.Exit(exit_status([code for code in codes if code in PRECEDENCE]))


match_command.__doc__ = f"{match_command.__doc__}\n{EXAMPLES}"


def default_logs() -> Path | None:
    """The usual folder; in a place that cannot be written to, a word that logs are not kept."""
    try:
        return check_logs(Path(LOGS))
    except BadMatch as bad:
        console.err.print(f"{bad}; what bots write to stderr is lost")
        return None


class _Progress:
    """A bar on a terminal, nothing elsewhere. Drawn ten times a second, by no thread of its own."""

    def __init__(self, games: int) -> None:
        self._bar = Progress(
            TextColumn("playing"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]:.0f} games/s"),
            TimeRemainingColumn(),
            console=console.err,
            transient=True,
            auto_refresh=False,
            disable=not console.err.is_terminal,
        )
        self._task = self._bar.add_task("games", total=games, rate=0.0)
        self._games = games
        self._done = 0
        self._began = self._drawn = time.monotonic()

    def __enter__(self) -> _Progress:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._bar.stop()
        if kind is not None and not issubclass(kind, Exception):
            console.err.print(f"{self._done} of {self._games} games were finished")

    def advance(self) -> None:
        self._done += 1
        now = time.monotonic()
        if now - self._drawn > REFRESH_S:
            self._drawn = now
            rate = self._done / (now - self._began)
            self._bar.update(self._task, completed=self._done, rate=rate, refresh=True)

    def took_s(self) -> float:
        return time.monotonic() - self._began


def _show(screen: Console, result: MatchResult, took_s: float, *, pin: bool) -> None:
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
    table.add_row(first, f"{won}", f"{drawn}", f"{lost}", f"{points:g}")
    table.add_row(second, f"{lost}", f"{drawn}", f"{won}", f"{score.games - points:g}")
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


def gather_sprt(words: list[str]) -> list[str]:
    """`--sprt elo0=0 elo1=10` as one word each for the option and for its value."""
    if "--sprt" not in words:
        return words
    place = words.index("--sprt") + 1
    end = place
    while end < len(words) and re.fullmatch(r"\w+=[-+\d.].*|(elo|alpha|beta)\w*=.*", words[end]):
        end += 1
    return [*words[:place], " ".join(words[place:end]), *words[end:]]


class _FirstFaults:
    """The first faults of each player with their records: a broken bot has thousands of them."""

    def __init__(self) -> None:
        self._kept: dict[str, list[tuple[Record, Fault]]] = {}

    def add(self, record: Record) -> None:
        for fault in record.faults():
            kept = self._kept.setdefault(record.players[fault.seat], [])
            if len(kept) < SHOWN_FAULTS:
                kept.append((record, fault))

    def lines(self, result: MatchResult, variant: str, *, kept: bool) -> dict[str, list[str]]:
        """By player: a line for each. `kept` is whether there are logs."""
        logs = {player: Path(path) for player, path in result.logs.items()}
        return {
            player: [fault_line(*fault, logs.get(player), variant, kept=kept) for fault in faults]
            for player, faults in self._kept.items()
        }


def _show_faults(screen: Console, result: MatchResult, lines: dict[str, list[str]]) -> None:
    for player, counts in result.fault_counts.items():
        if not counts:
            continue
        summary = ", ".join(f"{count} {code}" for code, count in sorted(counts.items()))
        screen.print(f"Faults of {player}: {summary}")
        for line in lines[player]:
            screen.print(f"  {line}")
        if sum(counts.values()) > SHOWN_FAULTS:
            screen.print(f"  … and {sum(counts.values()) - SHOWN_FAULTS} more")
    for player, path in result.logs.items():
        for line in log_lines(player, Path(path), failed=bool(result.fault_counts[player])):
            screen.print(line)
