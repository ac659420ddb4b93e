"""The first steps: the bot starts, says hello, and its words arrive while it is still talked to.

Without these there is nothing to check, so a failure here ends the check.
"""

from __future__ import annotations

import shlex

from referee.bots.manifest import ZMQ
from referee.bots.starting import few_told
from referee.clock import NS_PER_MS, show_ms
from referee.protocol.codec import excerpt
from referee.protocol.messages import PROTOCOL, HelloReceived
from referee.rules.numbers import amount
from referee.verdict import BotFault, Ending
from referee.workshop.check.bench import BY_TIME, Bench, Cell, Skipped, tell
from referee.workshop.check.deal import AnyVariant
from referee.workshop.check.remedies import remedy
from referee.workshop.check.report import Step, show_us
from referee.workshop.check.sitting import Sitting

NAMED = 60
"""Of a line that a sentence names; more of it is shown beside the sentence."""
NO_LINES = "over ZeroMQ there are no lines and nothing to flush"
HELD_BACK = "came only when its input had ended; see flush"


def open_check(bench: Bench) -> list[Step]:
    """The steps `start` and `hello`, and `flush` if it fails by the hello."""
    runs = f"the command runs: {excerpt(shlex.join(bench.bot.command).encode())}"
    try:
        sitting = bench.sitting = Sitting(bench.start(), bench.terms, bench.findings)
    except BotFault as fault:
        return [
            Step(name="start", result="failed", detail=f"the command does not run: {fault.detail}")
        ]
    try:
        hello = _hear_hello(bench, sitting)
    except BotFault as fault:
        if fault.code is Ending.CRASH:
            bench.drop()
            return [bench.step("start", "failed", f"{fault.detail} before its hello")]
        return [_passed("start", runs), bench.failed("hello", fault)]
    if hello is None:
        bench.drop()
        held_back = Step(name="hello", result="skipped", detail=HELD_BACK)
        return [_passed("start", runs), held_back, _not_flushed(bench, "its hello")]
    if hello.protocol != PROTOCOL:
        told = f"the bot speaks protocol {hello.protocol}, the referee {PROTOCOL}"
        return [
            _passed("start", runs),
            bench.failed("hello", BotFault(Ending.WRONG_PROTOCOL, told)),
        ]
    bench.hello = hello
    bench.hello_ms = sitting.talk.clock_ns // NS_PER_MS
    took = show_us(sitting.talk.clock_ns // 1000)
    return [
        bench.step("start", "passed", runs),
        bench.step("hello", "passed", f"said hello after {took}: {_offer(bench, hello)}"),
    ]


def _hear_hello(bench: Bench, sitting: Sitting) -> HelloReceived | None:
    """The hello, or None where it is stuck in a buffer. Raises BotFault."""
    sitting.say_hello()
    startup_ms, quiet_ms = bench.terms.startup_ms, min(bench.terms.quiet_ms, bench.terms.startup_ms)
    hello = sitting.hear_hello(quiet_ms * NS_PER_MS)
    if hello is None:
        if bench.unflushed(startup_ms - quiet_ms, hello=True):
            return None
        hello = sitting.hear_hello(startup_ms * NS_PER_MS)
    if hello is None:
        told = f"no hello within {show_ms(startup_ms)}{_instead(bench, sitting)}"
        told += few_told(bench.bot, bench.confinement)
        raise BotFault(Ending.NO_HELLO, told, sitting.ear.unfinished())
    return hello


def _instead(bench: Bench, sitting: Sitting) -> str:
    """What came where the hello was due, and what is wrong with it."""
    strays, begun = bench.findings.strays, sitting.ear.unfinished()
    if strays:
        return f", but {_cut(strays[0].line)} came: {strays[0].why}"
    if begun:
        return f", but {_cut(begun)} came, without the end of its line"
    return ", but a message that is not complete" if sitting.ear.lines else ""


def _cut(line: str) -> str:
    return f'"{line[:NAMED]}…"' if len(line) > NAMED else f'"{line}"'


def _offer(bench: Bench, hello: HelloReceived) -> str:
    """What the bot says it can do; the manifest's word counts before the hello's."""
    named = bench.bot.variants if bench.bot.variants is not None else hello.variants
    plays = "every variant" if named is None else ", ".join(named) or "no variant"
    at_once = bench.bot.games_at_once or hello.games_at_once
    kept = ", stateless" if bench.stateless else ""
    return excerpt(f"{plays}, {amount(at_once, 'game')} at once{kept}".encode())


def check_flush(bench: Bench, variant: AnyVariant) -> str:
    """Ask one question, and see that its answer comes while the bot waits for the next."""
    if bench.bot.transport == ZMQ:
        raise Skipped(NO_LINES)
    sitting, terms = bench.sitting, bench.terms
    assert sitting is not None, "a bot that has said hello has a process"
    deal = bench.deal(Cell(variant, 0))
    turn = deal.turn(sitting.next_id())
    if turn is None:
        raise Skipped(f"{variant.name} asks the bot nothing")
    sitting.tell([deal.start(), turn])
    began_ns = sitting.talk.clock_ns
    waited_ms = terms.limit_ms + terms.warm_up_ms + terms.patience_ms
    data = sitting.talk.read(began_ns + waited_ms * NS_PER_MS)
    if data:
        took = show_us((sitting.talk.clock_ns - began_ns) // 1000)
        return f"its first answer came {took} after the question, while its input was open"
    if data is None:
        if bench.unflushed():
            raise BotFault(Ending.TIMEOUT, _advice(bench, "its first answer"))
        bench.dumb = True
    raise Skipped("no answer came, early or late, so there is nothing to judge")


def _not_flushed(bench: Bench, what: str) -> Step:
    # On a busy machine, what comes late can look so.
    return bench.step("flush", "failed", _advice(bench, what), late=True)


def _advice(bench: Bench, what: str) -> str:
    return (
        f"{what} came only when its input had ended: the bot does not flush its output "
        f"(or it reads all of its input before it answers); {remedy(bench.bot)}"
    )


def _passed(name: str, detail: str) -> Step:
    return Step(name=name, result="passed", detail=detail)


def flush_step(bench: Bench, variant: AnyVariant) -> Step:
    """The step `flush`. The process is ended: a question is still open in it."""
    try:
        return bench.step("flush", "passed", check_flush(bench, variant))
    except Skipped as reason:
        return Step(name="flush", result="skipped", detail=str(reason))
    except BotFault as fault:
        bench.drop()
        told = fault.detail if fault.code is Ending.TIMEOUT else tell(fault)
        return bench.step("flush", "failed", told, late=fault.code in BY_TIME)
    finally:
        bench.drop()
