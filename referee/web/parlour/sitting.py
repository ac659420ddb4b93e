"""One person and one bot at a table, in a thread of their own.

Rules and faults are the table's, and the bot is the arena's, as where a person plays in a terminal.
A browser comes and goes between two moves: so the thread waits for a move that another thread
brings, and what the person may read is kept until it is asked for. A person who does not come back
has left the game after a while. When the process ends, the bot's keeper sees it and ends the bot.
"""

from __future__ import annotations

import secrets
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from referee.arena.game import Game, Setting
from referee.arena.opponent import Opponent
from referee.bots.building import BuildFailed, built
from referee.bots.confinement import Confinement
from referee.bots.manifest import Bot
from referee.bots.process import Share
from referee.clock import DEFAULT_STARTUP_MS, DEFAULT_WARM_UP_MS, BankClock, Clock
from referee.daemon.priorities import UNRATED
from referee.mistake import Mistake
from referee.record import BotInfo
from referee.rules.variant import IllegalMove, Move, Plays, Seat, UnreadableMove, Variant
from referee.schedule import pairing_games
from referee.table import Table
from referee.verdict import BotFault, Ending, Verdict, blame

IDLE_S = 600.0
"""After which a person who has not moved has left the game."""
STARTUP_MS = 2 * DEFAULT_STARTUP_MS
LONGEST_TYPED = 100
NOBODY = BotInfo("", "")

State = Literal["starting", "yours", "thinking", "over"]
Result = Literal["won", "lost", "drawn", "void"]


class Terms(Struct, frozen=True, kw_only=True):
    """What is to be played, and by whom."""

    variant: Variant[Any, Any]
    bot: Bot
    """As it was handed in. What was built of it is in the cache."""
    bot_name: str
    """What the person knows it by."""
    person: str
    seat: Seat
    """The person's."""
    clock: Clock
    """The bot's; people take the time they need."""
    confinement: Confinement
    cache: Path

    @property
    def names(self) -> tuple[str, str]:
        return (self.bot_name, self.person) if self.seat else (self.person, self.bot_name)


class Asked(Struct, frozen=True, kw_only=True):
    """What a person reads before a move."""

    number: int
    """Of this turn, from 1: a form that comes twice is heard once."""
    situation: list[str]
    prompt: str
    legal: list[Move] | None
    """None where they are too many to list."""
    help: str


class Shown(Struct, frozen=True, kw_only=True):
    """A game as its person sees it at one moment. Nothing in it that the seat may not know."""

    terms: Terms
    state: State
    opening: list[str]
    steps: list[list[str]]
    """What happened, a list of lines for each play or round."""
    asked: Asked | None
    slip: str
    """What was wrong with what was sent last."""
    ending: list[str]
    result: Result | None
    idle_s: float
    """Since the person was last heard."""


class Left(Exception):
    """The person has had enough."""


class NotBuilt(Mistake):
    """What was built of the bot is gone. The daemon builds it again, on cores of its choice."""


