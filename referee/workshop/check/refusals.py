"""What a confined bot is refused, told to the author of one that failed.

A program that is refused something says so in the words that its language has for the system's
error, and nothing in them says who refused. So the words of a failed step are looked through for
those that confinement brings about, and the step then tells what a confined bot can do instead.
"""

from __future__ import annotations

import re
import shutil

from msgspec import Struct
from msgspec.structs import replace

from referee.bots.confinement import Confinement
from referee.bots.confinement.levels import Level
from referee.bots.confinement.limits import shown_limits, tighter
from referee.bots.manifest import Bot
from referee.workshop.check.report import Step

COMPARE = "to compare: --sandbox none"
AT_HOME = "try it at home: referee check --sandbox {level}"
EXPOSE = "--expose shows it more"
NO_SUCH_PROGRAM = re.compile(r"the command (\S+) was not found$")
"""What the build says of a program that its script names."""


class Refusal(Struct, frozen=True):
    """One thing that a confined bot cannot do."""

    words: str
    """A pattern of what programs say that have tried."""
    fact: str
    """What goes on with "a confined bot": the truth, with the limits by their names."""
    more: str = ""
    """Which option allows more, for whoever has options."""
    building: bool = False
    """Whether the build is refused it too, which has limits and a folder of its own."""


ONE_PROCESS = Refusal(
    r"cannot fork|fork\b.*not permitted|operation not permitted|\bEPERM\b",
    "is one process with threads, unless processes in its bot.toml asks for more",
)
"""Where no control group counts for all processes."""
PROGRAMS = Refusal(
    r"exited with status 127\b",
    "finds programs in /usr and in its own folder alone",
    EXPOSE,
    building=True,
)
REFUSALS = (
    PROGRAMS,
    Refusal(
        # Not of the command itself: that may not be run, walls or not.
        r"read-only file ?system|\bEROFS\b|^(?!.*\bexec: ).*permission denied|\bEACCES\b",
        "can write to /tmp alone, and not beside its own files",
    ),
    Refusal(
        r"no space left on device|\bENOSPC\b",
        "can keep {disk} in /tmp",
        "--limit disk allows more",
    ),
    Refusal(
        r"file too large|\bEFBIG\b|SIGXFSZ",
        "writes files of {file_size} at most",
        "--limit file_size allows more",
    ),
    Refusal(
        r"new thread|native thread|resource temporarily unavailable|\bEAGAIN\b",
        "has {processes} processes and threads at most",
        "--limit processes allows more",
    ),
    Refusal(
        r"memoryerror|out ?of ?memory|allocate memory|bad_alloc|memory allocation of|\bENOMEM\b",
        "has {memory} of memory",
        "--limit memory allows more",
    ),
    Refusal(
        r"network is unreachable|address family not supported|\bEAFNOSUPPORT\b|name resolution|"
        r"name or service not known|no such host|"
        r"could(n't| not) resolve|unknownhost|\bENETUNREACH\b|\bEAI_AGAIN\b|\bENOTFOUND\b",
        "has no network",
        building=True,
    ),
    Refusal(
        r"no such file|nosuchfile|\bENOENT\b|no module named|cannot (find|load).*module",
        "sees /usr and its own files alone",
        EXPOSE,
        building=True,
    ),
)
"""In order: the first whose words were said is told."""


def explained(step: Step, bot: Bot, confinement: Confinement, *, handed_in: bool = False) -> Step:
    """The step; where it failed and confinement may be why, its sentence says so. Whoever has
    handed the bot in elsewhere has no options there, and is offered none."""
    if step.result != "failed" or confinement.level is Level.NONE:
        return step
    refusal = _refusal(step, bot, confinement)
    if refusal is None:
        return step
    fact = refusal.fact.format_map(shown_limits(tighter(confinement.limits, bot.limits)))
    told = [step.detail, f"at level {confinement.level} a bot {fact}"]
    if handed_in:
        told.append(AT_HOME.format(level=confinement.level))
    else:
        told += [refusal.more, COMPARE] if refusal.more else [COMPARE]
    return replace(step, detail="; ".join(told))


def _refusal(step: Step, bot: Bot, confinement: Confinement) -> Refusal | None:
    missing = NO_SUCH_PROGRAM.search(step.detail)
    if missing is not None:
        return PROGRAMS if shutil.which(missing[1]) is not None else None
    said = "\n".join([step.detail, *step.stderr])
    alone = confinement.level is Level.STANDARD and bot.processes == 1
    for refusal in (ONE_PROCESS, *REFUSALS) if alone else REFUSALS:
        applies = refusal.building or step.name != "build"
        if applies and re.search(refusal.words, said, re.IGNORECASE | re.MULTILINE):
            return refusal
    return None
