"""What the steps of a check have in common: the bot, its processes, and what is known so far.

Steps share a process where that does not blur the blame: a bot on a slow runtime should not have to
start twenty times. A step that fails ends the process, and the next one gets a fresh one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from msgspec import Struct

from referee.arena.restart import is_stateless
from referee.arena.stall import SLICE_MS
from referee.bots.confinement import Confinement
from referee.bots.manifest import ZMQ, Bot
from referee.clock import NS_PER_MS
from referee.protocol.messages import HelloReceived
from referee.rules.variant import Seat
from referee.verdict import BotFault, Ending
from referee.workshop.check.deal import RANDOM, AnyVariant, Deal, Rival
from referee.workshop.check.hearing import Ear, Heard, Stray
from referee.workshop.check.remedies import remedy
from referee.workshop.check.report import Result, Step
from referee.workshop.check.sitting import Findings, Sitting, Terms
from referee.workshop.check.talk import Talk, last_lines

MOST_AT_ONCE = 64
"""As many games at once as a referee deals unless it is told otherwise."""
HEAD_START_MS = 500
BY_TIME = frozenset({Ending.NO_HELLO, Ending.TIMEOUT})
"""Faults that a bot may owe to others that keep the machine busy."""
NO_GAME = "no game was played to its end"


class Failed(Exception):
    """A step that failed by something that is no fault in a game; the message says what."""


class StillWaiting(Failed):
    """A step that failed because something did not come in time; the message says what."""


class NotTried(Exception):
    """A step that makes no sense after what has failed; the message says what is in the way."""


class Skipped(Exception):
    """A step that does not apply to this bot; the message says why."""


class Cell(Struct, frozen=True):
    """A variant and a seat in which the bot has brought a game to its end."""

    variant: AnyVariant
    seat: Seat


class Bench:
    """The bot under check."""

    def __init__(self, bot: Bot, terms: Terms, confinement: Confinement) -> None:
        self.bot = bot
        self.terms = terms
        self.confinement = confinement
        self.findings = Findings()
        self.hello: HelloReceived | None = None
        self.hello_ms = terms.startup_ms
        """How long the first hello took, once it has come."""
        self.dumb = False
        """Whether the bot did not answer its first turn, at the end of its input neither."""
        self.good: list[Cell] = []
        self.one_game_only: str | None = None
        """What went wrong in a process that had played, and not in a fresh one."""
        self.one_game_late = False
        """Whether that was its time."""
        self.late_steps: set[str] = set()
        """Steps that failed because something did not come in time."""
        self.plays_at_once = False
        """Whether the bot has played several games at once, and well."""
        self.sitting: Sitting | None = None
        """The process that the current step uses, or used last."""
        self.lesson: str | None = None
        """What the author should know, where the step at hand knows better than the table."""
        self._came_late: list[bytes] = []
        """What a silent process owed, as a second one said it when its input ended."""
        self._shared: Sitting | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="referee-check-")
        self._talks: list[Talk] = []
        self._starts = 0
        self._deals = 0

    def __enter__(self) -> Bench:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for talk in self._talks:
            talk.close()
        self._folder.cleanup()

    # Processes.

    def start(self) -> Talk:
        """A process of the bot. Raises BotFault."""
        self._starts += 1
        log = Path(self._folder.name) / f"{self._starts}.stderr.txt"
        talk = Talk(self.bot, self.confinement, log, self.terms.startup_ms)
        self._talks.append(talk)
        return talk

    def fresh(self) -> Sitting:
        """A new process, greeted; the shared one is ended. Raises BotFault."""
        self.drop()
        self.sitting = None
        self.sitting = Sitting(self.start(), self.terms, self.findings)
        self.sitting.greet()
        return self.sitting

    def shared(self) -> Sitting:
        """The process that goes on from step to step. Raises BotFault."""
        if self._shared is None or self.one_game_only is not None:
            self._shared = self.fresh()
        self.sitting = self._shared
        return self._shared

    def drop(self) -> None:
        """End the process that was used last."""
        if self.sitting is not None:
            self.sitting.close()
        self._shared = None

    # Games.

    @property
    def at_once(self) -> int:
        """How many games at once the bot can be dealt; the manifest counts before the hello."""
        said = self.hello.games_at_once if self.hello is not None else 1
        return min(self.bot.games_at_once or said, MOST_AT_ONCE)

    @property
    def stateless(self) -> bool:
        """Whether the bot says that it keeps nothing from game to game, in the same order."""
        return is_stateless(self.bot, self.hello)

    def deal(self, cell: Cell, number: int | None = None, rival: Rival = RANDOM) -> Deal:
        """A new game; with a number, the same luck as the game of that number."""
        number = self.next_number() if number is None else number
        return Deal(cell.variant, cell.seat, number, self.bot.name, self.terms.clock, rival)

    def next_number(self) -> int:
        """That of a game that was not dealt yet."""
        self._deals += 1
        return self._deals

    def some_cell(self) -> Cell:
        """Where the bot is known to play well. Raises NotTried."""
        if not self.good:
            raise NotTried(NO_GAME)
        return self.good[0]

    def play(
        self, sitting: Sitting, deal: Deal, enough: Callable[[], bool] = lambda: False
    ) -> None:
        """One game, to its end or until it has taken long enough or is enough after a move.

        Raises BotFault.
        """
        messages, before_ns = [deal.start()], sitting.talk.clock_ns
        while (turn := deal.turn(sitting.next_id())) is not None:
            with placed(str(deal)):
                answers = sitting.ask([*messages, turn], [turn.id], str(deal))
                deal.answer(answers[turn.id])
            messages.clear()
            spent_ns = sitting.talk.clock_ns - before_ns
            late = spent_ns > self.terms.budget_ms * NS_PER_MS
            if not deal.over and (late or enough()):
                deal.call_off()
        sitting.tell([*messages, deal.end()])
        sitting.games += 1

    # Steps.

    def judge(self, name: str, trial: Callable[[], str]) -> Step:
        """Take one step: the trial gives the sentence, or raises what went wrong."""
        self.lesson = None
        try:
            if self.sitting is not None:
                self.sitting.talk.mark()
            return self.step(name, "passed", trial())
        except NotTried as reason:
            return Step(name=name, result="not tried", detail=str(reason))
        except Skipped as reason:
            return Step(name=name, result="skipped", detail=str(reason))
        except Failed as reason:
            self.drop()
            late = isinstance(reason, StillWaiting)
            return self.step(name, "failed", str(reason), late=late)
        except BotFault as fault:
            return self.failed(name, fault)

    def failed(self, name: str, fault: BotFault) -> Step:
        """End the process, and say what was wrong with it."""
        detail = tell(fault)
        if fault.code is Ending.TIMEOUT and self.sitting is not None and not self.dumb:
            detail += self._flush_hint()
        self.drop()
        return self.step(name, "failed", detail, late=fault.code in BY_TIME)

    def step(self, name: str, result: Result, detail: str, *, late: bool = False) -> Step:
        """A step with what was sent and written in it, and what came too late for it."""
        if late:
            self.late_steps.add(name)
        evidence = self.evidence()
        if self._came_late:
            lines, self._came_late = self._came_late, []
            evidence["stdout"] = evidence.get("stdout", []) + last_lines(b"\n".join(lines))
        return Step(name=name, result=result, detail=detail, **evidence)

    def evidence(self) -> dict[str, list[str]]:
        """What the process of this step was sent, and wrote."""
        return self.sitting.talk.evidence() if self.sitting is not None else {}

    def _flush_hint(self) -> str:
        if not self.unflushed():
            return ""
        return f"; what is missing came when the input ended, so flush it: {remedy(self.bot)}"

    def unflushed(self, within_ms: int | None = None, *, hello: bool = False) -> bool:
        """Whether what this silent process owes looks written and not flushed.

        A second process is sent the same and then the end of its input. If it says more than the
        first one, which had a head start, the first one's words are stuck in a buffer. Where the
        hello is due, nothing else counts.
        """
        if self.bot.transport == ZMQ:
            return False
        assert self.sitting is not None
        silent = self.sitting.talk
        if within_ms is None:
            start_ms = min(self.terms.startup_ms, 3 * self.hello_ms + 1_000)
            within_ms = start_ms + self.terms.limit_ms
        try:
            probe = self.start()
        except BotFault:
            return False
        try:
            ear, said = Ear(), self.sitting.ear.lines
            probe.say(bytes(silent.sent))
            talking, greeted = True, False
            while ear.lines <= said or (hello and not greeted):
                if talking and probe.said_all:
                    probe.hang_up()
                    talking = False
                if silent.speaks(0):
                    return False
                data = probe.read(probe.clock_ns + SLICE_MS * NS_PER_MS)
                silent.count()
                if data == b"" or probe.clock_ns >= within_ms * NS_PER_MS:
                    return False
                greeted |= any(_is_hello(each) for each in ear.receive(data or b""))
        except BotFault:
            return False
        finally:
            probe.close()
        if silent.speaks(HEAD_START_MS + probe.clock_ns // NS_PER_MS):
            return False
        self._came_late = [line for line in bytes(probe.heard).split(b"\n") if line.strip()][said:]
        return True


def _is_hello(heard: Heard) -> bool:
    return isinstance(heard, HelloReceived) or (isinstance(heard, Stray) and heard.meant == "hello")


@contextmanager
def placed(where: str) -> Iterator[None]:
    """A fault in here tells where it happened."""
    try:
        yield
    except BotFault as fault:
        raise BotFault(fault.code, f"{fault.detail} ({where})", fault.received) from None


def tell(fault: BotFault) -> str:
    """A fault in one sentence."""
    return f"{fault.code}: {fault.detail}"
