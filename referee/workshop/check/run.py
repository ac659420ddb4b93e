"""A check from its first step to its last. The API under `referee check`.

A bot that has to be built is built first. Then come three steps, and nothing is tried where one of
them fails: start, hello, flush. Then every variant is played, then come the steps that are not
plain play, and at the end what is judged by all that the bot has said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from referee.bots.building import OnBuild
from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.manifest import ZMQ, Bot
from referee.rules.registry import BadVariant, all_variants, find_variant, is_path
from referee.verdict import Ending
from referee.workshop.check import conclusions, games, oddities
from referee.workshop.check.bench import BY_TIME, Bench
from referee.workshop.check.deal import AnyVariant
from referee.workshop.check.making import Making, make
from referee.workshop.check.manners import (
    CRLF,
    IN_PIECES,
    REORDERED,
    UNKNOWN_EVENTS,
    UNKNOWN_FIELDS,
)
from referee.workshop.check.opening import NO_LINES, flush_step, open_check
from referee.workshop.check.refusals import explained
from referee.workshop.check.report import Report, Step, all_passed
from referee.workshop.check.sitting import Terms
from referee.workshop.check.stateless import stateless

MOST_VARIANTS = 50
"""Of those that a bot names: each is a step that takes its time."""
STEPS: dict[str, Callable[[Bench], str]] = {
    "many games": games.many_games,
    "unknown fields": partial(
        oddities.in_manner, UNKNOWN_FIELDS, "fields that it cannot know were ignored"
    ),
    "unknown events": partial(
        oddities.in_manner, UNKNOWN_EVENTS, "events of a kind that it cannot know were ignored"
    ),
    "key order": partial(oddities.in_manner, REORDERED, "keys in another order made no difference"),
    "CRLF": partial(
        oddities.in_manner, CRLF, "a carriage return at the end of a line made no difference"
    ),
    "pieces": partial(
        oddities.in_manner, IN_PIECES, "lines that came in two pieces were put together"
    ),
    "unknown types": oddities.unknown_types,
    "error": oddities.error,
    "ping": oddities.ping,
    "long game": games.long_game,
    "bye": oddities.bye,
    "games at once": games.games_at_once,
    "stateless": stateless,
    "over in the middle": oddities.over_in_the_middle,
    "end of input": oddities.end_of_input,
}
"""The steps after the variants, in their order."""
FOR_LINES = {
    "CRLF": NO_LINES,
    "pieces": NO_LINES,
    "end of input": "over ZeroMQ a bot is told by bye alone that it is to leave",
}
"""Steps that mean nothing to a bot over ZeroMQ, and why."""
LESSONS = {
    "many games": "a bot lives for many games, until bye or the end of its input",
    "unknown fields": "later referees may add fields, so ignore those that you do not know",
    "unknown events": "later referees may add events, so ignore those that you do not know",
    "key order": "find the fields of a message by their names, not by their places",
    "CRLF": "a line may end with \\r\\n",
    "pieces": "a read may end in the middle of a line, so read lines, not blocks",
    "unknown types": "ignore messages of a type that you do not know",
    "error": "an error wants no answer, and the next game follows",
    "ping": 'answer a ping with {"type":"pong"}',
    "long game": "a turn can have many legal moves, and a game many turns",
    "bye": "after bye the bot has to exit by itself",
    "games at once": "keep games apart by their names and answer every turn, or take one at a time",
    "stateless": "it seems to carry something from game to game, what it learnt or its random "
    "generator: leave stateless out, or begin every game afresh, with luck from bot_seed",
    "over in the middle": "over can come while a turn is open, and ends that game alone",
    "end of input": "where its input ends, the bot has to exit by itself",
}
"""What the author of a bot that fails should know."""
CONCLUSIONS: dict[str, Callable[[Bench], Step]] = {
    "ids": conclusions.ids,
    "time": conclusions.time,
    "output": conclusions.output,
}
"""What is judged by the whole check."""


def check_bot(
    bot: Bot,
    terms: Terms,
    variants: Sequence[AnyVariant] | None = None,
    on_step: Callable[[Step], None] | None = None,
    on_build: OnBuild | None = None,
    *,
    confinement: Confinement = UNCONFINED,
    handed_in: bool = False,
    compiler_cache: bool = False,
) -> Report:
    """Check a bot; `on_step` sees each step as soon as it is judged.

    `on_build` hears of a build that begins: it may take a while. `variants` are played instead of
    those that the bot names; `handed_in` where the report is for somebody who is not here;
    `compiler_cache` where whoever wrote the bot is, as for `built`. Raises
    BadVariant where a script fails, BadBot where a build cannot even be tried, NotConfined where
    the bot cannot be confined, and leaves no process behind.
    """
    making = make(bot, confinement, on_build, compiler_cache=compiler_cache)
    with Bench(making.bot, terms, confinement) as bench:
        check = _Check(bench, variants, on_step, handed_in=handed_in)
        check.run(making)
        steps = check.steps
        failed = [step.name for step in steps if step.result == "failed"]
        return Report(
            bot=bot.name,
            level=confinement.level,
            passed=all_passed(steps),
            failed=failed,
            late=bool(failed) and bench.late_steps.issuperset(failed),
            variants=check.played,
            figures=conclusions.figures_of(bench),
            steps=steps,
        )


class _Check:
    """The order of the steps, and what a failure is in the way of."""

    def __init__(
        self,
        bench: Bench,
        asked_for: Sequence[AnyVariant] | None,
        on_step: Callable[[Step], None] | None,
        *,
        handed_in: bool,
    ) -> None:
        self._handed_in = handed_in
        self.steps: list[Step] = []
        self.played: list[str] = []
        self._bench = bench
        self._asked_for = asked_for
        self._on_step = on_step

    def run(self, making: Making) -> None:
        if making.step is not None:
            self._add(making.step)
        if making.in_the_way is not None:
            self._leave_out(self._variants(), making.in_the_way)
            return
        for step in open_check(self._bench):
            self._add(step)
        known = self._variants()
        if not self._failed():
            self._flush(known)
        if self._failed():
            self._leave_out(known, "the bot has to start, say hello and flush its output first")
            return
        self._play(known)
        for name, trial in STEPS.items():
            if name in FOR_LINES and self._bench.bot.transport == ZMQ:
                self._add(Step(name=name, result="skipped", detail=FOR_LINES[name]))
                continue
            step = self._bench.judge(name, partial(trial, self._bench))
            if step.result == "failed":
                lesson = self._bench.lesson or LESSONS[name]
                step = replace(step, detail=f"{step.detail}; {lesson}")
            self._add(step)
        for conclude in CONCLUSIONS.values():
            self._add(conclude(self._bench))

    def _add(self, step: Step) -> None:
        bench = self._bench
        step = explained(step, bench.bot, bench.confinement, handed_in=self._handed_in)
        self.steps.append(step)
        if self._on_step is not None:
            self._on_step(step)

    def _failed(self) -> bool:
        return any(step.result == "failed" for step in self.steps)

    def _variants(self) -> dict[str, AnyVariant | BadVariant]:
        """By name: those that were asked for, those that the bot names, or all."""
        if self._asked_for is not None:
            return {variant.name: variant for variant in self._asked_for}
        bench = self._bench
        named = bench.bot.variants
        if named is None and bench.hello is not None:
            named = bench.hello.variants
        if named is None:
            return {name: variant() for name, variant in all_variants().items()}
        return {name: _find(name) for name in named[:MOST_VARIANTS]}

    def _flush(self, known: dict[str, AnyVariant | BadVariant]) -> None:
        there = [each for each in known.values() if not isinstance(each, BadVariant)]
        if there:
            self._add(flush_step(self._bench, there[0]))
        else:
            self._add(
                Step(name="flush", result="skipped", detail="no variant to ask for a move in")
            )

    def _leave_out(self, known: dict[str, AnyVariant | BadVariant], why: str) -> None:
        """Nothing can be seen of a bot that does not speak."""
        done = {step.name for step in self.steps}
        variants = [f"variant {name}" for name in known]
        for name in ("start", "hello", "flush", *variants, "both seats", *STEPS, *CONCLUSIONS):
            if name not in done:
                self._add(Step(name=name, result="not tried", detail=why))

    def _play(self, known: dict[str, AnyVariant | BadVariant]) -> None:
        played: list[games.Played] = []
        silent = 0
        if not known:
            self._add(Step(name="variant", result="failed", detail="the bot names no variant"))
        for name, variant in known.items():
            if isinstance(variant, BadVariant):
                detail = f"the bot names it, but {variant}"
                self._add(Step(name=f"variant {name}", result="failed", detail=detail))
                continue
            if silent >= games.SILENT_GAMES:
                detail = "the bot has not answered a single turn"
                self._add(Step(name=f"variant {name}", result="not tried", detail=detail))
                continue
            played.append(games.play_variant(self._bench, variant))
            faults = played[-1].faults.values()
            if not self._bench.findings.spent_ns:
                silent += all(fault.code is Ending.TIMEOUT for fault in faults)
            self._add(games.variant_step(played[-1]))
        self.played = [each.variant.name for each in played if each.seats]
        self._add(games.seats_step(played))
        if all(fault.code in BY_TIME for each in played for fault in each.faults.values()):
            self._bench.late_steps.add("both seats")


def _find(name: str) -> AnyVariant | BadVariant:
    """The variant that a bot names. A path would have us run a script of the bot's own choice."""
    if is_path(name):
        return BadVariant(f"{name!r} is a path, where the name of a variant is due")
    try:
        return find_variant(name)()
    except BadVariant as bad:
        return bad
