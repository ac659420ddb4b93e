"""A game with people in it: one against a bot, or two at the same keyboard.

Rules and faults are the table's, and the bot is the arena's; here is who is asked when, what each
may read, and which words are no moves. Screen and keyboard are behind a `Voice`: the command gives
a terminal, a test can give a script.

Two people at one screen keep their secrets like this. Where both choose at once, nobody's typing
is shown. Where luck deals secrets (`hidden_chance`), a player reads and types in private, and what
both read afterwards are the lines that their own accounts have in common.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from referee.arena.game import Game, Setting
from referee.arena.opponent import Opponent
from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.manifest import Bot
from referee.clock import BankClock, Clock
from referee.record import BotInfo
from referee.rules.variant import Plays, Seat, Variant
from referee.schedule import pairing_games
from referee.verdict import BotFault, Ending, Verdict, blame

HINT = "Type help for what you can type, rules for the rule book, quit to leave."


class Voice(Protocol):
    """How a game speaks to the people in it."""

    screen: bool
    """Whether they sit at a screen, which keeps what was shown on it."""

    def tell(self, *lines: str) -> None: ...

    def ask(self, prompt: str, *, secret: bool = False) -> str:
        """One typed line. What is typed in secret must not show. Raises EOFError."""

    def private(self) -> AbstractContextManager[None]:
        """What is told and typed inside is gone from the screen afterwards."""

    def meanwhile(self, what: str) -> AbstractContextManager[None]:
        """Shown as long as it lasts."""


class Bout(Struct, frozen=True, kw_only=True):
    """What is to be played, and by whom."""

    variant: Variant[Any, Any]
    players: tuple[str, str]
    seed: str
    """The same seed deals the same game, whoever plays it."""
    clock: Clock
    """The bot's; people take the time they need."""
    bot: Bot | None = None
    """None where two people play."""
    bot_seat: Seat = 1
    logs: Path | None = None
    confinement: Confinement = UNCONFINED
    """The bot's, again."""


class Left(Exception):
    """A person has had enough."""


def spar(bout: Bout, voice: Voice) -> Verdict:
    """Play one game to its end. Whatever happens, no process is left behind."""
    variant, nobody = bout.variant, BotInfo("", "")
    setting = Setting(
        variant=variant,
        clock=bout.clock,
        players=bout.players,
        bots=(nobody,) * 2,
        level=bout.confinement.level,
    )
    (order,) = pairing_games(bout.seed, variant.name, "first", "second", 1, hidden_chance=False)
    game = Game(order, setting, BankClock(bout.clock))
    if bout.bot is None:
        return _Sparring(voice, game, bout.players, None).play()
    opponent = Opponent(
        bout.bot, bout.bot_seat, game, setting, logs=bout.logs, confinement=bout.confinement
    )
    try:
        verdict = _Sparring(voice, game, bout.players, opponent).play()
        opponent.finish(verdict)
        return verdict
    finally:
        opponent.close()


