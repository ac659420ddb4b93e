"""`referee tournament`: many bots, one table."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from referee.bots.manifest import BadBot
from referee.cli import console
from referee.cli.confining import (
    Expose,
    Freeze,
    Limit,
    Sandbox,
    exposed,
    read_given_limits,
)
from referee.cli.logs import log_lines, newest_log
from referee.cli.screen import Screen
from referee.cli.watching import Lines, LiveView, Stream, Watchers
from referee.mistake import FAILED
from referee.rules.numbers import amount
from referee.store.database import Store
from referee.tournament.begin import (
    Lineup,
    free_folder,
    line_up,
    play_tournament,
    resume_tournament,
)
from referee.tournament.plan import plan
from referee.tournament.plan import told as plan_told
from referee.tournament.reading import bots_in, override, read_spec
from referee.tournament.run import TournamentResult
from referee.tournament.spec import BadSpec, Format, Spec

HOME = Path("tournaments")
DEFAULT_VARIANT = "underdog"
TOGETHER = "Answers that arrive together are charged to the first of them, hence medians of 0."
EXAMPLES = """
**Examples**

    referee tournament --variant underdog

    referee tournament --variant duel --bot ./my_bot --bot counter --bot duel-wall --games 1000

    referee tournament --variant underdog --bots ./submissions --format swiss --time 100ms

    referee tournament tournaments/five.toml --jobs 4 --plan

    referee tournament --resume tournaments/underdog --games 500

