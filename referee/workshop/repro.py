"""A stored game once more, for one bot: the same lines, no clock, and what it answers now.

Every turn is the recorded one. Where the bot answers otherwise than it did, that is noted, and the
game goes on with the recorded answer, so that all later turns stay the exact ones.

A bot has no clock here, so a recorded `timeout` comes again where the answer takes longer than it
was allowed to, whatever it took that long for; a bot that hangs hangs here too, until its author
has seen enough and interrupts it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.manifest import Bot
from referee.clock import DEFAULT_STARTUP_MS
from referee.dialogue import Asked, Dialogue
from referee.mistake import Mistake
from referee.protocol.codec import encode, quote
from referee.protocol.messages import (
    HelloReceived,
    MoveReceived,
    OddMoveReceived,
    ResignReceived,
    ToBot,
)
from referee.record import Record
from referee.replaying import NEVER_PLAYED
from referee.rules.registry import BadVariant, blame_script
from referee.rules.variant import IllegalMove, Seat, UnreadableMove
from referee.verdict import AT_START, ENDS_PROCESS, BotFault, Ending, Fault
from referee.workshop.unhurried import UnhurriedBot

OUT_OF_TURN_S = 1.0
"""How long a fault is waited for that came when the bot had no turn."""
BYE_S = 1.0

Answer = MoveReceived | OddMoveReceived | ResignReceived


class BadRepro(Mistake):
    """A game that cannot be given to this bot again; the message says why."""


class Running(Struct, frozen=True):
    """The bot has been started; it has not been told anything yet."""

    pid: int


class Waiting(Struct, frozen=True):
    """The bot has been silent for longer than it was allowed to be in the game."""

    turn: int
    """0 for its hello."""
    limit_ms: int


class Heard(Struct, frozen=True, kw_only=True):
    """A turn of the game, and what the bot answered to it now."""

    turn: int
    """The place in the record's `moves`, from 1."""
    sent: str
    """The line that the bot got."""
    move: Any
    """None for a resign."""
    note: str | None
    recorded: int | str | None
    """None where the record holds no answer."""
    same: bool | None
    """None where the record holds no answer."""
    trouble: str | None
    """Why this answer would have lost the game: the blame code and a sentence."""
    spent_ms: float


class Seen(Struct, frozen=True, kw_only=True):
    """A fault that the bot is at now."""

    turn: int
    """Its first one where it failed at its start."""
    sent: str
    """The line that the bot got; empty where it had no turn, or did not come as far as that."""
    recorded: int | str | None
    """Its answer to that turn in the game; None where the record holds none."""
    code: Ending
    detail: str
    received: str = ""


class Repro(Struct, frozen=True, kw_only=True):
    """What came of it."""

    game: str
    variant: str
    bot: str
    player: str
    """Whose answers in the game its own are compared with."""
    seat: int
    level: str
    """At which the bot was confined now."""
    from_turn: int
    answers: list[Heard]
    """From that turn on."""
    differences: int
    missing: int
    """How many more answers are recorded, from that turn on, that the bot did not get to give."""
    changed: bool
    """Whether the bot is the player, but not as it was in the game: its hash is another."""
    recorded: Fault | None
    """The fault of the player in the game."""
    seen: Seen | None
    """The bot's fault now."""
    came_again: bool | None
    """None where no fault is recorded."""

    @property
    def holds(self) -> bool:
        """Whether all was as recorded."""
        return not self.differences and (
            self.seen is None if self.came_again is None else self.came_again
        )


Told = Running | Waiting | Heard | Seen


