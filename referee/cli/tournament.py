"""`referee tournament`: many bots, one table."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from referee.cli.cluster import site_at
from referee.cli.confining import exposed, read_given_limits
from referee.cli.finals import FromSeason, Top, check_finals, finals, finals_folder
from referee.cli.options import DATA, Data, Expose, FreezeStrangers, Limit, Sandbox, Token
from referee.cli.store import StoreUrl, check_store
from referee.cli.tournament_here import lined_up, played, resumed, show_plan
from referee.tournament.begin import free_folder
from referee.tournament.reading import override, read_spec
from referee.tournament.spec import WHOLE, BadSpec, Format, Spec
from referee.tournament.submissions import bots_in

HOME = Path("tournaments")
DEFAULT_VARIANT = "underdog"
EXAMPLES = """
**Examples**

    referee tournament --variant underdog

    referee tournament --variant duel --bot ./my_bot --bot counter --bot duel-wall --games 1000

    referee tournament --variant underdog --bots ./submissions --format swiss --time 100ms

    referee tournament tournaments/five.toml --jobs 4 --plan

    referee tournament --resume tournaments/underdog --games 500

    referee tournament --from-season 1 --top 8 --format knockout

    referee tournament --variant duel --bot rocky --bot greedy --daemon http://contest.example:7780

    referee tournament tournaments/five.toml --cluster tcp://head:8786

    referee tournament tournaments/five.toml --store postgresql://db.example/contest

Without `--bot` and `--bots`, the sample bots that play the variant meet. Who plays what, and how,
can be written into a spec (TOML); what is given here goes over it. Where it is played and kept is
said here alone. Ctrl-C loses nothing: `--resume` goes on.

With `--from-season`, the best of a season of the daemon's data (`--data`) meet, as they were handed
in, with its variants and its clock; bots that connect from elsewhere are passed over.

With `--cluster`, the workers of a dask cluster play: bots are sent there, built there, and confined
as strictly as each worker can. Results are kept here, and `--resume` goes on anywhere.

With `--store`, the games are kept in a PostgreSQL database that many tournaments share; logs and
tables stay in the folder. With `--resume` it says where the database is now.

