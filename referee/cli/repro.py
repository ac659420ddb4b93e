"""`referee repro`: a stored game once more, for one bot, with the clock off."""

from __future__ import annotations

import json as plain_json
import re
import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from referee.bots.building import built
from referee.bots.manifest import Bot, find_bot
from referee.cli import console
from referee.cli.confining import confinement
from referee.cli.games import Script, find_record, record_lines
from referee.cli.options import Expose, Limit, Sandbox
from referee.dialogue import dialogue, fault_of
from referee.record import BadRecord, Record, read_records
from referee.replaying import Mismatch
from referee.rules.numbers import amount
from referee.store.database import BadStore, Store
from referee.store.place import is_address
from referee.verdict import AT_START, Ending, Fault
from referee.workshop.repro import (
    BadRepro,
    Heard,
    Repro,
    Running,
    Seen,
    Told,
    Waiting,
    has_changed,
    repro,
)

ANEW = (
    "The bot was started anew for this game: a fault that needs the games before it in the same "
    "process cannot come."
)
AT_RANDOM = (
    "A bot that plays at random can repeat its moves only if it draws by the bot_seed of start."
)

_decode = msgspec.msgpack.Decoder(Record).decode


def repro_command(
    records: Annotated[
        str,
        typer.Argument(
            metavar="RECORDS",
            help="Records, JSON lines, or the folder or address of a tournament; - is stdin.",
            show_default=False,
        ),
    ],
    bot: Annotated[
        str,
        typer.Option(
            help="The bot: a folder with bot.toml, a sample bot, or name=command.",
            show_default=False,
        ),
    ],
    game: Annotated[
        str | None, typer.Argument(help="Which game; the first if left out.", show_default=False)
    ] = None,
    seat: Annotated[
        int | None,
        typer.Option(min=0, max=1, help="Its seat; that of the player with its name if not given."),
    ] = None,
    from_turn: Annotated[
        int, typer.Option(min=1, help="Show and compare answers from this turn of the game on.")
    ] = 1,
    wait: Annotated[
        bool,
        typer.Option(
            "--wait",
            help="Wait for Enter before the bot's first line, or before the turn of --from-turn.",
        ),
    ] = False,
    variant: Script = None,
    sandbox: Sandbox = None,
    limit: Limit = None,
    expose: Expose = None,
    json: Annotated[bool, typer.Option("--json", help="Print what came of it as JSON.")] = False,
) -> None:
    """Give a bot a stored game again, with the clock off, and compare its answers.

    The bot is started anew and gets the very lines that it got in the game; what it learnt in games
    before that one it does not know. A record does not hold the ids of turns, so they count from 1,
    nor exactly what was left in a bank, so `left_ms` can be a little off where there was one. Where
    the bot answers otherwise than it did, that is shown, and the game goes on with the recorded
    answer. Turns before `--from-turn` are played too, for bots that remember, but not shown. A turn
    is the place of the answer among the moves of both, as `replay`, `match` and the record of a
    fault count it.

    There is no time limit, so that a debugger can be used; the bot's stderr goes to the terminal.
    Where the bot is confined, a debugger sees other paths than the bot; `--sandbox none` starts it
    as you would. Ctrl-C ends a bot that hangs. The last line says whether the recorded fault came
    again. Exit status 0 where every answer and the fault, or that there was none, is as recorded.

    **Examples**

        referee repro games.jsonl 17 --bot ./my_bot

        referee repro tournaments/five 3-17 --bot "mine=python3 my_bot.py" --from-turn 8 --wait
    """
    if wait and records == "-":
        raise BadRepro("--wait and records on standard input cannot go together")
    record = _record(records, game)
    found = find_bot(bot)
    place = _seat(record, found, seat)
    found.must_play(record.variant)
    try:
        talk = dialogue(record, place, variant)
    except Mismatch as mismatch:
        raise BadRecord(f"{records}: game {record.game}: {mismatch}") from None
    confined = confinement(sandbox, limit, expose, bots=[found])
    screen = _Screen(record, place, found, confined.level, quiet=json)
    told = repro(
        talk,
        built(found, confined, on_build=console.tell_build, compiler_cache=True),
        confinement=confined,
        from_turn=from_turn,
        tell=screen,
        pause=_wait_for_enter if wait else None,
    )
    if json:
        console.print_json({**msgspec.to_builtins(told), "holds": told.holds})
    else:
        for line in _conclusion(told):
            console.out.print(console.printable(line))
    if not told.holds:
        raise typer.Exit(console.DOES_NOT_HOLD)


def _record(path: str, game: str | None) -> Record:
    """The game that is asked for, in a file or in a tournament."""
    if is_address(path) or (path != "-" and Path(path).is_dir()):
        with Store.read(path) as store:
            return _stored(store, game)
    with record_lines(path) as lines:
        return find_record((record for _, record in read_records(lines)), game)


def _stored(store: Store, game: str | None) -> Record:
    key = re.fullmatch(r"(\d{1,9})-(\d{1,9})", game or "", re.ASCII)
    if key is not None:
        body = store.record(int(key[1]), int(key[2]))
    else:
        body = next((each for _, _, each in store.records()), None) if game is None else None
    if body is None:
        hint = "there is none yet" if game is None else "a game is named like 3-17"
        raise BadRecord(f"{store.folder}: there is no game {game or ''!r} in it; {hint}")
    try:
        return _decode(body)
    except msgspec.MsgspecError as error:
        raise BadStore(f"{store.folder}: a record cannot be read: {error}") from None


