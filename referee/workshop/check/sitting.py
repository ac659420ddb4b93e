"""A conversation with one process of the bot: it is greeted, asked and heard.

A referee stops at the first thing that is wrong. Here what can be overlooked for the moment is
noted in `Findings` and has steps of its own (ids, time, output), so that one mistake does not hide
what else there is: a line that is no message is set aside, a late answer is taken, and an answer
with an id that was never given counts for the one turn that is open.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct, field

from referee.clock import NS_PER_MS, Clock, show_ms
from referee.protocol.codec import encode, excerpt, quote
from referee.protocol.messages import (
    PROTOCOL,
    STALE_LIMIT,
    Hello,
    HelloReceived,
    MoveReceived,
    OddMoveReceived,
    PongReceived,
    ToBot,
)
from referee.verdict import BotFault, Ending
from referee.version import __version__
from referee.workshop.check.deal import Answer
from referee.workshop.check.hearing import Ear, Heard, Stray
from referee.workshop.check.manners import PLAIN, Manner
from referee.workshop.check.talk import Talk

FIRST_ID = 1009
ID_STEP = 7
"""Ids rise, and not by one: a bot that counts for itself is found out."""
KEPT = 5
"""Of each kind of finding; the others are counted."""


class Terms(Struct, frozen=True, kw_only=True):
    """The limits that a check holds the bot to."""

    clock: Clock
    startup_ms: int
    warm_up_ms: int
    exit_ms: int = 1_000
    """What a bot has to exit after `bye`."""
    quiet_ms: int = 2_000
    """After so long without a hello, a look whether it is stuck in a buffer."""
    patience_ms: int = 2_000
    """How much later than allowed an answer is still waited for, to tell slow from silent."""
    budget_ms: int = 5_000
    """What several turns may take in all before a step has seen enough."""

    @property
    def limit_ms(self) -> int:
        assert self.clock.move_ms is not None, "a check has a limit for every move"
        return self.clock.move_ms


class Late(Struct, frozen=True):
    where: str
    spent_ns: int


class Findings(Struct):
    """What was noted on the side, over all processes of a check."""

    spent_ns: list[int] = field(default_factory=list)
    """For each answer to a turn that was asked alone; others share their time."""
    late: list[Late] = field(default_factory=list)
    strays: list[Stray] = field(default_factory=list)
    stray_count: int = 0
    wrong_ids: list[str] = field(default_factory=list)
    wrong_id_count: int = 0
    dropped: int = 0
    """Answers to turns that were answered or over."""
    no_line_ends: bool = False
    """Whether the bot does not end its lines."""
    old_ids: bool = False
    """Whether the bot answers turns with the ids of earlier ones."""

    def stray(self, stray: Stray) -> None:
        self.stray_count += 1
        if len(self.strays) < KEPT:
            self.strays.append(stray)

    def wrong_id(self, given: str) -> None:
        self.wrong_id_count += 1
        if len(self.wrong_ids) < KEPT:
            self.wrong_ids.append(given)


class Sitting:
    """A process of the bot, and what is due from it."""

    def __init__(self, talk: Talk, terms: Terms, findings: Findings) -> None:
        self.talk = talk
        self.ear = Ear(eager=findings.no_line_ends)
        self.games = 0
        """Games that were brought to an end here."""
        self._terms = terms
        self._findings = findings
        self._last_id = FIRST_ID - ID_STEP
        self._planned: Iterator[int] = iter(())
        """Ids that come next."""
        self._given: set[int] = set()
        self._open: set[int] = set()
        self._withdrawn: set[int] = set()
        self._fresh = True
        self._idle_lines = 0
        """Lines in a row that nobody asked for."""
        self._waiting: list[Heard] = []
        self._old: Answer | None = None
        """An answer with the id of an earlier turn, since the last question."""

    def next_id(self) -> int:
        """A fresh turn id."""
        self._last_id = max(self._last_id + ID_STEP, next(self._planned, 0))
        self._given.add(self._last_id)
        return self._last_id

    def skip_ids(self, below: int) -> None:
        """Give no id below this one any more."""
        self._last_id = max(self._last_id, below - ID_STEP)

    def plan_ids(self, ids: Sequence[int]) -> None:
        """Give these next, which rise and are above those that were given."""
        self._planned = iter(ids)

    def withdraw(self, turn_id: int) -> None:
        """Whether or not the bot answers this turn, nobody minds."""
        self._withdrawn.add(turn_id)

    # The hello.

    def say_hello(self) -> None:
        self.talk.say(encode([Hello(PROTOCOL, __version__)]))

    def hear_hello(self, until_ns: int) -> HelloReceived | None:
        """The bot's hello, or None if it does not come until then. Raises BotFault."""
        while True:
            heard = self._hear(until_ns)
            if heard is None:
                return None
            for place, each in enumerate(heard):
                if isinstance(each, HelloReceived):
                    self._waiting = heard[place + 1 :]
                    return each
                if isinstance(each, Stray) and each.meant == "hello":
                    raise BotFault(Ending.NO_HELLO, each.why, each.line)
                if not isinstance(each, Stray):
                    raise BotFault(Ending.NO_HELLO, f"{_show(each)} came before the hello")

    def greet(self) -> HelloReceived:
        """Say hello and hear the bot's. Raises BotFault."""
        self.say_hello()
        hello = self.hear_hello(self._terms.startup_ms * NS_PER_MS)
        if hello is None:
            limit = show_ms(self._terms.startup_ms)
            raise BotFault(Ending.NO_HELLO, f"no hello within {limit}", self.ear.unfinished())
        return hello

    # Turns.

    def tell(self, messages: Sequence[ToBot], manner: Manner = PLAIN) -> None:
        """What wants no answer."""
        self._send(manner.write(messages), manner)

    def ask(
        self, messages: Sequence[ToBot], due: Collection[int], where: str, manner: Manner = PLAIN
    ) -> dict[int, Answer]:
        """Send, and hear the answers to the turns that are due. Raises BotFault."""
        return self.ask_in_bytes(manner.write(messages), due, where, manner)

    def ask_in_bytes(
        self, data: bytes, due: Collection[int], where: str, manner: Manner = PLAIN
    ) -> dict[int, Answer]:
        """As `ask`, for what only bytes can say."""
        self._open = set(due)
        self._old = None
        self._send(data, manner)
        since_ns = self.talk.clock_ns
        answers: dict[int, Answer] = {}
        while self._open:
            limit_ms = self._terms.limit_ms + (self._terms.warm_up_ms if self._fresh else 0)
            heard = self._hear(since_ns + (limit_ms + self._terms.patience_ms) * NS_PER_MS)
            if heard is None:
                heard = [self._only_old(limit_ms, len(due))]
            for each in heard:
                if isinstance(each, Answer) and each.id in self._withdrawn:
                    # What it thought about a turn that is over is not charged to this one.
                    since_ns = self.talk.clock_ns
                answer = self._sort(each)
                if answer is not None:
                    turn_id, given = answer
                    answers[turn_id] = given
                    # Answers that arrive together are charged to the first of them.
                    spent_ns = self.talk.clock_ns - since_ns
                    if len(due) == 1:
                        self._findings.spent_ns.append(spent_ns)
                    self._charge(spent_ns, limit_ms, where)
                    since_ns = self.talk.clock_ns
        return answers

    def await_pong(self) -> int:
        """How many nanoseconds the pong took. Raises BotFault."""
        since_ns, limit_ms = self.talk.clock_ns, self._terms.limit_ms
        while True:
            heard = self._hear(since_ns + (limit_ms + self._terms.patience_ms) * NS_PER_MS)
            if heard is None:
                raise BotFault(Ending.TIMEOUT, f"no pong within {show_ms(limit_ms)}")
            for each in heard:
                if isinstance(each, PongReceived):
                    return self.talk.clock_ns - since_ns
                self._sort(each)

    def close(self) -> None:
        self.talk.close()

    def _send(self, data: bytes, manner: Manner) -> None:
        if manner.in_pieces:
            self.talk.say_in_pieces(data)
        else:
            self.talk.say(data)

    def _charge(self, spent_ns: int, limit_ms: int, where: str) -> None:
        if spent_ns > (limit_ms + self._terms.clock.grace_ms) * NS_PER_MS:
            self._findings.late.append(Late(where, spent_ns))
        self._fresh = False
        self._idle_lines = 0

    def _hear(self, until_ns: int) -> list[Heard] | None:
        """What comes next, strays noted; None if nothing comes. Raises BotFault at the end."""
        if self._waiting:
            heard, self._waiting = self._waiting, []
            return heard
        data = self.talk.read(until_ns)
        if data == b"":
            cut = " in the middle of a line" if self.ear.unfinished() else ""
            raise BotFault(Ending.CRASH, self.talk.last_words() + cut, self.ear.unfinished())
        heard = self.ear.take_unfinished() if data is None else self.ear.receive(data)
        if data is None and not heard:
            return None
        self._findings.no_line_ends = self.ear.eager
        for each in heard:
            if isinstance(each, Stray):
                self._findings.stray(each)
        return heard

    def _sort(self, heard: Heard) -> tuple[int, Answer] | None:
        """The open turn that is answered by this, and the answer; None for all else."""
        if isinstance(heard, Stray):
            if heard.meant == "answer" and self._open:
                raise BotFault(Ending.GARBLED, heard.why, heard.line)
            return None
        if isinstance(heard, HelloReceived):
            self._findings.stray(Stray("", "a second hello; a move, resign or pong is due"))
            return None
        if isinstance(heard, PongReceived):
            self._count_idle()
            return None
        if heard.id in self._open:
            self._open.remove(heard.id)
            return heard.id, heard
        if heard.id in self._withdrawn:
            self._withdrawn.discard(heard.id)
            return None
        if heard.id in self._given and not (self._findings.old_ids and len(self._open) == 1):
            self._findings.dropped += 1
            self._old = heard
            self._count_idle()
            return None
        self._findings.wrong_id(_show(heard))
        if len(self._open) != 1:
            raise BotFault(Ending.GARBLED, f"id {heard.id} was never given", _show(heard))
        return self._open.pop(), heard

    def _count_idle(self) -> None:
        self._idle_lines += 1
        if self._idle_lines > STALE_LIMIT:
            raise BotFault(
                Ending.FLOOD, f"more than {STALE_LIMIT} lines in a row that nobody asked for"
            )

    def _only_old(self, limit_ms: int, asked: int) -> Answer:
        """Where nothing came but an answer to an earlier turn, it is meant for this one."""
        if self._old is None or len(self._open) != 1:
            raise self._silence(limit_ms, asked)
        self._findings.old_ids = True
        return self._old

    def _silence(self, limit_ms: int, asked: int) -> BotFault:
        said = self.ear.unfinished()
        limit = f"{show_ms(limit_ms)}, nor {show_ms(self._terms.patience_ms)} later"
        if said:
            detail = f"no answer within {limit}; something came, but not the end of its line"
        elif asked > 1:
            detail = (
                f"{len(self._open)} of {asked} turns that came in one write "
                f"were not answered within {limit}"
            )
        else:
            detail = f"no answer within {limit}"
        return BotFault(Ending.TIMEOUT, detail, said)


def _show(message: Answer | PongReceived) -> str:
    if isinstance(message, MoveReceived | OddMoveReceived):
        return quote(message)
    if isinstance(message, PongReceived):
        return '{"type": "pong"}'
    return excerpt(f'{{"type": "resign", "id": {message.id}}}'.encode())