class _Sparring:
    """One game, from the first word to the last."""

    def __init__(
        self, voice: Voice, game: Game, names: tuple[str, str], opponent: Opponent | None
    ) -> None:
        self._voice = voice
        self._table = game.table
        self._variant = game.table.variant
        self._names = names
        self._opponent = opponent
        self._unread: list[list[str]] = [[], []]
        """What each seat may read of the last plays when it is alone."""

    def play(self) -> Verdict:
        verdict = self._begin()
        while verdict is None:
            verdict = self._round()
        self._conclude(verdict)
        return verdict

    def _begin(self) -> Verdict | None:
        """Set the bot to the board and say what is played; a verdict where that fails."""
        opponent, variant, position = self._opponent, self._variant, self._table.position
        self._voice.tell(f"{variant.name}: {variant.summary}")
        if opponent is not None:
            try:
                with self._voice.meanwhile(f"{self._names[opponent.seat]} is starting …"):
                    opponent.sit_down()
            except BotFault as fault:
                return self._lost(opponent.seat, fault)
        self._voice.tell(*variant.opening(position, self._names), HINT)
        if opponent is None and len(self._table.due) == 2 and self._voice.screen:
            self._voice.tell("Both choose in secret: what you type does not show.")
        return None

    def _round(self) -> Verdict | None:
        """Ask whose turn it is and say what came of it; the verdict if that ends the game."""
        table, opponent, due = self._table, self._opponent, self._table.due
        before, played = table.position, len(table.moves)
        for seat in due:
            if opponent is None or seat != opponent.seat:
                try:
                    self._ask(seat)
                except Left as left:
                    return self._lost(seat, BotFault(Ending.RESIGN, str(left)))
        # The bot comes last, so that its fault ends the round. It learns nothing by it.
        if opponent is not None and opponent.seat in due:
            try:
                with self._voice.meanwhile(f"{self._names[opponent.seat]} is thinking …"):
                    opponent.move()
            except BotFault as fault:
                return self._lost(opponent.seat, fault)
        self._narrate(before, tuple(table.moves[played:]))
        return table.verdict

    def _lost(self, seat: Seat, fault: BotFault) -> Verdict:
        told = self._table.fault(seat, fault.code, fault.detail, fault.received)
        return blame((told,), self._variant.scores(self._table.position))

    # What people read.

    def _narrate(self, before: Any, plays: Plays[Any]) -> None:
        narrate, after = self._variant.narrate, self._table.position
        texts = [narrate(before, plays, after, self._names, seat) for seat in (0, 1)]
        if self._opponent is not None:
            lines = texts[1 - self._opponent.seat]
        else:
            lines = [line for line in texts[0] if line in texts[1]]
            for seat in (0, 1):
                self._unread[seat] += texts[seat]
        if not (lines and lines[0].startswith(" ")):  # An indented line goes on with the last.
            self._voice.tell("")
        self._voice.tell(*lines)

    def _conclude(self, verdict: Verdict) -> None:
        tell, names, opponent = self._voice.tell, self._names, self._opponent
        tell("")
        if verdict.ending is Ending.RULES:
            tell(*self._variant.conclusion(self._table.position, names))
        for fault in verdict.faults:
            if opponent is None or fault.seat != opponent.seat:
                tell(fault.detail)
                continue
            tell(f"{names[fault.seat]} is at fault: {fault.code}, {fault.detail}.")
            if fault.received:
                tell(f"  It had sent: {fault.received}")
            if opponent.log is not None:
                tell(f"  What it wrote to stderr is in {opponent.log}")
            tell(f"{names[1 - fault.seat]} wins the game.")

    # What people type.

    def _ask(self, seat: Seat) -> None:
        """Get a person's move onto the table. Raises Left."""
        voice, alone = self._voice, self._opponent is not None
        secret = not alone and len(self._table.due) == 2
        if alone or not self._variant.hidden_chance:
            self._choose(seat, secret)
            return
        if voice.screen:
            voice.tell("")
            self._hear(seat, f"{self._names[seat]}, press Enter when nobody else is looking: ")
        with voice.private():
            if voice.screen:
                voice.tell(*self._unread[seat])
            self._choose(seat, secret)
        self._unread[seat].clear()

    def _choose(self, seat: Seat, secret: bool) -> None:
        """Ask until there is a legal move."""
        variant, position, tell = self._variant, self._table.position, self._voice.tell
        *situation, prompt = variant.prompt(position, seat, self._names)
        tell("", *situation)
        while True:
            typed = self._hear(seat, prompt, secret)
            if typed.lower() in ("help", "?"):
                tell("", *self._help(seat), "", *situation)
            elif typed.lower() == "rules":
                tell("", variant.book(), "", *situation)
            elif (answer := variant.question(position, seat, typed, self._names)) is not None:
                tell(*answer)
            else:
                try:
                    self._table.answer(seat, variant.typed_move(typed), 0)
                    return
                except BotFault as mistake:
                    tell(self._correction(seat, mistake.detail, secret))

    def _hear(self, seat: Seat, prompt: str, secret: bool = False) -> str:
        name = self._names[seat]
        try:
            # A move that is a text is quoted where legal moves are listed, and so may be typed so.
            typed = self._voice.ask(prompt, secret=secret).strip(" \t\"'`")
        except EOFError:
            raise Left(f"The input has ended: {name} leaves the game.") from None
        if typed.lower() in ("quit", "exit"):
            raise Left(f"{name} leaves the game.")
        return typed

    def _correction(self, seat: Seat, detail: str, secret: bool) -> str:
        if secret:
            # The detail repeats what was typed, and a slip of the finger can give a plan away.
            detail = f"that cannot be played here; {self._playable(seat)}"
        return f"{detail[:1].upper()}{detail[1:]}."

    def _playable(self, seat: Seat) -> str:
        legal = self._variant.legal(self._table.position, seat)
        if legal is None:
            return f"a move is {self._variant.move_help}"
        return "you can play " + ", ".join(map(str, legal))

    def _help(self, seat: Seat) -> list[str]:
        variant, position = self._variant, self._table.position
        example = next(iter(variant.legal(position, seat) or ()), "…")
        own = variant.question(position, seat, "help", self._names) or []
        return [
            "You can type",
            f"  {example} or play {example} - plays {example}; {self._playable(seat)}",
            *(f"  {line}" for line in own),
            "  rules - shows the rule book",
            "  help or ? - shows this",
            "  quit - ends the game",
        ]