def _seat(record: Record, bot: Bot, seat: int | None) -> int:
    players = record.players
    if seat is not None:
        return seat
    if bot.name not in players:
        raise BadRepro(
            f"{bot.name} is no player of game {record.game}: {players[0]} has seat 0, {players[1]} "
            f"seat 1; --seat says whose answers are compared, or --bot {players[0]}=COMMAND"
        )
    return players.index(bot.name)


def _wait_for_enter() -> None:
    console.err.print("press Enter to go on")
    sys.stdin.readline()


class _Screen:
    """Shows what happens as it happens."""

    def __init__(self, record: Record, seat: int, bot: Bot, level: str, *, quiet: bool) -> None:
        self._name = bot.name
        self._fault = fault_of(record, seat)
        self._quiet = quiet
        names = record.players
        title = f"Game {record.game} of {record.variant}: {names[0]} against {names[1]}"
        place = "" if bot.name == names[seat] else f" in place of {names[seat]}"
        self._title = [f"{title}. {bot.name} has seat {seat}{place}, and the clock is off."]
        if has_changed(record, seat, bot):
            self._title.append(f"{bot.name} has changed since the game: its hash is another.")
        if level != record.level:
            self._title.append(
                f"The game was played at level {record.level}, and now it is {level}."
            )

    def __call__(self, told: Told) -> None:
        for line in self._title:
            self._print(line)
        self._title.clear()
        if isinstance(told, Running):
            hint = f"a debugger can be attached, for example gdb -p {told.pid}; --wait leaves time"
            console.err.print(f"{self._name} is process {told.pid}: {hint}")
        elif isinstance(told, Waiting):
            what = f"turn {told.turn}: no answer" if told.turn else "no hello"
            console.err.print(f"{what} within {told.limit_ms} ms; Ctrl-C ends the wait")
        elif isinstance(told, Heard):
            failed = self._fault is not None and self._fault.turn == told.turn
            self._print(_answer_line(told, self._fault if failed else None))
            if told.same is False or failed:
                self._print(f"  it was sent {told.sent}")
        else:
            self._print(_fault_text(told))
            if told.sent:
                self._print(f"  it was sent {told.sent}")

    def _print(self, line: str) -> None:
        if not self._quiet:
            console.out.print(console.printable(line))


def _answer_line(heard: Heard, fault: Fault | None) -> str:
    if fault is not None:
        compared = f", recorded is {fault.code}, {fault.detail}"
    elif heard.same is None:
        compared = ", and the record does not say what it was"
    else:
        compared = " as recorded" if heard.same else f", recorded is {_shown(heard.recorded)}"
    trouble = "" if heard.trouble is None else f"; it would lose the game: {heard.trouble}"
    note = "" if heard.note is None else f"; its note: {heard.note}"
    move = "a resign" if heard.move is None and heard.trouble else _shown(heard.move)
    return f"turn {heard.turn}: {move}{compared} ({heard.spent_ms:.0f} ms){trouble}{note}"


def _shown(move: Any) -> str:
    return plain_json.dumps(move, ensure_ascii=False)


def _fault_text(seen: Seen) -> str:
    before = "before " if seen.code in AT_START else ""
    recorded = "" if seen.recorded is None else f"; recorded is {_shown(seen.recorded)}"
    came = f"; it sent {seen.received}" if seen.received else ""
    return f"{before}turn {seen.turn}: {seen.code}, {seen.detail}{recorded}{came}"


def _conclusion(told: Repro) -> list[str]:
    recorded, seen = told.recorded, told.seen
    now = "" if seen is None else f"; now there was {_named(seen.code, seen.turn)}"
    if recorded is None:
        return [*_comparison(told), f"The record has no fault of {told.player}{now}."]
    fault = f"The recorded fault, {_named(recorded.code, recorded.turn)},"
    if told.came_again:
        return [*_comparison(told), f"{fault} came again."]
    lines = [*_comparison(told), f"{fault} did not come again{now}."]
    if seen is None and recorded.code not in AT_START:
        lines.append(ANEW)
    return lines


def _named(code: Ending, turn: int) -> str:
    """A fault; one at the start has no turn."""
    return code if code in AT_START or code is Ending.FORFEIT else f"{code} at turn {turn}"


def _comparison(told: Repro) -> list[str]:
    """How the answers went."""
    compared = sum(heard.same is not None for heard in told.answers)
    if not compared and not told.missing:
        return ["No answer is recorded that could be compared"]
    if not compared:
        return [f"{amount(told.missing, 'recorded answer')}, and the bot gave none"]
    more = f"; {told.missing} more recorded, to which it did not come" if told.missing else ""
    if not told.differences:
        return [f"{amount(compared, 'answer')}, all as recorded{more}"]
    lines = [f"{told.differences} of {amount(compared, 'answer')} not as recorded{more}"]
    if 2 * told.differences > compared and told.bot == told.player:
        lines.append(AT_RANDOM)
    return lines
