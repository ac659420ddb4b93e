"""Bots that multiply."""

from __future__ import annotations

from tests.hostile.cases.case import CALM_MS, Case, Expected, Levels, confined

PROCESSES = (
    Case(
        numbers=(1,),
        name="fork bomb",
        behaviour="forks without end",
        program="multiply.c",
        words=("processes",),
        move_ms=CALM_MS,
        levels=Levels(
            full=Expected(outcome="as many as the limit, plays on", at_most={"fork": 16}),
            standard=Expected(outcome="the first fork is refused, plays on", refused=("fork",)),
            none=Expected(
                outcome="200, where the program itself stops; all are ended with it",
                at_least={"fork": 200},
            ),
        ),
    ),
    Case(
        numbers=(1,),
        name="fork bomb with leave to fork",
        behaviour="forks without end, and asked for eight processes in its manifest",
        program="multiply.c",
        words=("processes",),
        processes=8,
        move_ms=CALM_MS,
        levels=confined(
            Expected(
                outcome="as many as it asked for, plays on",
                at_most={"fork": 8},
                at_least={"fork": 1},
            ),
            none=Expected(
                outcome="200, where the program itself stops; all are ended with it",
                at_least={"fork": 200},
            ),
        ),
    ),
    Case(
        numbers=(2,),
        name="thread bomb",
        behaviour="starts threads without end",
        program="multiply.c",
        words=("threads",),
        move_ms=CALM_MS,
        levels=confined(
            Expected(
                outcome="as many as the limit, plays on",
                at_most={"threads": 16},
                at_least={"threads": 2},
            ),
            none=Expected(outcome="200, where the program itself stops", at_least={"threads": 200}),
        ),
    ),
)
