"""The last steps, which are judged by all that the bot has said: ids, time, output."""

from __future__ import annotations

from referee.bots.manifest import ZMQ
from referee.clock import show_ms
from referee.rules.numbers import amount
from referee.workshop.check.bench import Bench
from referee.workshop.check.report import Figures, Step, figures, show_us

SHOWN_LATE = 3
NO_ANSWERS = "no turn was answered"


def figures_of(bench: Bench) -> Figures | None:
    """How quickly the bot answered."""
    found = bench.findings
    return figures(found.spent_ns, bench.terms.limit_ms, len(found.late))


def ids(bench: Bench) -> Step:
    """Whether every answer carried the id of its turn."""
    found = bench.findings
    if found.wrong_id_count:
        return Step(
            name="ids",
            result="failed",
            detail=f"garbled: {amount(found.wrong_id_count, 'answer')} with the wrong id; "
            "an answer carries the id of the turn that it answers",
            stdout=found.wrong_ids,
        )
    if not found.spent_ns:
        return Step(name="ids", result="not tried", detail=NO_ANSWERS)
    dropped = amount(found.dropped, "answer")
    twice = f" ({dropped} came twice or too late, and would be dropped)" if found.dropped else ""
    detail = f"every answer carried the id of its turn{twice}"
    return Step(name="ids", result="passed", detail=detail)


def time(bench: Bench) -> Step:
    """Whether every answer came within the limit, with the figures."""
    found, seen = bench.findings, figures_of(bench)
    if seen is None:
        return Step(name="time", result="not tried", detail=NO_ANSWERS)
    told = (
        f"{amount(seen.answers, 'answer')}: median {show_us(seen.median_us)}, "
        f"99 % within {show_us(seen.p99_us)}, slowest {show_us(seen.slowest_us)}; "
        f"the limit is {show_ms(seen.limit_ms)}"
    )
    if not found.late:
        return Step(name="time", result="passed", detail=told)
    slowest = sorted(found.late, key=lambda late: -late.spent_ns)[:SHOWN_LATE]
    where = "; ".join(f"{show_us(late.spent_ns // 1000)} in {late.where}" for late in slowest)
    detail = f"timeout: {amount(seen.late, 'answer')} too late ({where}); {told}"
    bench.late_steps.add("time")
    return Step(name="time", result="failed", detail=detail)


def output(bench: Bench) -> Step:
    """Whether there was nothing but messages on stdout, each on a line of its own."""
    found = bench.findings
    if not found.stray_count:
        where = "" if bench.bot.transport == ZMQ else " on stdout, each on one line"
        detail = f"nothing but messages{where}"
        return Step(name="output", result="passed", detail=detail)
    first = found.strays[0].why
    more = f"; {found.stray_count} such lines in all" if found.stray_count > 1 else ""
    return Step(
        name="output",
        result="failed",
        detail=f"garbled: {first}{more}",
        stdout=[stray.line for stray in found.strays],
    )