Without `--bot` and `--bots`, the sample bots that play the variant meet. Everything can be written
into a spec (TOML); what is given here goes over it. Ctrl-C loses nothing: `--resume` goes on.
"""


def tournament_command(
    spec: Annotated[
        Path | None,
        typer.Argument(metavar="[SPEC]", help="A spec in TOML.", show_default=False),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(
            "--variant",
            "-v",
            help=f"Name of a variant, or path of a script. Can be repeated; {DEFAULT_VARIANT} if "
            "not given.",
        ),
    ] = None,
    bot: Annotated[
        list[str] | None,
        typer.Option(
            help="A bot: a folder with bot.toml, a sample bot, or name=command. Can be repeated."
        ),
    ] = None,
    bots: Annotated[
        Path | None, typer.Option(help="Every bot in this folder.", show_default=False)
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(
            "--games", "-n", help="Games per pairing and variant, both seatings together; 100."
        ),
    ] = None,
    format: Annotated[
        Format | None, typer.Option("--format", "-f", help="Who meets whom; round-robin.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(help="Swiss: rounds; log2 of the bots, rounded up, plus 1.")
    ] = None,
    challenger: Annotated[
        list[str] | None,
        typer.Option(help="Gauntlet: who meets all others; the first bot. Can be repeated."),
    ] = None,
    best_of: Annotated[
        int | None, typer.Option(help="Knockout: meetings that a tie is made of; 1.")
    ] = None,
    replays: Annotated[
        int | None,
        typer.Option(help="Knockout: most replays of a drawn tie, then the higher seed; 3."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="An option of a variant: target=40, or duel.life=30. Can be repeated."),
    ] = None,
    time_limit: Annotated[
        str | None, typer.Option("--time", help="100ms a move, 10s+100ms as bank, or none; 1s.")
    ] = None,
    grace: Annotated[
        str | None, typer.Option(help="How much later an answer may come without being late; 50ms.")
    ] = None,
    warm_up: Annotated[
        str | None, typer.Option(help="Extra time for the first answer of a process; 1s.")
    ] = None,
    startup: Annotated[
        str | None, typer.Option(help="How long a bot may take to start and say hello; 10s.")
    ] = None,
    build_time: Annotated[
        str | None, typer.Option(help="How long the build of a bot may take; 120s.")
    ] = None,
    think: Annotated[
        Literal["in-turn", "parallel"] | None,
        typer.Option(help="One bot thinks at a time on one core, or both at once on two; in-turn."),
    ] = None,
    at_once: Annotated[
        int | None, typer.Option(help="Most games at once, where both bots take many; 64.")
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option(
            help="Any text: the same seed deals the same games. In a contest, leave it out."
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", help="Worker processes; one a core if not given.")
    ] = None,
    sandbox: Sandbox = None,
    limit: Limit = None,
    freeze: Freeze = None,
    expose: Expose = None,
    rank_by: Annotated[
        Literal["elo", "points"] | None,
        typer.Option(help="What the table is ordered by; elo, in a Swiss tournament points."),
    ] = None,
    advantage: Annotated[
        bool | None,
        typer.Option("--advantage/--no-advantage", help="Rate the first seat's advantage too."),
    ] = None,
    prior: Annotated[
        bool | None,
        typer.Option("--prior/--no-prior", help="One virtual draw a bot, for sparse tables."),
    ] = None,
    anchor: Annotated[
        list[str] | None,
        typer.Option(help="Fix a bot's rating: random=0. Can be repeated."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="What it is called; the spec's name, or the variants'.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Its folder; tournaments/NAME if not given.")
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(help="Go on with the tournament in this folder, or add --games to it."),
    ] = None,
    allow_changes: Annotated[
        bool, typer.Option("--allow-changes", help="Resume though a bot or a script has changed.")
    ] = False,
    plan_only: Annotated[
        bool, typer.Option("--plan", help="Show size and worst-case duration, start nothing.")
    ] = False,
    events: Annotated[
        str | None, typer.Option(help="Write events here as JSON lines; - is stdout.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the standings as JSON.")] = False,
) -> None:
    """Play a tournament and write its Elo table."""
    if json and events == "-":
        raise BadSpec("--json and --events - cannot both have standard output")
    given: dict[str, Any] = {
        "name": name,
        "variants": tuple(variant) if variant else None,
        "bots": _bots(bot, bots),
        "games": games,
        "format": format,
        "rounds": rounds,
        "challengers": tuple(challenger) if challenger else None,
        "best_of": best_of,
        "replays": replays,
        "time": time_limit,
        "grace": grace,
        "warm_up": warm_up,
        "startup": startup,
        "build_time": build_time,
        "think": think,
        "at_once": at_once,
        "seed": seed,
        "jobs": jobs,
        "rank_by": rank_by,
        "advantage": advantage,
        "prior": prior,
        "anchors": _anchors(anchor),
        "sandbox": sandbox,
        "limits": read_given_limits(limit),
        "freeze": freeze,
        "expose": exposed(expose),
    }
    if resume is not None:
        if out is not None or option or plan_only:
            raise BadSpec(f"--resume goes on as {resume} was begun: no --out, --option or --plan")
        result = _resume(resume, spec, given, events, allow_changes=allow_changes)
    else:
        lineup = line_up(_spec(spec, given, option or []))
        for name in lineup.idle():
            console.err.print(f"{name} plays none of the variants and is left out")
        if plan_only:
            _show_plan(lineup, as_json=json)
            return
        folder = out or free_folder(HOME, lineup.spec.name)
        result = _play(lineup.spec, folder, events)
    _show(result, as_json=json, to_stderr=events == "-")


tournament_command.__doc__ = f"{tournament_command.__doc__}\n{EXAMPLES}"


def _spec(path: Path | None, given: dict[str, Any], options: list[str]) -> Spec:
    if path is None:
        variants = given["variants"] or (DEFAULT_VARIANT,)
        name = "-".join(Path(text).stem for text in variants)
        base = Spec(name=name[:60], variants=variants)
    else:
        base = read_spec(path)
    return override(base, option=options, **given)


def _bots(named: list[str] | None, folder: Path | None) -> tuple[str, ...] | None:
    found = list(named or [])
    if folder is not None:
        there = bots_in(folder)
        if not there:
            raise BadBot(f"{folder}: no folder in it has a bot.toml")
        found += there
    return tuple(found) or None


def _anchors(words: list[str] | None) -> dict[str, float] | None:
    if not words:
        return None
    anchors: dict[str, float] = {}
    for word in words:
        name, equals, elo = word.rpartition("=")
        try:
            if not equals or not name:
                raise ValueError
            anchors[name] = float(elo)
        except ValueError:
            raise BadSpec(f"--anchor takes NAME=ELO, for example random=0, not {word!r}") from None
    return anchors


def _show_plan(lineup: Lineup, *, as_json: bool) -> None:
    planned = plan(lineup.spec, lineup.players)
    if as_json:
        console.print_json(planned)
    else:
        for line in plan_told(planned):
            console.out.print(line)


def _watchers(stack: ExitStack, events: str | None, *, resumed: bool) -> Watchers:
    view: LiveView | Lines = LiveView() if console.err.is_terminal else Lines()
    stack.enter_context(view)
    if events is None:
        return Watchers([view])
    return Watchers([view, stack.enter_context(Stream(events, resumed=resumed))])


def _play(spec: Spec, folder: Path, events: str | None) -> TournamentResult:
    with ExitStack() as stack:
        stack.enter_context(_SafeEnd(folder))  # speaks when the live view is gone
        listener = _watchers(stack, events, resumed=False)
        return play_tournament(spec, folder, listener=listener, each_game=events is not None)


def _resume(
    folder: Path,
    path: Path | None,
    given: dict[str, Any],
    events: str | None,
    *,
    allow_changes: bool,
) -> TournamentResult:
    with ExitStack() as stack:
        stack.enter_context(_SafeEnd(folder))  # speaks when the live view is gone
        listener = _watchers(stack, events, resumed=True)
        return resume_tournament(
            folder,
            given=given,
            spec=None if path is None else read_spec(path),
            allow_changes=allow_changes,
            listener=listener,
            each_game=events is not None,
        )


class _SafeEnd:
    """Says how to go on where a tournament is ended before its end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or issubclass(kind, Exception):
            return
        try:
            with Store.read(self._folder) as store:
                played = sum(store.counts().values())
        except Exception:
            return  # Nothing had begun.
        console.err.print(
            f"{amount(played, 'game')} in the store; go on with: "
            f"referee tournament --resume {self._folder}"
        )


def _show(result: TournamentResult, *, as_json: bool, to_stderr: bool) -> None:
    """Write the tables, and show them."""
    from referee.reports.standings import standings, timings  # numpy: not before it is needed
    from referee.reports.tables.files import write_tables
    from referee.reports.tables.text import as_text, timing_table

    folder = Path(result.folder)
    with Store.read(folder) as store:
        table, times = standings(store), timings(store)
    written = write_tables(folder, table, times)
    if as_json:
        console.print_json(table)
    else:
        screen = console.err if to_stderr else console.out
        screen.pieces(as_text(table, screen.width))
        screen.print()
        screen.print(timing_table(times, screen.width))
        if any(time.median_us == 0 for time in times):
            screen.prose(TOGETHER)
        screen.print()
        rate = f", {result.new / result.took_s:.0f} games/s" if result.new else ""
        screen.print(f"{amount(result.new, 'game')} in {result.took_s:.1f} s{rate}")
        failed = {row.name: 0 for each in table.tables for row in each.rows if row.faults}
        _show_logs(screen, folder, {**failed, **result.out})
        screen.print(f"Written to {folder}: {', '.join(path.name for path in written)}")
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
