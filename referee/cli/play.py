"""`referee play`: a person at the terminal, against a bot or another person."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from referee.bots.building import built
from referee.bots.confinement import UNCONFINED
from referee.bots.manifest import Bot, find_bot
from referee.cli import console
from referee.cli.confining import confinement
from referee.cli.options import Expose, Limit, Sandbox
from referee.clock import read_clock
from referee.match import BadMatch
from referee.mistake import Mistake
from referee.protocol.messages import NAME_LIMIT
from referee.rules.registry import BadVariant, blame_script, build_variant
from referee.sparring import Bout, spar

DEFAULT_TIME = "10s"

OTHER_SCREEN = "\x1b[?1049h"
FIRST_SCREEN = "\x1b[?1049l"
CLEAR_SCREEN = "\x1b[2J\x1b[H"
CLEAR_LINE = "\r\x1b[K"

EXAMPLES = """
**Examples**

    referee play --variant duel --against counter

    referee play --variant deck --against ./my_bot --seat 1 --name Ann

    referee play --variant underdog --name Ann --name Bob

A BOT is a folder with `bot.toml`, the name of a sample bot, or `"name=command line"`.
"""


def play_command(
    variant: Annotated[
        str, typer.Option("--variant", "-v", help="Name of a variant, or path of a script.")
    ] = "underdog",
    against: Annotated[
        str | None,
        typer.Option(metavar="BOT", help="The bot to play; without it two people play."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="An option of the variant, name=value. Can be repeated."),
    ] = None,
    seat: Annotated[
        int | None,
        typer.Option(min=0, max=1, help="Your seat against a bot, 0 if not given."),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(help="Your name. Repeat it for the second of two people."),
    ] = None,
    seed: Annotated[
        str | None, typer.Option(help="Any text; the same seed deals the same game.")
    ] = None,
    time_limit: Annotated[
        str,
        typer.Option("--time", help="For the bot: 10s for every move, 60s+1s as bank, or none."),
    ] = DEFAULT_TIME,
    sandbox: Sandbox = None,
    limit: Limit = None,
    expose: Expose = None,
    logs: Annotated[Path, typer.Option(help="Folder for what the bot writes to stderr.")] = Path(
        "referee-logs"
    ),
) -> None:
    """Play a game yourself, against a bot or against somebody at the same keyboard."""
    if against is None and seat is not None:
        raise BadMatch("--seat is for a game against a bot; two people sit in the order of --name")
    rules = build_variant(variant, console.read_options(option or []))
    bot = None if against is None else _find_bot(against, rules.name)
    bot_seat = 0 if seat == 1 else 1
    players, clock = _players(name or [], bot, bot_seat), read_clock(time_limit)
    seed = secrets.token_hex(8) if seed is None else seed
    confined = UNCONFINED
    if bot is not None:
        confined = confinement(sandbox, limit, expose, bots=[bot])
    bout = Bout(
        variant=rules,
        players=players,
        seed=seed,
        clock=clock,
        bot=bot and built(bot, confined, on_build=console.tell_build, compiler_cache=True),
        bot_seat=bot_seat,
        logs=logs,
        confinement=confined,
    )
    terminal = Terminal()
    if terminal.copied and bot is None and rules.hidden_chance:
        raise BadMatch("two people hide their cards from each other, so output must be a terminal")
    try:
        spar(bout, terminal)
    except Exception as error:
        if isinstance(error, OSError | Mistake) or type(rules).__module__.startswith("referee."):
            raise
        raise BadVariant(blame_script(error, type(rules))) from error
    terminal.tell(f"Seed {seed}: with --seed {shlex.quote(seed)} the same game is dealt again.")


play_command.__doc__ = f"{play_command.__doc__}\n{EXAMPLES}"


def _find_bot(text: str, variant: str) -> Bot:
    bot = find_bot(text)
    bot.must_play(variant)
    return bot


def _players(names: list[str], bot: Bot | None, bot_seat: int) -> tuple[str, str]:
    """Both names in seat order: those given, or what the rule books call the players."""
    players = ["Player 1", "Player 2"]
    seats = [0, 1] if bot is None else [1 - bot_seat]
    if bot is not None:
        players[bot_seat] = bot.name
    if len(names) > len(seats):
        raise BadMatch(f"--name is given {len(names)} times, for {len(seats)} at the keyboard")
    for seat, name in zip(seats, names, strict=False):
        if not name.strip() or not name.isprintable() or len(name) > NAME_LIMIT:
            raise BadMatch(f"--name takes 1 to {NAME_LIMIT} printable characters, not {name!r}")
        players[seat] = name.strip()
    if players[0] == players[1]:
        raise BadMatch(f"both players are called {players[0]}; --name gives another name")
    return players[0], players[1]


class Terminal:
    """A person's screen and keyboard, or the files and pipes that stand in for them."""

    def __init__(self) -> None:
        self._keys = sys.stdin is not None and sys.stdin.isatty()
        self.copied = self._keys and not sys.stdout.isatty()
        """Whether people type while what they see goes somewhere else as well."""
        self.screen = self._keys and sys.stdout.isatty()
        self._dumb = os.environ.get("TERM", "dumb") == "dumb"

    def tell(self, *lines: str) -> None:
        self._show("".join(f"{line}\n" for line in lines))

    def ask(self, prompt: str, *, secret: bool = False) -> str:
        with _no_echo() if secret and self._keys else nullcontext():
            self._show(prompt)
            try:
                line = sys.stdin.buffer.readline() if sys.stdin is not None else b""
            except KeyboardInterrupt:
                self._show("\n")
                raise
        if not line:
            self._show("\n")
            raise EOFError
        typed = line.decode("utf-8", "replace").rstrip("\r\n")
        # A keyboard echoes by itself, but not a secret; lines from a file make a whole transcript.
        if secret or not self._keys:
            self._show("(not shown)\n" if secret else f"{typed}\n")
        return typed

    @contextmanager
    def private(self) -> Iterator[None]:
        # The other screen of a terminal keeps no history; one without it is wiped clean.
        if not self.screen:
            yield
            return
        wipe = "\n" * shutil.get_terminal_size().lines if self._dumb else CLEAR_SCREEN
        self._show(wipe if self._dumb else OTHER_SCREEN + wipe)
        try:
            yield
        finally:
            self._show(wipe if self._dumb else wipe + FIRST_SCREEN)

    @contextmanager
    def meanwhile(self, what: str) -> Iterator[None]:
        if not self.screen or self._dumb:
            yield
            return
        self._show(what)
        try:
            yield
        finally:
            self._show(CLEAR_LINE)

    def _show(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


@contextmanager
def _no_echo() -> Iterator[None]:
    """What is typed does not show; what was typed before, where it still did, is not taken."""
    keys = sys.stdin.fileno()
    before = termios.tcgetattr(keys)
    silent = [*before]
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(keys, termios.TCSAFLUSH, silent)
    try:
        yield
    finally:
        termios.tcsetattr(keys, termios.TCSAFLUSH, before)
