"""Bots that do not leave, and bots that do not wait."""

from __future__ import annotations

from tests.hostile.cases.case import (
    BYE_MS,
    CALM_MS,
    THINK_US,
    Case,
    Expected,
    Levels,
    confined,
    everywhere,
)

STAYING = (
    Case(
        numbers=(22,),
        name="ignores signals",
        behaviour="ignores SIGTERM, bye and the end of its input",
        program="stays.c",
        words=("deaf",),
        move_ms=CALM_MS,
        leaving_ms=BYE_MS,
        levels=everywhere(Expected(outcome="is ended a second after bye, nothing is left")),
    ),
    Case(
        numbers=(23,),
        name="daemon",
        behaviour="leaves a double-forked daemon behind",
        program="stays.c",
        words=("daemon",),
        move_ms=CALM_MS,
        levels=Levels(
            full=Expected(outcome="the daemon is ended with the bot", done=("daemon",)),
            standard=Expected(outcome="cannot fork", refused=("daemon",)),
            none=Expected(outcome="the daemon is ended with the bot", done=("daemon",)),
        ),
    ),
    Case(
        numbers=(23,),
        name="daemon with leave to fork",
        behaviour="the same, and asked for four processes in its manifest",
        program="stays.c",
        words=("daemon",),
        processes=4,
        move_ms=CALM_MS,
        levels=everywhere(Expected(outcome="the daemon is ended with the bot", done=("daemon",))),
    ),
    Case(
        numbers=(24,),
        name="hops from fork to fork",
        behaviour="hops from fork to fork and burns the processor while the other one is to move",
        program="idle.c",
        words=("hops",),
        freeze=True,
        think_us=THINK_US,
        move_ms=CALM_MS,
        levels=Levels(
            full=Expected(outcome="stands still", at_most={"hops": 3}),
            standard=Expected(outcome="cannot fork", refused=("hop off", "hops")),
            none=Expected(outcome="burns it", done=("hop off",), at_least={"hops": 4}),
        ),
    ),
    Case(
        numbers=(24,),
        name="hops from fork to fork with leave",
        behaviour="the same, and asked for four processes in its manifest",
        program="idle.c",
        words=("hops",),
        processes=4,
        freeze=True,
        think_us=THINK_US,
        move_ms=CALM_MS,
        levels=Levels(
            full=Expected(outcome="stands still", at_most={"hops": 3}),
            standard=Expected(outcome="stands still", at_most={"hops": 3}),
            none=Expected(outcome="burns it", done=("hop off",), at_least={"hops": 4}),
        ),
    ),
    Case(
        numbers=(25,),
        name="spins while idle",
        behaviour="burns the processor in a thread while the other one is to move",
        program="idle.c",
        words=("spins",),
        freeze=True,
        think_us=THINK_US,
        move_ms=CALM_MS,
        levels=confined(
            Expected(outcome="stands still", at_most={"spins": THINK_US // 2}),
            none=Expected(outcome="burns it", at_least={"spins": THINK_US * 5 // 8}),
        ),
    ),
)
