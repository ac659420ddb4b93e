"""The `referee` command. Thin: each function parses, calls one thing of the API and prints.

Only the module of the command that was typed is imported: nobody who asks for the standings should
wait for the arena.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from functools import partial
from importlib import import_module

import typer

from referee.cli.console import run
from referee.version import __version__

COMMANDS = {
    "tournament": "tournament",
    "match": "match",
    "play": "play",
    "watch": "watch",
    "new-bot": "new_bot",
    "check": "check",
    "standings": "standings",
    "report": "report",
    "export": "standings",
    "rate": "rate",
    "replay": "games",
    "verify": "games",
    "repro": "repro",
    "serve": "serve",
    "connect": "connect",
    "submit": "submit",
    "get": "submit",
    "doctor": "doctor",
    "variants": "variants",
    "check-variant": "variants",
    "teams import": "teams",
    "teams list": "teams",
    "teams token": "teams",
    "keys new": "keys",
    "keys trust": "keys",
    "keys list": "keys",
    "keys remove": "keys",
    "season start": "season",
    "season freeze": "season",
    "season reveal": "season",
    "season close": "season",
    "season list": "season",
    "season keep": "keeping",
    "activate": "ladder",
    "pause": "ladder",
    "resume": "ladder",
    "disqualify": "ladder",
    "rule": "rule",
    "archive": "archive",
    "backup": "backup",
}
"""Commands and their modules. The function of `check-variant` is `check_variant_command`."""
GROUPS = {
    "teams": "Who may submit bots to the daemon, and their tokens.",
    "keys": "How bots that connect to the daemon prove who they are.",
    "season": "Start, freeze, reveal and close the seasons of the daemon.",
}
"""First words that several commands share."""


def build_app(wanted: Collection[str] | None = None) -> typer.Typer:
    """The command with the subcommands that begin with these words, or with all of them."""
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
    for name, module in COMMANDS.items():
        first, _, second = name.partition(" ")
        if wanted is not None and first not in wanted:
            continue
        place = app
        if second:
            if first not in groups:
                groups[first] = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
                app.add_typer(groups[first], name=first, help=GROUPS[first])
            place = groups[first]
        function = f"{name.replace('-', '_').replace(' ', '_')}_command"
        place.command(second or first)(getattr(import_module(f"referee.cli.{module}"), function))
    return app


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


def main() -> None:
    words = sys.argv[1:]
    known = {name.partition(" ")[0] for name in COMMANDS}
    named = words[:1] if words and words[0] in known else None
    if named == ["match"]:
        from referee.cli.match import gather_sprt

        words = gather_sprt(words)
    run(partial(build_app, named), words)