def repro(
    of: Dialogue,
    bot: Bot,
    *,
    confinement: Confinement = UNCONFINED,
    from_turn: int = 1,
    tell: Callable[[Told], None] = lambda _: None,
    pause: Callable[[], None] | None = None,
) -> Repro:
    """Give a bot one seat's side of a game again.

    Answers to turns before `from_turn` are heard, since a bot may have a memory, but neither told
    nor compared. `pause` is called before the bot's first line, or before that turn's; whoever
    pauses is given all the time in the world at the end as well.

    Raises BadRepro where there is nothing to give, NotConfined where the bot cannot be confined.
    """
    record = of.record
    if record.ending in NEVER_PLAYED:
        raise BadRepro(f"game {record.game} was never played: {record.ending}, {record.reason}")
    last = max([asked.place for asked in of.turns], default=1)
    if from_turn > last:
        name = record.players[of.seat]
        raise BadRepro(f"{name} has no turn {from_turn} or later: its last one is {last}")
    play = _Play(of, bot, confinement, from_turn, tell, pause)
    seen = play.run()
    if seen is not None:
        tell(seen)
    recorded = of.fault
    compared = [heard for heard in play.answers if heard.same is not None]
    due = [asked for asked in of.turns if asked.answer is not None and asked.place >= from_turn]
    return Repro(
        game=record.game,
        variant=record.variant,
        bot=bot.name,
        player=record.players[of.seat],
        seat=of.seat,
        level=confinement.level,
        from_turn=from_turn,
        answers=play.answers,
        differences=sum(not heard.same for heard in compared),
        missing=len(due) - len(compared),
        changed=has_changed(record, of.seat, bot),
        recorded=recorded,
        seen=seen,
        came_again=None if recorded is None else seen is not None and _is_again(of, recorded, seen),
    )


def has_changed(record: Record, seat: Seat, bot: Bot) -> bool:
    """Whether a bot that has the name of a player is not what the player was in the game."""
    known = record.bots[seat].hash
    return bot.name == record.players[seat] and bool(known) and bot.hash != known


def _is_again(of: Dialogue, recorded: Fault, seen: Seen) -> bool:
    if recorded.code is Ending.FORFEIT:  # It follows from starts that failed.
        return seen.code in AT_START
    # A record puts what happened at the start to turn 1, whichever the first turn of the seat is.
    first = _first(of)
    return recorded.code is seen.code and max(recorded.turn, first) == max(seen.turn, first)


def _first(of: Dialogue) -> int:
    """The place of the seat's first turn; 1 where it had none."""
    return of.turns[0].place if of.turns else 1