class Sitting:
    """A game from the moment when it is asked for; `start` begins it."""

    def __init__(
        self,
        key: str,
        terms: Terms,
        cores: frozenset[int] = frozenset(),
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """The bot runs on these cores; none are those of this process."""
        self.key = key
        """Whose it is, for counting."""
        self.terms = terms
        self._share = Share(cores, UNRATED)
        self._now = now
        self._changed = threading.Condition()
        self._heard = now()
        self._state: State = "starting"
        self._opening: list[str] = []
        self._steps: list[list[str]] = []
        self._told: list[tuple[Any, Plays[Any], Any]] = []
        """What the steps were made of: afterwards they are told in full."""
        self._asked: Asked | None = None
        self._position: Any = None
        self._move: Any = None
        self._leaving = ""
        self._slip = ""
        self._ending: list[str] = []
        self._result: Result | None = None
        self._thread = threading.Thread(target=self._run, name="sitting", daemon=True)

    def start(self) -> None:
        self._thread.start()

    # From other threads.

    @property
    def over(self) -> bool:
        return self._state == "over"

    @property
    def settled(self) -> bool:
        """Whether the person can do something, or the game is over."""
        return self._state in ("yours", "over")

    @property
    def idle_s(self) -> float:
        """How long the table has waited for the person."""
        return self._now() - self._heard if self._state == "yours" else 0.0

    def show(self) -> Shown:
        with self._changed:
            return Shown(
                terms=self.terms,
                state=self._state,
                opening=list(self._opening),
                steps=list(self._steps),
                asked=self._asked if self._state == "yours" else None,
                slip=self._slip,
                ending=list(self._ending),
                result=self._result,
                idle_s=self._now() - self._heard,
            )

    def play(self, number: int | None, typed: str) -> None:
        """What the person sent for a turn; what is no move is answered by the next `show`. A form
        that comes twice is heard once; None is one that does not say for which turn it is."""
        variant = self.terms.variant
        with self._changed:
            if self._state != "yours" or self._asked is None:
                return
            if number is None or number > self._asked.number:
                self._slip = f"{typed[:40]!r} was for no turn of this game: choose your move here."
                return
            if number < self._asked.number:
                return
            self._heard = self._now()
            try:
                if len(typed) > LONGEST_TYPED:
                    raise UnreadableMove(f"a move is {variant.move_help}")
                move = variant.typed_move(typed.strip(" \t\"'`"))
                self._move = variant.read_move(self._position, self.terms.seat, move)
            except (IllegalMove, UnreadableMove) as bad:
                self._slip = _sentence(str(bad))
                return
            self._slip = ""
            self._state = "thinking"
            self._changed.notify_all()

    def leave(self, why: str) -> None:
        """End it as soon as the bot can be left alone."""
        with self._changed:
            self._leaving = self._leaving or why
            if self._state == "yours":
                self._state = "thinking"  # nothing more is asked of the person
            self._changed.notify_all()

    def wait(self, within_s: float) -> None:
        """For its end."""
        self._thread.join(within_s)

    # In its own thread.

    def _run(self) -> None:
        try:
            self._play_to_the_end()
        except Mistake as problem:
            # It is told of a bot by its true name, which the person may not know.
            known = self.terms.bot_name == self.terms.bot.name
            told = _sentence(str(problem)) if known else "The bot could not be started."
            self._end(None, [told, "There is no game."])
        except Exception as error:
            traceback.print_exception(error, file=sys.stderr)
            self._end(None, ["The referee failed on this game; its log says more."])

    def _play_to_the_end(self) -> None:
        terms = self.terms
        bot = _ready(terms)
        setting = Setting(
            variant=terms.variant,
            clock=terms.clock,
            players=terms.names,
            bots=(NOBODY, NOBODY),
            level=terms.confinement.level,
        )
        (order,) = pairing_games(
            secrets.token_hex(16), terms.variant.name, "first", "second", 1, hidden_chance=False
        )
        game = Game(order, setting, BankClock(terms.clock))
        opponent = Opponent(
            bot,
            1 - terms.seat,
            game,
            setting,
            startup_ms=STARTUP_MS,
            warm_up_ms=DEFAULT_WARM_UP_MS,
            confinement=terms.confinement,
            share=self._share,
        )
        try:
            verdict = self._verdict(game.table, opponent)
            self._conclude(game.table, verdict)
            opponent.finish(verdict)
        finally:
            opponent.close()

    def _verdict(self, table: Table, opponent: Opponent) -> Verdict:
        try:
            opponent.sit_down()
            with self._changed:
                self._opening = list(table.variant.opening(table.position, self.terms.names))
            while table.verdict is None:
                self._round(table, opponent)
        except Left as left:
            return _lost(table, self.terms.seat, BotFault(Ending.RESIGN, str(left)))
        except BotFault as fault:
            return _lost(table, opponent.seat, fault)
        return table.verdict

    def _round(self, table: Table, opponent: Opponent) -> None:
        """Ask whoever is to move, the bot last: it learns nothing of what the person chose."""
        variant, seat, names = table.variant, self.terms.seat, self.terms.names
        before, played, due = table.position, len(table.moves), table.due
        if seat in due:
            opponent.rest()
            table.answer(seat, self._await_move(before), 0)
        elif self._leaving:
            raise Left(self._leaving)
        if opponent.seat in due:
            with self._changed:
                self._state = "thinking"
            opponent.move()
        plays: Plays[Any] = tuple(table.moves[played:])
        lines = list(variant.narrate(before, plays, table.position, names, seat))
        with self._changed:
            self._steps.append(lines)
            self._told.append((before, plays, table.position))

    def _await_move(self, position: Any) -> object:
        """The person's move, a legal one. Raises Left."""
        variant, seat = self.terms.variant, self.terms.seat
        *situation, prompt = variant.prompt(position, seat, self.terms.names)
        legal = variant.legal(position, seat)
        with self._changed:
            number = 1 if self._asked is None else self._asked.number + 1
            self._asked = Asked(
                number=number,
                situation=situation,
                prompt=_prompt(prompt, buttons=legal is not None),
                legal=None if legal is None else list(legal),
                help=variant.move_help,
            )
            self._position, self._move = position, None
            self._state = "yours"
            # A bot that takes its time must not use up the patience with the person.
            self._heard = self._now()
            while self._move is None:
                left_s = self._heard + IDLE_S - self._now()
                if self._leaving or left_s <= 0:
                    minutes = round(IDLE_S / 60)
                    away = f"{self.terms.person} was away for {minutes} minutes."
                    self._state = "thinking"
                    raise Left(self._leaving or away)
                self._changed.wait(left_s)
            return self._move

    def _conclude(self, table: Table, verdict: Verdict) -> None:
        variant, names, seat = table.variant, self.terms.names, self.terms.seat
        lines: list[str] = []
        if verdict.ending is Ending.RULES:
            lines = list(variant.conclusion(table.position, names))
        for fault in verdict.faults:
            if fault.seat == seat:
                lines += [fault.detail, f"{names[1 - seat]} wins the game."]
            else:
                lines.append(f"{names[fault.seat]} is at fault: {fault.code}, {fault.detail}.")
                lines.append(f"{names[seat]} wins the game.")
        with self._changed:
            # Now that it is over, nothing is secret any more.
            self._steps = [
                list(variant.narrate(before, plays, after, names))
                for before, plays, after in self._told
            ]
        self._end(verdict, lines)

    def _end(self, verdict: Verdict | None, lines: list[str]) -> None:
        with self._changed:
            if verdict is None:
                self._result = "void"
            elif verdict.winner is None:
                self._result = "drawn" if verdict.ending is Ending.RULES else "void"
            else:
                self._result = "won" if verdict.winner == self.terms.seat else "lost"
            self._ending = lines
            self._state = "over"
            self._told.clear()


def _ready(terms: Terms) -> Bot:
    """The bot, ready to run. Nothing is built here. Raises Mistake."""
    try:
        return built(
            terms.bot, terms.confinement, cache=terms.cache, limit_ms=0, on_build=_not_here
        )
    except (NotBuilt, BuildFailed):
        told = f"{terms.bot.name} is being built again; come back in a minute"
        raise NotBuilt(told) from None


def _not_here(_: str) -> None:
    raise NotBuilt


def _lost(table: Table, seat: Seat, fault: BotFault) -> Verdict:
    told = table.fault(seat, fault.code, fault.detail, fault.received)
    return blame((told,), table.variant.scores(table.position))


def _prompt(text: str, *, buttons: bool) -> str:
    """What is asked. Commands are for keyboards: whoever sees buttons need not know them."""
    if buttons and "command" in text.lower():
        return "Choose your move"
    return text.strip().removesuffix(":")


def _sentence(text: str) -> str:
    text = f"{text[:1].upper()}{text[1:]}"
    return text if text.endswith((".", "!", "?")) else f"{text}."
