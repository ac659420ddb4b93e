"""The command line as a whole: which commands there are, and where each is.

Only the module of the command that was typed is imported: nobody who asks for the standings should
wait for the arena. The list of all commands is shown without importing any of them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import typer

from referee.version import __version__

COMMANDS = {
    "tournament": ("tournament", "Play a tournament and write its Elo table."),
    "match": (
        "match",
        "Play two bots against each other: score, Elo difference, and its 95 % interval.",
    ),
    "play": (
        "play",
        "Play a game yourself, against a bot or against somebody at the same keyboard.",
    ),
    "watch": (
        "watch",
        "Watch two bots play one game, round by round, with their times and their notes.",
    ),
    "new-bot": (
        "new_bot",
        "Write a new bot in a language of your choice: a folder that works at once.",
    ),
    "check": ("check", "Check that a bot keeps the protocol, step by step."),
    "standings": ("standings", "Show the tables of a tournament, finished or in progress."),
    "report": (
        "report",
        "Write a tournament as one HTML file: tables, ratings over time, games to replay, faults.",
    ),
    "export": (
        "standings",
        "Write the records of a tournament to standard output, as JSON lines in their order.",
    ),
    "rate": (
        "rate",
        "Rate players by results from anywhere: Elo with 95 % intervals, rank ranges, cycles.",
    ),
    "replay": ("games", "Show a finished game round by round, in the words of its rule book."),
    "verify": (
        "games",
        "Judge every record again from its chance and moves, and compare every field.",
    ),
    "repro": (
        "repro",
        "Give a bot a stored game again, with the clock off, and compare its answers.",
    ),
    "serve": (
        "serve",
        "Run the daemon: a ladder that never stops, pages to watch, an endpoint for bots.",
    ),
    "connect": (
        "connect",
        "Connect a bot to a referee that runs elsewhere as a daemon (`referee serve`).",
    ),
    "submit": ("submit", "Hand in a bot's folder to a ladder, and see what becomes of it."),
    "get": (
        "submit",
        "Fetch the record of a game; with your token also notes and stderr of your own bots.",
    ),
    "doctor": (
        "doctor",
        "Show how bots can be confined on this machine, and what would mend what fails.",
    ),
    "variants": ("variants", "List the variants, or show one: rules, rulings, options, best play."),
    "check-variant": (
        "variants",
        "Run the conformance kit on a variant: does the script keep the contract?",
    ),
    "teams import": ("teams", "Add the teams of a list, and print their tokens."),
    "teams list": ("teams", "Show the teams."),
    "teams token": (
        "teams",
        "Give a team another token, and print it. The one it had is void from now on.",
    ),
    "keys new": ("keys", "Make the key pair of a bot that connects, and let it in."),
    "keys trust": ("keys", "Let a bot in whose authors have made their own key pair."),
    "keys list": ("keys", "Show the bots that may connect."),
    "keys remove": ("keys", "Let a bot in no more: neither its key nor its token is taken."),
    "season start": ("season", "Start a season. The one before has to be closed."),
    "season freeze": (
        "season",
        "Freeze the public scoreboard: games go on, and only organisers see what comes of them.",
    ),
    "season reveal": ("season", "Show everybody the true scoreboard again."),
    "season close": (
        "season",
        "End a season: no more games. What is frozen stays so until it is revealed.",
    ),
    "season list": ("season", "Show the seasons."),
    "season keep": (
        "keeping",
        "Say for how long the records of games are kept, or how large a season may become.",
    ),
    "activate": (
        "ladder",
        "Let a version of a bot play instead of the one that does, for example an older one.",
    ),
    "pause": ("ladder", "Give a bot no new games until it is resumed."),
    "resume": ("ladder", "Let a bot play again that was paused."),
    "disqualify": (
        "ladder",
        "Let a bot play no more. Its games stay; `referee rule` decides on single ones.",
    ),
    "rule": ("rule", "Decide on a game after an appeal. Its record stays as it is."),
    "archive": (
        "archive",
        "Archive a season: records, tables, spec, rules, hashes, and pages that open fast.",
    ),
    "backup": (
        "backup",
        "Copy the whole data folder into one file, while the daemon runs; or make a folder of it.",
    ),
}
"""Commands, each with its module and the first sentence of its help. The function of
`check-variant` is `check_variant_command`."""
GROUPS = {
    "teams": "Who may submit bots to the daemon, and their tokens.",
    "keys": "How bots that connect to the daemon prove who they are.",
    "season": "Start, freeze, reveal and close the seasons of the daemon.",
}
"""First words that several commands share."""


def first_words() -> set[str]:
    """What a command line may begin with."""
    return {name.partition(" ")[0] for name in COMMANDS}


def build_app(wanted: str | None = None, *, listed: bool = False) -> typer.Typer:
    """The command with the subcommands that begin with this word, or with all of them. Where they
    are only `listed`, none of them can be run, and none is imported."""
    app = typer.Typer(
        name="referee",
        help="A referee for bot competitions: it starts bots in any language, deals them games, "
        "enforces clocks and legal moves, keeps a record of every game, runs tournaments and "
        "rates the bots.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="Exit status: 0 done; 1 what was checked does not hold; 2 bad input; 3 the system "
        "refused (disk, permission, database server); 4 the variant failed in a game; "
        "10 and up with --strict, by blame code; 130 interrupted; 141 whoever read the output "
        "has hung up; 143 terminated.",
    )
    app.callback()(_options)
    groups: dict[str, typer.Typer] = {}
    for name, (module, summary) in COMMANDS.items():
        first, _, second = name.partition(" ")
        if wanted is not None and first != wanted:
            continue
        place = app
        if second:
            if first not in groups:
                groups[first] = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
                app.add_typer(groups[first], name=first, help=GROUPS[first])
            place = groups[first]
        if listed:
            place.command(second or first, help=summary)(_listed)
        else:
            place.command(second or first)(_function(name, module))
    return app


def _function(name: str, module: str) -> Callable[..., None]:
    plain = name.replace("-", "_").replace(" ", "_")
    function: Callable[..., None] = getattr(
        import_module(f"referee.cli.{module}"), f"{plain}_command"
    )
    return function


def _listed() -> None:
    """A command of which the summary alone is shown."""


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"referee {__version__}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    pass
