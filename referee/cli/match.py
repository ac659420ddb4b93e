"""`referee match`: two bots, one variant."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from referee.cli import console
from referee.cli.logs import LOGS
from referee.cli.options import Expose, Freeze, Limit, Sandbox
from referee.clock import (
    DEFAULT_GRACE_MS,
    DEFAULT_STARTUP_MS,
    DEFAULT_TIME,
    DEFAULT_WARM_UP_MS,
    read_duration_ms,
    show_ms,
)
from referee.mistake import FAILED, Mistake
from referee.ratings.sprt import parse_sprt
from referee.rules.numbers import amount
from referee.verdict import PRECEDENCE, Ending, exit_status

DEFAULT_GAMES = 100
MOST_SPRT_GAMES = 100_000
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
        raise Mistake("--json and --records - cannot both have standard output")
    # The arena, and all that it brings: the help of this command has no use for them.
    from referee.bots.manifest import find_bot
    from referee.cli.confining import confinement
    from referee.cli.match_played import default_logs, keep_match
    from referee.match import play_match

    test = None if sprt is None else parse_sprt([sprt])
    if games is None:
        games = DEFAULT_GAMES if test is None else MOST_SPRT_GAMES
    bots = find_bot(first), find_bot(second)
    confined = confinement(sandbox, limit, expose, bots=bots, freeze=freeze)
    with keep_match(games, records) as kept:
        folder = logs or default_logs()
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
            on_record=kept.add,
            on_build=console.tell_build,
            compiler_cache=True,
        )
        took_s = kept.took_s()
    if json:
        console.print_json(result)
    else:
        from referee.cli.match_shown import show, show_faults  # rich: not before it is needed

        screen = console.err if records == "-" else console.out
        show(screen, result, took_s, pin=pin and think == "in-turn")
        show_faults(screen, result, kept.first_faults, variant, kept=folder is not None)
    if result.errors:
        reason, times = next(iter(result.errors.items()))
        told = f"the variant failed {amount(times, 'time')}, nobody loses by it: {reason}"
        raise typer.Exit(console.fail(told, FAILED))
    if strict:
        codes = [Ending(code) for counts in result.fault_counts.values() for code in counts]
        raise typer.Exit(exit_status([code for code in codes if code in PRECEDENCE]))


match_command.__doc__ = f"{match_command.__doc__}\n{EXAMPLES}"


def gather_sprt(words: list[str]) -> list[str]:
    """`--sprt elo0=0 elo1=10` as one word each for the option and for its value."""
    if "--sprt" not in words:
        return words
    place = words.index("--sprt") + 1
    end = place
    while end < len(words) and re.fullmatch(r"\w+=[-+\d.].*|(elo|alpha|beta)\w*=.*", words[end]):
        end += 1
    return [*words[:place], " ".join(words[place:end]), *words[end:]]