class _Play:
    """The bot and what it has answered so far."""

    def __init__(
        self,
        of: Dialogue,
        bot: Bot,
        confinement: Confinement,
        from_turn: int,
        tell: Callable[[Told], None],
        pause: Callable[[], None] | None,
    ) -> None:
        self._of = of
        self._fault = of.fault
        self._bot = bot
        self._confinement = confinement
        self._from_turn = from_turn
        self._tell = tell
        self._pause = pause
        self.answers: list[Heard] = []
        self._turn = _first(of)
        """The place in `moves` that a fault would leave empty now."""
        self._warned = False

    def run(self) -> Seen | None:
        """Play the game; the fault that ends it, if one does. Nothing is left behind."""
        try:
            bot = UnhurriedBot(self._bot, self._confinement)
        except BotFault as fault:
            return self._seen(fault)
        try:
            self._tell(Running(bot.pid))
            seen = self._talk(bot)
            if bot.listens and (seen is None or seen.code not in ENDS_PROCESS):
                bot.leave(BYE_S if self._pause is None else None)
            return seen
        finally:
            bot.close()

    def _talk(self, bot: UnhurriedBot) -> Seen | None:
        of = self._of
        try:
            self._greet(bot)
            outbox: list[ToBot] = [] if of.start is None else [of.start]
            for asked in of.turns:
                self._turn = asked.place
                if self._pause is not None and self._comes_to(asked):
                    self._pause()
                bot.ask([*outbox, asked.turn])
                outbox.clear()
                seen = self._judge(asked, self._answer(bot), bot.spent_s)
                if seen is not None:
                    bot.send([*of.end])
                    return seen
            self._listen_on(bot)
            bot.send([*outbox, *of.end])
        except BotFault as fault:
            return self._seen(fault)
        return None

    def _comes_to(self, asked: Asked) -> bool:
        """Whether this is the first turn that counts, and others went before."""
        before = [other for other in self._of.turns if other.place < asked.place]
        return bool(before) and before[-1].place < self._from_turn <= asked.place

    def _greet(self, bot: UnhurriedBot) -> None:
        if self._pause is not None and (
            not self._of.turns or self._from_turn <= self._of.turns[0].place
        ):
            self._pause()
        bot.greet()
        mute = self._fault is not None and self._fault.code is Ending.NO_HELLO
        try:
            hello = bot.hear(lambda: self._warn(bot, 0, DEFAULT_STARTUP_MS))
        except KeyboardInterrupt:
            if not mute:
                raise
            raise BotFault(Ending.NO_HELLO, f"no hello for {bot.spent_s:.1f} s") from None
        named = hello.variants if isinstance(hello, HelloReceived) else None
        variant = self._of.record.variant
        if self._bot.variants is None and named is not None and variant not in named:
            raise BotFault(Ending.NO_HELLO, f"its hello names {', '.join(named)}, not {variant}")

    def _answer(self, bot: UnhurriedBot) -> Answer:
        limit_ms = self._limit_ms()
        self._warned = False
        try:
            while True:
                event = bot.hear(lambda: self._warn(bot, self._turn, limit_ms))
                if isinstance(event, Answer):
                    break
        except KeyboardInterrupt:
            # Who waits for a bot that hangs, as it did in the game, has seen what was to be seen.
            if limit_ms is None or bot.spent_s * 1000 <= limit_ms:
                raise
            raise BotFault(Ending.TIMEOUT, f"no answer for {bot.spent_s:.1f} s") from None
        if limit_ms is not None and bot.spent_s * 1000 > limit_ms:
            told = f"an answer after {bot.spent_s * 1000:.0f} ms, where {limit_ms} ms were allowed"
            raise BotFault(Ending.TIMEOUT, told)
        return event

    def _limit_ms(self) -> int | None:
        """What the bot was allowed to take for this turn, where it was late with it."""
        fault = self._fault
        if fault is None or (fault.code, fault.turn) != (Ending.TIMEOUT, self._turn):
            return None
        return None if fault.limit_us is None else fault.limit_us // 1000

    def _warn(self, bot: UnhurriedBot, turn: int, limit_ms: int | None) -> None:
        if limit_ms is not None and not self._warned and bot.spent_s * 1000 > limit_ms:
            self._warned = True
            self._tell(Waiting(turn, limit_ms))

    def _judge(self, asked: Asked, answer: Answer, spent_s: float) -> Seen | None:
        """Compare an answer with the recorded one; a fault where that is what ended the game."""
        move, fault = self._read(asked, answer)
        recorded = asked.answer
        at_fault = self._fault is not None and self._fault.turn == asked.place
        heard = Heard(
            turn=asked.place,
            sent=_line(asked),
            move=None if isinstance(answer, ResignReceived) else answer.move,
            note=answer.note if isinstance(answer, OddMoveReceived) else None,
            recorded=recorded,
            same=None if recorded is None else fault is None and move == recorded,
            trouble=None if fault is None else f"{fault.code}, {fault.detail}",
            spent_ms=round(spent_s * 1000, 1),
        )
        if fault is not None and (at_fault or recorded is None):
            return self._seen(fault)
        if asked.place >= self._from_turn:
            self.answers.append(heard)
            self._tell(heard)
        return None

    def _read(self, asked: Asked, answer: Answer) -> tuple[int | str | None, BotFault | None]:
        """The move in an answer, or what is wrong with it."""
        if isinstance(answer, ResignReceived):
            return None, BotFault(Ending.RESIGN, "the bot resigned")
        variant, seat = self._of.variant, self._of.seat
        try:
            return variant.read_move(asked.position, seat, answer.move), None
        except IllegalMove as illegal:
            return None, BotFault(Ending.ILLEGAL, str(illegal), quote(answer))
        except UnreadableMove as unreadable:
            return None, BotFault(Ending.GARBLED, str(unreadable), quote(answer))
        except Exception as error:
            raise BadVariant(blame_script(error, type(variant))) from error

    def _listen_on(self, bot: UnhurriedBot) -> None:
        """A fault that came when it was not the bot's turn comes by itself or not at all."""
        fault, turns = self._fault, self._of.turns
        if fault is None or self._of.start is None or (turns and turns[-1].place == fault.turn):
            return
        self._turn = fault.turn
        bot.hear(within_s=OUT_OF_TURN_S)

    def _seen(self, fault: BotFault) -> Seen:
        asked = self._of.asked_at(self._turn)
        return Seen(
            turn=self._turn,
            sent="" if fault.code in AT_START else _line(asked),
            recorded=None if asked is None else asked.answer,
            code=fault.code,
            detail=fault.detail,
            received=fault.received,
        )


def _line(asked: Asked | None) -> str:
    """A turn as the bot gets it."""
    return "" if asked is None else encode([asked.turn]).decode().rstrip("\n")
