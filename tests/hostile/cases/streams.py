"""Bots that misuse what they are talked to with: too much, too slow, broken, or not at all."""

from __future__ import annotations

from tests.hostile.cases.case import (
    BYE_MS,
    CALM_MS,
    GRACE_MS,
    LAST_WORDS_MS,
    MOVE_MS,
    Case,
    Expected,
    everywhere,
)

STREAMS = (
    Case(
        numbers=(7,),
        name="flood of newlines",
        behaviour="writes blank lines without end",
        program="flood.c",
        words=("newlines",),
        move_ms=CALM_MS,
        flat=True,
        levels=everywhere(
            Expected(outcome="loses by flood", endings=("flood",), detail="more than 1048576 bytes")
        ),
    ),
    Case(
        numbers=(8,),
        name="flood of one line",
        behaviour="writes one line without end",
        program="flood.c",
        words=("line",),
        move_ms=CALM_MS,
        flat=True,
        limits={"turn": "256K"},
        levels=everywhere(
            Expected(outcome="loses by flood", endings=("flood",), detail="more than 262144 bytes")
        ),
    ),
    Case(
        numbers=(9,),
        name="slow drip",
        behaviour="sends its answer byte by byte, too slowly",
        program="pipes.py",
        words=("drip",),
        lost_ms=MOVE_MS + GRACE_MS,
        levels=everywhere(
            Expected(
                outcome="loses by timeout at the deadline",
                endings=("timeout",),
                detail="something came, but not the end",
            )
        ),
    ),
    Case(
        numbers=(10, 11, 12),
        name="garbled lines",
        behaviour="sends bad UTF-8, 60,000 brackets, NaN, 1e999, a key twice, a lone surrogate, "
        "5,000 digits, true as a number",
        program="garbled.py",
        games=6,
        move_ms=CALM_MS,
        levels=everywhere(Expected(outcome="loses by garbled", endings=("garbled",))),
    ),
    Case(
        numbers=(13,),
        name="flood of the log",
        behaviour="writes to stderr without end, and no answer",
        program="flood.c",
        words=("log",),
        flat=True,
        lost_ms=MOVE_MS + GRACE_MS,
        levels=everywhere(
            Expected(
                outcome="loses by timeout; of its log, 64 KiB are kept",
                endings=("timeout",),
                detail="no answer within",
            )
        ),
    ),
    Case(
        numbers=(14,),
        name="flood of the log, and answers",
        behaviour="writes megabytes to stderr before each good move",
        program="flood.c",
        words=("log-and-answers",),
        move_ms=CALM_MS,
        flat=True,
        lost_ms=500,
        levels=everywhere(Expected(outcome="plays on; of its log, 64 KiB are kept")),
    ),
    Case(
        numbers=(15,),
        name="never reads",
        behaviour="reads nothing after the hello, with more sent to it than a pipe holds",
        program="pipes.py",
        words=("deaf",),
        games=64,
        options={"size": 100},
        at_once=64,
        lost_ms=MOVE_MS + GRACE_MS,
        leaving_ms=BYE_MS,
        levels=everywhere(
            Expected(outcome="loses by timeout", endings=("timeout",), detail="no answer within")
        ),
    ),
    Case(
        numbers=(16,),
        name="closes stdout",
        behaviour="closes its standard output and stays alive",
        program="pipes.py",
        words=("closes stdout",),
        move_ms=CALM_MS,
        lost_ms=LAST_WORDS_MS,
        levels=everywhere(
            Expected(
                outcome="loses by crash at once",
                endings=("crash",),
                detail="its standard output",
            )
        ),
    ),
    Case(
        numbers=(17,),
        name="closes stdin",
        behaviour="closes its standard input and stays alive",
        program="pipes.py",
        words=("closes stdin",),
        move_ms=CALM_MS,
        lost_ms=LAST_WORDS_MS,
        levels=everywhere(
            Expected(
                outcome="loses by crash at once",
                endings=("crash",),
                detail="its standard input",
            )
        ),
    ),
    Case(
        numbers=(18,),
        name="two halves of a line",
        behaviour="sends half a line, and the rest a moment later",
        program="pipes.py",
        words=("two halves",),
        move_ms=CALM_MS,
        lost_ms=600,
        levels=everywhere(Expected(outcome="plays on")),
    ),
    Case(
        numbers=(19,),
        name="half a line",
        behaviour="sends half a line and exits",
        program="pipes.py",
        words=("half",),
        move_ms=CALM_MS,
        lost_ms=LAST_WORDS_MS,
        levels=everywhere(
            Expected(
                outcome="loses by crash",
                endings=("crash",),
                detail="exited with status 7 in the middle",
            )
        ),
    ),
    Case(
        numbers=(20,),
        name="answers twice",
        behaviour="answers every turn twice",
        program="answers.py",
        words=("twice",),
        move_ms=CALM_MS,
        levels=everywhere(Expected(outcome="plays on; the second answer is dropped and counted")),
    ),
    Case(
        numbers=(21,),
        name="answers an old turn",
        behaviour="answers the turn before once more",
        program="answers.py",
        words=("old",),
        move_ms=CALM_MS,
        levels=everywhere(Expected(outcome="plays on; the old answer is dropped and counted")),
    ),
    Case(
        numbers=(21,),
        name="answers an old turn 300 times",
        behaviour="answers an old turn hundreds of times",
        program="answers.py",
        words=("many",),
        move_ms=CALM_MS,
        levels=everywhere(
            Expected(outcome="loses by flood", endings=("flood",), detail=" lines in a")
        ),
    ),
)