With `--daemon` and an organiser's token, a daemon plays it among the bots of its ladder: those that
`--bot` names, or all that are there. Ctrl-C stops following it, and it is played on.
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
    restart: Annotated[
        Literal["pairing", "never", "game"] | None,
        typer.Option(
            help="When bots are started anew: with every pairing, never, or with every game. "
            "Stateless bots: never; others: pairing."
        ),
    ] = None,
    block: Annotated[
        int | None,
        typer.Option(
            help="Games of a pairing that one process plays, unless the bot is stateless; 500."
        ),
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option(
            help="Any text: the same seed and salt deal the same games. In a contest, leave it out."
        ),
    ] = None,
    salt: Annotated[
        str | None,
        typer.Option(
            help="The salt that a tournament showed at its end: with its --seed, which it needs, "
            "it deals the same games. Drawn anew if left out."
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            help="Worker processes; one a core if not given. A cluster other than local has its "
            "own.",
        ),
    ] = None,
    sandbox: Sandbox = None,
    limit: Limit = None,
    freeze: FreezeStrangers = None,
    expose: Expose = None,
    rank_by: Annotated[
        Literal["elo", "points"] | None,
        typer.Option(
            help="What the table is ordered by; elo, in a Swiss tournament points. "
            "A knockout is ordered by how far each bot came."
        ),
    ] = None,
    advantage: Annotated[
        bool | None,
        typer.Option("--advantage/--no-advantage", help="Rate the first seat's advantage too."),
    ] = None,
    prior: Annotated[
        bool | None,
        typer.Option("--prior/--no-prior", help="One virtual draw a bot, for sparse tables."),
    ] = None,
    team: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=BOT,BOT…", help="Bots of one team do not meet. Can be repeated."
        ),
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
    daemon: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Have it played by this daemon, among its bots."),
    ] = None,
    token: Token = "",
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Play on a dask cluster: tcp://HOST:PORT, a scheduler file, or local.",
        ),
    ] = None,
    store: StoreUrl = None,
    from_season: FromSeason = None,
    top: Top = None,
    data: Data = DATA,
) -> None:
    """Play a tournament and write its Elo table."""
    if json and events == "-":
        raise BadSpec("--json and --events - cannot both have standard output")
    others = {"SPEC": spec, "--bot": bot, "--bots": bots, "--resume": resume, "--daemon": daemon}
    check_finals(from_season, top, others)
    if daemon is not None:
        # HTTP and TLS: for a tournament elsewhere alone.
        from referee.cli.remote import Remote
        from referee.cli.tournament_elsewhere import play_elsewhere, refuse_what_is_of_here

        refuse_what_is_of_here(
            *(("--bots", bots), ("--resume", resume), ("--allow-changes", allow_changes)),
            *(("--plan", plan_only), ("--events", events), ("--jobs", jobs), ("--limit", limit)),
            *(("--build-time", build_time), ("--sandbox", sandbox), ("--freeze", freeze)),
            *(("--expose", expose), ("--cluster", cluster), ("--store", store)),
        )
    given: dict[str, Any] = {
        "name": name,
        "variants": tuple(variant) if variant else None,
        **_bots(bot, bots),
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
        "restart": restart,
        "block": block,
        "seed": seed,
        "salt": salt,
        "jobs": jobs,
        "rank_by": rank_by,
        "advantage": advantage,
        "prior": prior,
        "teams": _teams(team),
        "anchors": _anchors(anchor),
        "sandbox": sandbox,
        "limits": read_given_limits(limit),
        "freeze": freeze,
        "expose": exposed(expose),
    }
    if daemon is not None:
        asked = _spec(spec, given, option or [], elsewhere=True)
        play_elsewhere(Remote(daemon, token), asked, out, HOME, as_json=json)
        return
    check_store(store, resume, out)
    if resume is not None:
        if out is not None or option or plan_only:
            raise BadSpec(f"--resume goes on as {resume} was begun: no --out, --option or --plan")
        with site_at(cluster, jobs, resume) as site:
            result = resumed(resume, spec, given, events, site, store, allow_changes=allow_changes)
    else:
        with ExitStack() as stack:
            base = None
            if from_season is not None:
                place = None if plan_only else finals_folder(from_season, name, out, HOME)
                whole = format in WHOLE
                base = finals(from_season, top, data, variant or (), place, stack, whole=whole)
                out = place or out
            asked = _spec(spec, given, option or [], base=base)
            folder = out or free_folder(HOME, asked.name)
            site = stack.enter_context(site_at(cluster, jobs, folder))
            lineup = lined_up(asked, site.ground)
            if plan_only:
                show_plan(lineup, site.ground, as_json=json)
                return
            result = played(lineup.spec, folder, events, site, store)
    from referee.cli.tournament_shown import show_result  # numpy: not before it is needed

    show_result(result, as_json=json, to_stderr=events == "-")


tournament_command.__doc__ = f"{tournament_command.__doc__}\n{EXAMPLES}"


def _spec(
    path: Path | None,
    given: dict[str, Any],
    options: list[str],
    *,
    elsewhere: bool = False,
    base: Spec | None = None,
) -> Spec:
    """`base` is what it begins with, instead of a file."""
    if base is not None:
        return override(base, option=options, **given)
    if path is None:
        variants = given["variants"] or (DEFAULT_VARIANT,)
        name = "-".join(Path(text).stem for text in variants)
        base = Spec(name=name[:60], variants=variants)
    else:
        base = read_spec(path, elsewhere=elsewhere)
    return override(base, option=options, **given)


def _bots(named: list[str] | None, folder: Path | None) -> dict[str, Any]:
    """Keys of the spec."""
    if folder is None:
        return {"bots": tuple(named) if named else None}
    there = bots_in(folder)
    return {"bots": (*(named or ()), *there.bots), "left_out": there.left_out}


def _teams(words: list[str] | None) -> dict[str, tuple[str, ...]] | None:
    if not words:
        return None
    teams: dict[str, tuple[str, ...]] = {}
    for word in words:
        name, _, bots = word.partition("=")
        members = tuple(filter(None, bots.split(",")))
        if not name or not members:
            raise BadSpec(f"--team takes NAME=BOT,BOT, for example reds=rocky,ruby, not {word!r}")
        teams[name] = (*teams.get(name, ()), *members)
    return teams


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
